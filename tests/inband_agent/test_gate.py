"""The script that decides whether the agent is woken."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from inband_agent.gate import GateLimits, ask
from messaging.container import ScriptResult, Status
from tests.inband_agent._agent import START, Agent
from tests.patience import in_time, until

YES = """echo '{"wakeAgent": true, "data": {"new": 2}}'"""
NO = """echo '{"wakeAgent": false}'"""


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    agent = Agent(tmp_path)
    yield agent
    if agent.process:
        agent.process.kill()
        agent.process.wait()


def processes() -> Iterator[list[str]]:
    """State, parent and group of each process (proc(5))."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            yield file.read_text().rpartition(") ")[2].split()[:3]


def asked(script: str, **limits: float) -> ScriptResult:
    return ask(script, folder=None, zone=None, limits=GateLimits(**limits))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 3", "ended with 3"),
        (f"{YES}; exit 1", "ended with 1"),
        ("true", "printed nothing"),
        ("echo nope", "no decision"),
        ("syntax (", "ended with 2"),
        ("x\0y", ""),
    ],
)
def test_a_script_that_fails_wakes_nobody(script: str, reason: str) -> None:
    # T-76
    decision = asked(script)
    assert not decision.wake_agent
    assert reason in decision.reason


def test_the_last_line_decides() -> None:
    # T-75
    assert asked(f"echo hi; {NO}; {YES}") == ScriptResult(wake_agent=True, data={"new": 2})
    assert not asked(f"{YES}; {NO}").wake_agent


@pytest.mark.parametrize(
    "script", ["sleep 600", f"{YES}; sleep 600 & disown", f"exec >&-; {YES} 2>&1; sleep 600"]
)
def test_a_script_has_so_long_and_what_it_started_ends_with_it(script: str, tmp_path: Path) -> None:
    # T-76
    mark = tmp_path / "pid"
    decision = in_time(
        lambda limit_s: asked(f"echo $$ > {mark}\n{script}", wall_s=limit_s), lambda _: mark.exists()
    )
    assert not decision.wake_agent
    assert decision.reason.startswith("the script ran over "), decision.reason
    group = mark.read_text().split()[0]
    # A process that was killed is gone when it next gets its turn on a busy machine.
    until(lambda: not [line for line in processes() if line[2] == group and line[0] != "Z"], processes)


def test_a_script_may_print_so_much() -> None:
    # T-76
    decision = asked(f"yes | head -c 3000; {YES}", output_bytes=1000)
    assert (decision.wake_agent, "over 1,000 bytes" in decision.reason) == (False, True)


def test_a_script_gets_a_clean_environment_and_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    # T-78, T-18
    monkeypatch.setenv("API_KEY", "t0p-s3cret")
    report = (
        'printf \'{"wakeAgent": true, "data": "%s %s"}\' "$0" "$(env | cut -d= -f1 | sort | tr "\\n" " ")"'
    )
    first, second = (asked(report).data.split() for _ in range(2))
    assert set(first[1:]) <= {"HOME", "LANG", "PATH", "PWD", "SHLVL", "_"}
    assert first[0] != second[0]
    assert not Path(first[0]).exists()


def test_an_agent_that_is_not_woken_ends_well_and_loses_no_follow_up(agent: Agent) -> None:
    # T-28, T-76, T-78
    agent.tell("1796040000000-abcdef.json", "waits")
    assert agent.start(START | {"script": NO, "isScheduledTask": True}, agent.script()).ended() == 0
    (said,) = agent.outputs
    assert (said.status, said.result, said.error) == (Status.SUCCESS, None, None)
    assert [path.name for path in agent.input.iterdir()] == ["1796040000000-abcdef.json"]


def test_an_agent_that_is_woken_reads_what_was_found_and_what_waited(agent: Agent) -> None:
    # T-77, T-28
    agent.tell("1796040000000-abcdef.json", "and this")
    agent.start(START | {"script": YES, "isScheduledTask": True}, agent.script())
    (said, _) = agent.idle()
    assert said.result == (
        '[SCHEDULED TASK]\n\nScript output:\n{\n  "new": 2\n}\n\nInstructions:\nhello\nand this'
    )
