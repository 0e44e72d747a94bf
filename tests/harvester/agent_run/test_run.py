"""An agent's command line as a real child process, and everything that such a child can do to us."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from typing import Any

import pytest

from harvester.adapters import ADAPTERS, AgentEvent, FailureKind, Outcome, Status
from harvester.agent_run import Command, Limits, run
from tests.harvester.adapters._streams import CASES
from tests.patience import ends, runs

# Far above what any of these children needs; a test that waits for one of these fails by its assertion.
PATIENT = Limits(stall_s=60, wall_s=60, linger_s=60, ready_s=60, term_s=10)
DONE = '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s-1"}'


def child(script: str, prompt: bytes = b"") -> Command:
    return Command(argv=[sys.executable, "-c", script], environment=dict(os.environ), prompt=prompt)


def claude(script: str, limits: Limits = PATIENT, **more: Any) -> Outcome:
    known = f"import os, signal, sys, time\nDONE = {DONE!r}\n"
    return run(ADAPTERS["claude"], child(known + script), limits=limits, **more)


def test_a_recorded_stream_comes_to_the_same_when_a_process_writes_it() -> None:
    path = CASES / "claude_stream_json_success.jsonl"
    events: list[AgentEvent] = []
    outcome = claude(f"print(open({str(path)!r}).read(), end='')", on_event=events.append)
    assert (outcome.status, outcome.exit_code, outcome.heard.spent.cost_usd) == (Status.SUCCESS, 0, 0.0123)
    assert events[-1].kind == "turn_end"


def test_ten_mebibytes_on_stderr_that_nobody_reads_stop_nothing() -> None:
    # J-28: a full pipe would stop the child, a closed one would kill it with SIGPIPE
    outcome = claude("sys.stderr.write('x' * (10 << 20)); sys.stderr.flush(); print(DONE)")
    assert (outcome.status, outcome.exit_code, outcome.warnings) == (Status.SUCCESS, 0, ())


def test_ten_mebibytes_on_both_pipes_at_once_stop_nothing() -> None:
    # J-28
    both = "sys.stderr.write('e' * 65536); sys.stdout.write('o' * 65535 + '\\n')"
    outcome = claude(f"for _ in range(160): {both}\nprint(DONE)")
    assert (outcome.status, outcome.heard.raw_lines) == (Status.SUCCESS, 160)


def test_a_child_that_is_killed_half_way_through_a_line_has_died() -> None:
    # J-28, A-01: the torn line is kept raw
    script = "sys.stdout.write(DONE[:30]); sys.stdout.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    outcome = claude(script)
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.retryable) == (FailureKind.DIED, False)
    assert (outcome.exit_code, outcome.heard.raw_lines) == (-signal.SIGKILL, 1)


def test_a_prompt_goes_to_stdin_whole_and_is_not_in_the_argument_list() -> None:
    #
    prompt = b"check the disk\n" * 200_000
    script = "import sys; print(len(sys.stdin.buffer.read()))"
    outcome = run(ADAPTERS["plain"], child(script, prompt), limits=PATIENT)
    assert outcome.reply == f"{len(prompt)}\n"


def test_a_child_that_leaves_its_prompt_unread_is_no_fault() -> None:
    outcome = run(ADAPTERS["plain"], child("print('hi')", b"x" * (8 << 20)), limits=PATIENT)
    assert outcome.reply == "hi\n"


def test_a_program_that_is_not_there_is_an_outcome() -> None:
    outcome = run(ADAPTERS["claude"], replace(child(""), argv=["/no/such/agent"]), limits=PATIENT)
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.STARTUP
    assert "/no/such/agent" in outcome.failure.message
    assert outcome.exit_code is None


def test_an_argument_that_no_program_can_be_given_is_an_outcome() -> None:
    outcome = run(ADAPTERS["claude"], replace(child(""), argv=["true", "a\0b"]), limits=PATIENT)
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.STARTUP


def test_no_terminal_and_exit_code_0_is_an_empty_success() -> None:
    #
    assert claude("pass").status is Status.EMPTY_SUCCESS


def test_a_complete_turn_and_another_exit_code_is_a_success_with_a_warning() -> None:
    #
    outcome = claude("print(DONE); sys.exit(7)")
    assert (outcome.status, outcome.reply) == (Status.SUCCESS, "done")
    assert outcome.warnings == ("the turn was complete; then exit code 7",)


@pytest.mark.parametrize(
    ("said", "kind", "retryable"),
    [
        ("Error: 429 Too Many Requests", FailureKind.THROTTLE, True),
        ("connect ECONNREFUSED 10.0.0.1:443", FailureKind.FLAKE, True),
        ("Not logged in. Please run /login", FailureKind.AUTH, False),
        ("something else", FailureKind.UNKNOWN, False),
    ],
)
def test_without_a_verdict_stderr_says_what_kind_of_failure_it_was(
    said: str, kind: FailureKind, retryable: bool
) -> None:
    #
    outcome = claude(f"sys.exit({said!r})")
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.retryable) == (kind, retryable)
    assert outcome.failure.message == said


def test_stderr_is_no_protocol() -> None:
    # A-05: it may replay other agents' lines
    assert claude("print(DONE, file=sys.stderr)").status is Status.EMPTY_SUCCESS


def test_silence_on_stdout_ends_the_agent() -> None:
    # noise on stderr is no sign of life
    script = "while True:\n print('.', file=sys.stderr, flush=True)\n time.sleep(0.02)"
    outcome = claude(script, replace(PATIENT, stall_s=0.5))
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.retryable) == (FailureKind.STALLED, False)


def test_an_agent_that_talks_for_ever_ends_by_the_wall_clock() -> None:
    #
    outcome = claude("while True:\n print('{}', flush=True)\n time.sleep(0.01)", replace(PATIENT, wall_s=0.7))
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.TIMED_OUT


def test_a_process_that_hangs_after_its_result_is_ended_and_its_result_counts() -> None:
    #
    outcome = claude("print(DONE, flush=True); time.sleep(600)", replace(PATIENT, linger_s=0.3))
    assert (outcome.status, outcome.reply) == (Status.SUCCESS, "done")
    assert outcome.warnings == ("the turn was complete; then: still ran 0.3 s after its last turn",)


def test_an_agent_that_ignores_term_is_killed() -> None:
    script = "signal.signal(signal.SIGTERM, signal.SIG_IGN); print(DONE, flush=True); time.sleep(600)"
    outcome = claude(script, replace(PATIENT, linger_s=0.1, term_s=0.3))
    assert outcome.exit_code == -signal.SIGKILL


FORKS = "import subprocess\nother = subprocess.Popen(['sleep', '600'])\nprint(other.pid, flush=True)\n"


def test_what_an_agent_started_is_ended_with_it_when_it_is_stopped() -> None:
    seen: list[bytes] = []
    claude(
        f"{FORKS}\nprint(DONE, flush=True); time.sleep(600)",
        replace(PATIENT, linger_s=0.1),
        on_output=seen.append,
    )
    pid = int(b"".join(seen).split(b"\n")[0])
    assert ends(pid)


def test_a_process_that_the_agent_left_behind_with_its_pipes_is_not_waited_for() -> None:
    seen: list[bytes] = []
    outcome = claude(f"{FORKS}\nprint(DONE)", on_output=seen.append)
    pid = int(b"".join(seen).split(b"\n")[0])
    assert outcome.status is Status.SUCCESS
    assert runs(pid)  # an agent may start a server on purpose
    os.kill(pid, signal.SIGKILL)


def test_a_fault_in_who_is_told_ends_the_agent_too() -> None:
    pids: list[int] = []

    def told(chunk: bytes) -> None:
        pids.append(int(chunk))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        claude("print(os.getpid(), flush=True); time.sleep(600)", on_output=told)
    assert ends(pids[0])


INIT = '{"type":"system","subtype":"init","session_id":"s-2"}'


def test_another_session_than_the_one_to_go_on_with_ends_the_run_whatever_it_says() -> None:
    #
    outcome = claude(f"print({INIT!r}); print(DONE, flush=True); time.sleep(600)", resumes="s-1")
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.SESSION_LOST
    assert outcome.reply is None


def test_the_session_that_was_asked_for_goes_on() -> None:
    #
    assert claude(f"print({INIT!r}); print(DONE)", resumes="s-2").reply == "done"


READY = '{"type":"event","event":"ready","payload":{"protocolVersion":"1","capabilities":["prompt"]}}'
END = '{"type":"event","event":"agent_end","payload":{"text":"done","usage":{"input_tokens":3}}}'


def envelope(script: str, limits: Limits = PATIENT) -> Outcome:
    return run(ADAPTERS["envelope"], child(f"import time\n{script}"), limits=limits)


def test_an_agent_that_introduces_itself_may_work() -> None:
    # J-27
    outcome = envelope(f"print({READY!r}); print({END!r})")
    assert (outcome.reply, outcome.heard.spent.input_tokens) == ("done", 3)


@pytest.mark.parametrize("first", ["hello", END])
def test_an_agent_whose_first_line_is_another_is_ended_at_once(first: str) -> None:
    # J-27
    outcome = envelope(f"print({first!r}, flush=True); print({READY!r}, flush=True); time.sleep(600)")
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.ENVELOPE_REQUIRED


def test_an_agent_that_does_not_introduce_itself_in_time_is_ended() -> None:
    # J-27
    outcome = envelope("time.sleep(600)", replace(PATIENT, ready_s=0.3))
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.ENVELOPE_REQUIRED
