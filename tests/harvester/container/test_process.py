"""A container as a real process: how each kind of end is told, and its limits."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harvester.container.limits import ContainerClock, ContainerLimits, Due
from harvester.container.lock import LaneBusy, held
from harvester.container.process import Container, Program, Ran
from messaging.container import ContainerInput, ContainerOutput, Status, framed
from tests.patience import in_time

START = ContainerInput(prompt="hi", group_folder="family", chat_jid="tg:1", is_main=False)
WELL = framed(ContainerOutput(status=Status.SUCCESS, result="done"))
IDLE = ContainerOutput(status=Status.SUCCESS)
BAD = framed(ContainerOutput(status=Status.ERROR, error="model unreachable"))
QUICK = ContainerLimits(idle_s=0.2, hard_s=0.2, term_s=0.5, output_bytes=100_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Short(ContainerLimits):
    """A limit that a test can wait for; the real ones are never so near to each other."""

    short_s: float

    @property
    def silent_s(self) -> float:
        return self.short_s


def ran(program: str, limits: ContainerLimits | None = None) -> tuple[Ran, list[ContainerOutput], list[str]]:
    outputs: list[ContainerOutput] = []
    warnings: list[str] = []
    container = Container(
        program=Program(argv=[sys.executable, "-c", f"import sys, time\n{program}"]),
        limits=limits or ContainerLimits(),
        on_output=outputs.append,
        close=lambda: None,
        warn=warnings.append,
    )
    return container.run(START), outputs, warnings


def test_the_input_comes_on_stdin_and_ends(tmp_path: Path) -> None:
    # T-15
    done, _, _ = ran(f"open({str(tmp_path / 'got')!r}, 'w').write(sys.stdin.read()); print({WELL!r})")
    assert done == Ran(error=None, frames=1, reported=False, exit_code=0)
    assert ContainerInput.from_text((tmp_path / "got").read_text()) == START


def test_noise_and_a_bad_frame_disturb_nothing() -> None:
    # T-02, T-05
    bad = "---TALON_OUTPUT_START---\nnope\n---TALON_OUTPUT_END---\n"
    done, outputs, warnings = ran(f"sys.stderr.write('log' * 50000); print('noise'); print({bad + WELL!r})")
    assert (done.error, [one.result for one in outputs], len(warnings)) == (None, ["done"], 1)


@pytest.mark.parametrize(
    ("program", "error"),
    [
        (
            "sys.stderr.write('x' * 500 + 'the reason'); sys.exit(3)",
            "it ended with 3: " + "x" * 190 + "the reason",
        ),
        (f"print({WELL!r}, flush=True); sys.exit(3)", "it ended with 3: "),
        ("pass", "it ended without a frame"),
        (f"print({BAD!r})", "model unreachable"),
        (f"print({BAD!r}); print({WELL!r})", None),
        ("print('x' * 200_000); time.sleep(600)", "it printed over 100,000 bytes without a frame"),
    ],
)
def test_each_end_is_told(program: str, error: str | None) -> None:
    # T-11, T-84
    done, _, _ = ran(program, replace(QUICK, idle_s=60))
    assert done.error == error


def test_a_program_that_is_not_there_is_an_error() -> None:
    # T-11
    container = Container(program=Program(argv=["/nowhere"]), on_output=lambda _: None, close=lambda: None)
    assert "/nowhere cannot be started" in (container.run(START).error or "")


@pytest.mark.parametrize(("says", "error"), [("", "no frame within 0.5 s"), (WELL, None)])
def test_the_hard_limit_is_a_success_when_something_was_said(says: str, error: str | None) -> None:
    # T-84
    program = f"print({says!r}, flush=True)\nwhile True: sys.stderr.write('.'); time.sleep(0.1)"
    done, _, _ = in_time(
        lambda limit_s: ran(program, Short(term_s=0.5, short_s=limit_s)), lambda one: one[0].error == error
    )
    assert done.error == error


def clock(*, is_task: bool = False) -> ContainerClock:
    return ContainerClock(ContainerLimits(), 0.0, is_task=is_task)


def test_an_idle_container_is_asked_to_close_after_half_an_hour_and_ended_when_it_does_not() -> None:
    # T-84, T-29
    watch = clock()
    watch.framed(ContainerOutput(status=Status.SUCCESS, result="one"), 10.0)
    assert watch.due(1799.0) is Due.NOTHING  # it has not said that it is idle
    watch.framed(IDLE, 20.0)
    assert watch.due(1819.0) is Due.NOTHING
    assert watch.due(1820.0) is Due.CLOSE
    assert watch.due(1821.0) is Due.NOTHING
    assert watch.due(1849.9) is Due.NOTHING
    assert watch.due(1850.0) is Due.END


def test_a_frame_sets_the_limits_back_and_a_bad_one_does_not() -> None:
    # T-84
    watch = clock()
    watch.framed(None, 1000.0)
    assert watch.due(1830.0) is Due.END
    watch.framed(ContainerOutput(status=Status.SUCCESS, result="one"), 1829.0)
    assert watch.due(1830.0) is Due.NOTHING


def test_a_task_is_asked_to_close_ten_seconds_after_its_result() -> None:
    # T-84
    watch = clock(is_task=True)
    watch.framed(ContainerOutput(status=Status.SUCCESS, result="one"), 100.0)
    assert [watch.due(at) for at in (109.0, 110.0)] == [Due.NOTHING, Due.CLOSE]


def test_the_hard_limit_is_never_below_the_idle_one_and_a_bit() -> None:
    # T-84
    assert ContainerLimits(idle_s=100.0, hard_s=10.0).silent_s == 130.0


def test_a_lane_has_one_agent_even_when_its_host_is_gone(tmp_path: Path) -> None:
    # T-86
    lock = tmp_path / "locks" / "family.lock"
    with held(lock, "family") as descriptor:
        with pytest.raises(LaneBusy), held(lock, "family"):
            pass
        program = Program(argv=["sleep", "600"], keep=(descriptor,))
        from harvester.agent_run.child import Child, Command

        command = Command(argv=program.argv, environment={}, keep=tuple(program.keep))
        child = Child(command, lambda _: None, term_s=1.0)
    with pytest.raises(LaneBusy), held(lock, "family"):  # the agent that we left behind
        pass
    with child:
        pass
    with held(lock, "family"):
        pass
