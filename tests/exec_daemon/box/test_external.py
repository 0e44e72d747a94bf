"""Another box-ctl program in place of ours."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from exec_daemon.box import BoxContext, BoxError, read
from exec_daemon.box.ports import OtherBoxCtl
from exec_daemon.programs import Program as Asked
from exec_daemon.programs import Programs, Ran
from exec_daemon.programs.sandbox import Sandbox
from messaging import CallError, ErrorCode

PROGRAM = '#!/bin/sh\necho "$#:$*" >> {log}\ncat {answer}\nexit {code}\n'


class Program:
    """A box-ctl program that prints what the test wants and notes how it was called."""

    def __init__(self, folder: Path) -> None:
        self.path, self._log, self._answer = folder / "other-ctl", folder / "calls", folder / "answer"

    def prints(self, answer: object, code: int = 0) -> None:
        self._answer.write_text(answer if isinstance(answer, str) else json.dumps(answer))
        self.path.write_text(PROGRAM.format(log=self._log, answer=self._answer, code=code))
        self.path.chmod(0o755)

    def calls(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """The daemon's, as far as reads go: they run in threads beside it."""
    running = asyncio.new_event_loop()
    thread = threading.Thread(target=running.run_forever)
    thread.start()
    yield running
    running.call_soon_threadsafe(running.stop)
    thread.join()
    running.close()


@pytest.fixture
def context(
    context: BoxContext, program: Program, loop: asyncio.AbstractEventLoop, tmp_path: Path
) -> Iterator[BoxContext]:
    programs = Programs()
    # The program notes its calls, which one that only reads could not.
    profile = replace(Sandbox().reading(tmp_path / "home"), writable=(str(tmp_path / "calls"),))

    def run(argv: tuple[str, ...], limit_s: float) -> Ran:
        (tmp_path / "calls").touch()
        asked = Asked(argv=argv, profile=profile, time_limit_s=limit_s)
        return asyncio.run_coroutine_threadsafe(programs.run(asked), loop).result()

    yield replace(context, program=OtherBoxCtl(program.path, run))
    asyncio.run_coroutine_threadsafe(programs.close(), loop).result()


def failure(action: str, arg: str | None, context: BoxContext) -> CallError:
    with pytest.raises(BoxError) as caught:
        read(action, arg, context)
    return caught.value.error


def test_it_answers_the_reads_of_the_machine(program: Program, context: BoxContext) -> None:
    program.prints(
        {"data": {"x": "\x1b[1mtoken=CANARYCANARY"}, "notes": ["n"], "truncated": True, "host": "z"}
    )
    document = read("logs", "nginx", context)
    assert program.calls() == ["3:logs nginx --json"]
    assert document["data"] == {"available": True, "x": "token=[REDACTED]"}
    assert (document["notes"], document["truncated"]) == (["n"], True)


def test_it_is_never_asked_for_the_store(program: Program, context: BoxContext) -> None:  # O-46
    program.prints({"data": {"stolen": True}})
    for action in ("jobs", "threads", "agents", "errors", "health"):
        assert "stolen" not in read(action, None, context)["data"]
    assert program.calls() == []


def test_arguments_are_checked_before_it_runs(program: Program, context: BoxContext) -> None:  # O-43
    program.prints({"data": {}})
    for action, arg in (("logs", "--output=/tmp/pwn"), ("disk", "x"), ("repo", "../x")):
        assert failure(action, arg, context).code is ErrorCode.INVALID_ARGS
    assert failure("--help", None, context).code is ErrorCode.UNKNOWN_ACTION
    assert program.calls() == []


def test_its_typed_error_is_passed_on(program: Program, context: BoxContext) -> None:
    program.prints({"error": {"code": "NOT_FOUND", "message": "no such unit"}}, code=1)
    assert failure("logs", "x", context).code is ErrorCode.NOT_FOUND


@pytest.mark.parametrize(
    "answer",
    [
        *("", "not json", "[1]", "{}", "\0" * 10, '{"data": {}} trailing'),
        *('{"data": []}', '{"data": {}, "notes": 1}', '{"data": NaN}'),
        '{"data": {"x": "' + "x" * 300_000 + '"}}',
    ],
)
def test_what_is_no_reading_is_a_typed_error(answer: str, program: Program, context: BoxContext) -> None:
    program.prints(answer)
    assert failure("disk", None, context).code is ErrorCode.UNAVAILABLE


def test_a_program_that_cannot_run_is_a_typed_error(program: Program, context: BoxContext) -> None:
    assert failure("disk", None, context).code is ErrorCode.UNAVAILABLE  # missing
    program.path.write_bytes(b"\x7fELF nonsense")
    program.path.chmod(0o755)
    assert failure("disk", None, context).code is ErrorCode.UNAVAILABLE  # not a program
    program.path.chmod(0o777)
    said = failure("disk", None, context)
    assert said.code is ErrorCode.UNAVAILABLE  # anybody could have changed it
    assert str(program.path.parent) not in said.message  # D136


def test_a_program_that_takes_too_long_is_a_typed_error(program: Program, context: BoxContext) -> None:
    program.path.write_text("#!/bin/sh\nexec sleep 600\n")
    program.path.chmod(0o755)
    error = failure("disk", None, replace(context, limit_s=0.2))
    assert error.code is ErrorCode.TIMEOUT
    assert error.retryable


def test_it_only_reads(program: Program, context: BoxContext, tmp_path: Path) -> None:  # O-44
    """What a sandbox has to give; where the kernel has none, the program is trusted."""
    from exec_daemon.programs.nursery import kernel

    program.path.write_text(f"#!/bin/sh\necho x > {tmp_path}/written\necho '{{\"data\": {{}}}}'\n")
    program.path.chmod(0o755)
    read("disk", None, context)
    assert (tmp_path / "written").exists() is not bool(kernel.landlock_version())
