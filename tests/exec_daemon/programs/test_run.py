"""What a program gets, and what comes back of it."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from exec_daemon.programs import Overloaded, Program, Programs, Unconfined, Unusable
from exec_daemon.programs.program import ENVIRONMENT, Capped
from tests.exec_daemon.programs.conftest import BARE
from tests.patience import PATIENCE_S, in_time_async

HALF = 32 * 1024


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def processes() -> int:
    """How many are below us."""
    return len(psutil.Process().children(recursive=True))


async def test_arguments_arrive_as_they_are_whatever_is_in_them(run) -> None:  # D003 D084
    words = ("x;touch /tmp/pwn", "$(id)", "`id`", "a b", "*", "|", ">x", "'", '"', "\\", "-n", "ü🐢", "")
    ran = await run(("printf", "%s\\n", *words))
    assert ran.stdout.text == "".join(f"{word}\n" for word in words)
    assert "pwn" not in os.listdir("/tmp")  # noqa: PTH208 - its names


async def test_the_environment_is_a_list_and_nothing_of_the_daemons(run, monkeypatch) -> None:  # D013 D015
    monkeypatch.setenv("BOX_TOKEN", "CANARYCANARY")
    monkeypatch.setenv("PYTHONPATH", "/tmp/evil")
    ran = await run(("env",))
    assert dict(line.split("=", 1) for line in ran.stdout.text.splitlines()) == dict(ENVIRONMENT)


async def test_no_process_of_ours_has_a_secret_in_its_environment(run, monkeypatch) -> None:  # D015
    monkeypatch.setenv("BOX_TOKEN", "CANARYCANARY")
    ran = await run("cat /proc/$PPID/environ; p=$(cut -d' ' -f4 /proc/$PPID/stat); cat /proc/$p/environ")
    assert b"CANARY" not in ran.stdout.head


async def test_it_has_its_three_streams_and_no_other_descriptor(run, tmp_path) -> None:  # D039
    with (tmp_path / "left-open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        ran = await run(("ls", "-l", "/proc/self/fd"))
    names = [line.split()[8] for line in ran.stdout.text.splitlines()[1:]]
    assert names == ["0", "1", "2", "3"]  # 3 is the folder that `ls` reads
    assert "/dev/null" in ran.stdout.text


@pytest.mark.parametrize("avoid", [(), ("cgroup",)])
async def test_what_it_gets_beside_its_streams_is_its_third_descriptor_and_never_its_own_file(
    avoid: tuple[str, ...],
) -> None:
    """Which numbers are free where it is started depends on what else is open there."""
    programs = Programs(avoid=avoid)
    try:
        for _ in range(2):
            ran = await programs.run(Program(argv=("cat", "/proc/self/fd/3"), profile=BARE, third=b"given"))
            assert ran.stdout.text == "given"
    finally:
        await programs.close()


async def test_signals_are_as_the_system_has_them(run) -> None:  # D038
    ran = await run("grep -E '^Sig(Ign|Blk)' /proc/self/status")
    masks = [int(line.split()[1], 16) for line in ran.stdout.text.splitlines()]
    assert len(masks) == 2
    assert [mask & (1 << 31) - 1 for mask in masks] == [0, 0]  # 32 and 33 belong to the C library


async def test_it_has_a_session_of_its_own_and_no_terminal(run) -> None:  # D042
    ran = await run((sys.executable, "-S", "-c", "import os; print(os.getpid() == os.getsid(0))"))
    assert ran.stdout.text == "True\n"
    assert (await run("exec < /dev/tty")).exit not in (None, 0)


async def test_folder_and_umask_do_not_depend_on_where_the_daemon_was_started(run, tmp_path) -> None:
    assert (await run("pwd; umask")).stdout.text == "/\n0077\n"
    assert (await run(("pwd",), folder=str(tmp_path))).stdout.text == f"{tmp_path}\n"


async def test_standard_input_is_empty_or_what_is_given(run) -> None:
    assert (await run(("cat",))).stdout.head == b""
    content = b"\0\xff" * 40_000
    assert (await run(("cat",), stdin=content)).stdout.whole == content
    assert (await run(("true",), stdin=content)).exit == 0  # one that does not read makes nobody wait


async def test_how_it_ended_is_told(run) -> None:
    assert (await run("exit 3")).exit == 3
    killed = await run("kill -SEGV $$")
    assert (killed.exit, killed.signal) == (None, signal.SIGSEGV)
    assert (await run(("true",))).ok


async def test_short_output_is_there_as_it_was_printed(run) -> None:
    ran = await run("printf 'a\\0b\\377'; printf 'oh' >&2")
    assert (ran.stdout, ran.stderr) == (Capped(b"a\0b\xff"), Capped(b"oh"))
    assert ran.stdout.text == "a\0b\N{REPLACEMENT CHARACTER}"


async def test_long_output_is_cut_in_the_middle_and_the_whole_is_kept(run) -> None:  # O-32
    ran = await run(("seq", "100000"))
    out = ran.stdout
    assert len(out.head) == len(out.tail) == HALF
    assert out.omitted_bytes == 588_895 - 2 * HALF
    assert out.whole is not None
    assert out.whole == out.head + out.whole[HALF:-HALF] + out.tail
    assert out.text.endswith("\n99999\n100000\n")


async def test_a_program_that_never_stops_printing_costs_no_more(run) -> None:  # D032
    ran = await in_time_async(
        lambda limit_s: run("exec yes", time_limit_s=limit_s, most_whole_bytes=1_000_000),
        lambda one: one.stdout.printed_bytes > 2_000_000,
    )
    assert ran.timed_out
    assert ran.stdout.whole is not None
    assert len(ran.stdout.whole) == 1_000_000
    assert ran.stdout.printed_bytes > 2_000_000


@pytest.mark.parametrize("before", range(4))
async def test_a_character_is_never_cut_in_two(before: int, run) -> None:  # D034
    ran = await run(("/bin/sh", "-c", f"printf '%{before}s' ''; yes € | tr -d '\\n' | head -c 90000"))
    assert ran.stdout.omitted_bytes
    assert "\N{REPLACEMENT CHARACTER}" not in ran.stdout.text.rstrip("\N{REPLACEMENT CHARACTER}")


def test_cut_characters_of_all_lengths() -> None:  # D034
    for char in "aé€🐢":
        content = char.encode() * 3
        for end in range(1, len(content)):
            text = Capped(content[:end], b"", 1).text
            assert "\N{REPLACEMENT CHARACTER}" not in text
            assert text.startswith(char * (end // len(char.encode())))


async def test_a_background_process_that_holds_the_pipe_does_not_hold_the_answer(run) -> None:  # D027
    began_s = time.monotonic()
    ran = await run("(sleep 600)& echo hi")
    assert ran.stdout.text == "hi\n"
    assert ran.left_over
    assert time.monotonic() - began_s < PATIENCE_S


async def test_a_program_that_takes_too_long_is_stopped_and_what_it_printed_is_there(run) -> None:
    ran = await in_time_async(
        lambda limit_s: run("echo begun; sleep 600", time_limit_s=limit_s), lambda one: one.stdout.text
    )
    assert (ran.timed_out, ran.exit, ran.stdout.text) == (True, None, "begun\n")
    assert ran.duration_ms < PATIENCE_S * 1000


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        (("no-such-program-here",), "is missing"),
        (("/no/such/file",), "is missing"),
        (("/etc/passwd",), "is not executable"),
        (("/usr",), "is not executable"),
        (("bin/sh",), "is a relative path; write an absolute one"),
        (("true", "x" * 140_000), "cannot take so much"),
        (("true", *["x" * 1000] * 300), "cannot take so much"),
    ],
)
async def test_what_cannot_run_is_said(argv: tuple[str, ...], problem: str, run) -> None:  # D023 D136
    with pytest.raises(Unusable) as caught:
        await run(argv)
    assert caught.value.problem == problem


async def test_a_missing_folder_and_a_broken_program_are_said(run, tmp_path) -> None:
    with pytest.raises(Unusable):
        await run(("true",), folder=str(tmp_path / "missing"))
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF nonsense")
    broken.chmod(0o755)
    with pytest.raises(Unusable) as caught:
        await run((str(broken),))
    assert caught.value.problem == "is no program for this machine"
    assert (await run(("true",))).ok


async def test_no_more_run_at_a_time_than_there_are_places() -> None:  # D026
    programs = Programs(places=2)
    try:
        began_s = time.monotonic()
        await asyncio.gather(*(programs.run(Program(argv=("sleep", "0.2"))) for _ in range(6)))
        assert time.monotonic() - began_s >= 0.6
    finally:
        await programs.close()


async def test_without_room_for_a_descriptor_it_is_told_and_nothing_leaks(run) -> None:  # D134
    await run(("true",))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = open_descriptors()
    resource.setrlimit(resource.RLIMIT_NOFILE, (before + 8, hard))
    held: list[int] = []
    try:
        with pytest.raises(OSError, match="Too many"):  # noqa: PT012 - until there is none left
            while True:
                held.append(os.dup(0))
        with pytest.raises(Overloaded):
            await run(("true",))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in held:
            os.close(descriptor)
    assert (await run(("true",))).ok
    assert open_descriptors() == before


async def test_many_runs_leave_no_descriptor_and_no_process(programs: Programs, run) -> None:  # D026
    await run(("true",))
    before = open_descriptors(), processes()
    for number in range(100):
        hangs = number % 20 == 7
        await run(("sleep", "600") if hangs else ("true",), time_limit_s=0.05 if hangs else PATIENCE_S)
    assert (open_descriptors(), processes()) == before


@pytest.mark.parametrize("most", [100, 40_000, 100_000])
async def test_a_limit_on_files_is_none_on_what_it_prints(most: int, run) -> None:  # D032
    ran = await run("seq 1 30000; exit 3", profile=replace(BARE, file_bytes=most))
    assert ran.exit == 3
    assert ran.stdout.printed_bytes == len("".join(f"{number}\n" for number in range(1, 30_001)))
    assert ran.stdout.tail.endswith(b"\n30000\n")
    assert len(ran.stdout.whole or b"") == most


@pytest.mark.parametrize("most", range(8, 16))
async def test_what_has_begun_is_never_told_as_if_it_had_not(most: int, run, tmp_path) -> None:  # D134
    try:
        await run(f"echo x > {tmp_path}/begun", profile=replace(BARE, open_files=most))
    except (Overloaded, Unusable, Unconfined):
        assert not (tmp_path / "begun").exists()
