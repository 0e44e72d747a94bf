"""What makes a request happen once, and the states of a task."""

from __future__ import annotations

import pytest

from messaging.rpc import (
    MODES,
    Earlier,
    Replay,
    Request,
    RpcCode,
    RpcError,
    Step,
    TaskState,
    failure,
    is_open,
    is_task_id,
    judge,
    keeps,
    moved,
    request_digest,
    rpc_error,
    success,
)

ASKED = Request("r1", "prompt", {"message": "go", "n": {"a": 1, "b": 2}})
SAME = Request("r1", "prompt", {"n": {"b": 2, "a": 1}, "message": "go"})
OTHER = [Request("r1", "prompt", {"message": "stop"}), Request("r1", "stop_task", ASKED.payload)]


def test_the_same_request_again_gets_the_answer_of_the_first() -> None:  # J-07, J-09
    answer = success("r1", {"accepted": True})
    assert judge(Earlier(request_digest(ASKED), answer), SAME) == Replay(answer)


def test_the_same_request_beside_a_running_one_waits_for_its_answer() -> None:  # J-10
    assert judge(Earlier(request_digest(ASKED)), SAME) == Replay(None)


@pytest.mark.parametrize("other", OTHER, ids=["payload", "type"])
def test_the_id_of_another_request_is_refused_for_good(other: Request) -> None:  # J-08
    refused = judge(Earlier(request_digest(ASKED), {}), other)
    assert isinstance(refused, RpcError)
    assert refused.to_json() == {
        "code": "INVALID_REQUEST",
        "message": refused.message,
        "retryable": False,
        "details": {"reason": "duplicate_id"},
    }


def test_a_new_id_is_run() -> None:
    assert judge(None, ASKED) is None


def test_what_may_be_tried_again_is_not_kept() -> None:  # J-11
    assert keeps(success("r1", {}))
    assert keeps(failure("r1", rpc_error(RpcCode.TASK_NOT_FOUND, "")))
    assert not keeps(failure("r1", rpc_error(RpcCode.TASK_NOT_READY, "")))


LIFE = [
    (Step.OPEN, TaskState.READY),
    (Step.PROMPT, TaskState.ACTIVE),
    (Step.END, TaskState.IDLE),
    (Step.PROMPT, TaskState.ACTIVE),
    (Step.DIE, TaskState.ERRORED),
    (Step.OPEN, TaskState.READY),
    (Step.STOP, TaskState.STOPPED),
    (Step.STOP, TaskState.STOPPED),
    (Step.OPEN, TaskState.READY),
]


def test_a_task_goes_from_state_to_state() -> None:  # J-24
    state = TaskState.MISSING
    for step, after in LIFE:
        now = moved(state, step)
        assert now is after, (state, step)
        state = now


def test_what_a_state_does_not_allow_leads_nowhere() -> None:  # J-24
    assert moved(TaskState.ACTIVE, Step.PROMPT) is None
    assert moved(TaskState.READY, Step.OPEN) is None
    assert moved(TaskState.MISSING, Step.STOP) is None
    assert moved(TaskState.STOPPED, Step.DIE) is None


def test_a_task_is_open_or_can_be_opened() -> None:
    for state in TaskState:
        assert is_open(state) is not (state in MODES)
        assert (moved(state, Step.OPEN) is not None) is (state in MODES)


@pytest.mark.parametrize("text", ["", "a/b", "a\\b", "..", "a..b", ".a", "-a", "a" * 129, "a b", "é", "a\n"])
def test_a_task_id_is_no_path(text: str) -> None:  # J-24
    assert not is_task_id(text)


@pytest.mark.parametrize("text", ["a", "task-1", "v1.2", "A_b:c"])
def test_a_task_id_is_a_plain_name(text: str) -> None:  # J-24
    assert is_task_id(text)
