"""Programs run by argument list, in a bare environment, within bounds (O-32)."""

from __future__ import annotations

from pathlib import Path

import pytest

from exec_daemon.box.programs import ENVIRONMENT, MOST_OUTPUT_BYTES, Deadline, Ending, Output, run
from tests.patience import ends, in_time


def script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "script"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def done(output: Output | None) -> Output:
    assert output is not None
    return output


def test_arguments_reach_the_program_as_they_are(tmp_path: Path) -> None:  # D003
    hostile = f"$(touch {tmp_path}/pwned); `id` | > *"
    assert done(run(("printf", "%s", hostile), Deadline(4.5))).text == hostile
    assert not (tmp_path / "pwned").exists()


def test_the_environment_is_a_literal(monkeypatch: pytest.MonkeyPatch) -> None:  # O-32, D013
    monkeypatch.setenv("CANARY_TOKEN", "x")
    monkeypatch.setenv("GIT_DIR", "/x")
    names = {line.partition("=")[0] for line in done(run(("env",), Deadline(4.5))).text.splitlines()}
    assert names == set(ENVIRONMENT)


def test_it_stands_in_the_root_and_its_input_is_empty() -> None:
    assert done(run(("pwd",), Deadline(4.5))).text == "/\n"
    assert done(run(("cat",), Deadline(4.5))).text == ""


def test_a_missing_program_is_none() -> None:
    assert run(("no-such-program-anywhere",), Deadline(4.5)) is None


def test_a_failure_has_its_code(tmp_path: Path) -> None:
    output = done(run((script(tmp_path, "echo out; exit 3"),), Deadline(4.5)))
    assert (output.text, output.code, output.ending, output.ok) == ("out\n", 3, Ending.EXITED, False)


@pytest.mark.parametrize("waiting", ["sleep 600", "exec >&-; sleep 600"])
def test_time_up_kills_the_whole_group(tmp_path: Path, waiting: str) -> None:  # O-32
    pids = tmp_path / "pids"
    path = script(tmp_path, f"sleep 600 & echo $! > {pids}; echo $$ >> {pids}; {waiting}")
    output = in_time(
        lambda limit_s: done(run((path,), Deadline(limit_s))),
        lambda _: pids.exists() and len(pids.read_text().split()) == 2,
    )
    assert (output.ending, output.ok) == (Ending.TIMED_OUT, False)
    assert all(ends(int(pid)) for pid in pids.read_text().split())


def test_endless_output_is_cut_at_a_line_and_its_writer_killed() -> None:  # O-32
    output = done(run(("yes", "x" * 99), Deadline(4.5)))
    assert output.ending is Ending.CUT
    assert output.ok
    assert MOST_OUTPUT_BYTES - 100 <= len(output.text) <= MOST_OUTPUT_BYTES
    assert output.text.endswith("\n")


def test_a_deadline_is_shared_by_the_programs_of_a_read() -> None:
    deadline, first = in_time(
        lambda limit_s: (one := Deadline(limit_s), done(run(("sleep", "0.2"), one))), lambda both: both[1].ok
    )
    assert first.ok
    assert done(run(("sleep", "600"), deadline)).ending is Ending.TIMED_OUT
    assert deadline.left_s == 0


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_no_descriptor_is_left_open() -> None:
    run(("true",), Deadline(4.5))
    before = open_descriptors()
    for words in (("true",), ("yes",), ("false",)):
        run(words, Deadline(4.5))
    assert open_descriptors() == before


def test_output_is_cut_between_entries_that_end_in_nul_too() -> None:
    text = done(run(("sh", "-c", "yes 'ä' | tr '\\n' '\\0'"), Deadline(4.5))).text
    assert text.endswith("ä\0")
    assert "\ufffd" not in text
