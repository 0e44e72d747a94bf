"""Which file is run: one that others cannot have put there, and the one that was looked at."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from exec_daemon.programs import Unusable
from exec_daemon.programs.find import found

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def script(path: Path, text: str = "echo fine") -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def problem(path: Path | str) -> str:
    with pytest.raises(Unusable) as caught, found(str(path)):
        pass
    assert str(path) not in caught.value.problem  # D136
    return caught.value.problem


@pytest.mark.parametrize("mode", [0o777, 0o757, 0o722])
def test_a_file_that_others_may_write_is_no_program(mode: int, tmp_path: Path) -> None:
    program = script(tmp_path / "program")
    program.chmod(mode)
    if mode == 0o722:
        os.chown(program, -1, 12_345 if os.geteuid() == 0 else os.getegid())
        assert os.geteuid() != 0 or "others" in problem(program)
    else:
        assert problem(program).startswith("may be changed by others: chown it")


@as_root
def test_a_file_of_another_user_is_no_program(tmp_path: Path) -> None:
    program = script(tmp_path / "program")
    os.chown(program, 12_345, 0)
    assert "others" in problem(program)


@pytest.mark.parametrize("mode", [0o644, 0o600])
def test_what_cannot_be_executed_is_no_program(mode: int, tmp_path: Path) -> None:
    program = script(tmp_path / "program")
    program.chmod(mode)
    assert problem(program) == "is not executable"


def test_a_script_in_a_folder_that_others_may_change_is_no_program(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    program = script(folder / "program")
    folder.chmod(0o777)
    assert problem(program) == "is a script in a folder that others may change"
    folder.chmod(0o755)
    with found(str(program)) as file:
        assert file.script == str(program)


def test_a_link_is_followed_to_what_it_names(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/bin/true")
    with found(str(link)) as file:
        assert os.path.samestat(os.fstat(file.descriptor), os.stat("/bin/true"))  # noqa: PTH116
        assert file.script is None


def test_a_pipe_is_no_program_and_makes_nobody_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "pipe").chmod(0o755)
    assert problem(tmp_path / "pipe") == "is not executable"


async def test_what_was_looked_at_is_what_runs_though_the_path_means_another_by_then(
    run, tmp_path, programs
) -> None:
    program, other = tmp_path / "program", script(tmp_path / "other", "echo pwned")
    shutil.copy("/bin/echo", program)
    with found(str(program)) as file:
        other.replace(program)
        assert os.readlink(f"/proc/self/fd/{file.descriptor}") != str(program)  # noqa: PTH115
        descriptor = os.dup(file.descriptor)
    try:
        ran = await run((f"/proc/{os.getpid()}/fd/{descriptor}", "the", "first"))
        assert ran.stdout.text == "the first\n"
    finally:
        os.close(descriptor)


async def test_a_script_runs_under_its_path(run, tmp_path: Path) -> None:
    ran = await run((str(script(tmp_path / "program", 'echo "$0" "$@"')), "a", "b"))
    assert ran.stdout.text == f"{tmp_path}/program a b\n"


async def test_a_program_that_may_be_run_and_not_read_runs(run, tmp_path: Path) -> None:
    program = tmp_path / "program"
    shutil.copy("/bin/echo", program)
    program.chmod(0o111)
    assert (await run((str(program), "hi"))).stdout.text == "hi\n"
