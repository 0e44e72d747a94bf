"""Chains: who has read what others wrote may be kept from sending it on, in that thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from exec_daemon.access.chain import ChainPolicy, Then, barred, concerns, mark_of
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.policy import Policy
from exec_daemon.calls.chain import Chain
from exec_daemon.calls.grant_check import check_grants, ways_around
from exec_daemon.calls.registry import registry
from exec_daemon.errors import RuleUnusable
from exec_daemon.ops import ALLOWLIST
from exec_daemon.store import NewThread, Store, StoreFull
from messaging import AuthorKind, Call, CallRequest, ErrorCode, MessageKind, NewMessage, Result
from tests.exec_daemon.approving import ANN, HARVESTER, HERON, delivered, parts, peopled

LEAK = ChainPolicy(after=("dm.read", "box.exec:logs"), bar=("dm.send",))
HERON_ITSELF = Identity(Role.AGENT, "heron")

MARKS = [
    ("dm.read", {}, "dm.read"),
    ("box.exec", {"action": "logs"}, "box.exec:logs"),
    ("box.exec", {"action": "disk"}, None),
    ("dm.send", {}, None),
]


@pytest.mark.parametrize(("op", "args", "mark"), MARKS)
def test_a_read_that_the_policy_names_leaves_a_mark(op: str, args: dict[str, Any], mark: str | None) -> None:
    assert mark_of(LEAK, HERON_ITSELF, op, args) == mark
    assert mark_of(LEAK, Identity(Role.OPERATOR, "ann"), op, args) is None
    assert mark_of(ChainPolicy(after=LEAK.after), HERON_ITSELF, op, args) is None


def test_the_name_of_an_op_names_all_of_its_reads() -> None:
    policy = ChainPolicy(after=("box.exec",), bar=("dm.*",))
    mark = mark_of(policy, HERON_ITSELF, "box.exec", {"action": "disk"})
    assert mark == "box.exec:disk"
    assert barred(policy, [mark]) is not None


def test_marks_that_the_policy_no_longer_names_forbid_nothing() -> None:
    assert barred(LEAK, ["box.exec:tmux"]) is None
    assert concerns(LEAK, HERON_ITSELF, "dm.send")
    assert not concerns(LEAK, HERON_ITSELF, "tools.list")
    assert not concerns(ChainPolicy(), HERON_ITSELF, "dm.send")


def test_a_policy_that_names_no_op_is_told_at_start() -> None:  # D007
    with pytest.raises(RuleUnusable, match=r"\[chain\].*dm\.sent"):
        check_grants(Policy(chain=ChainPolicy(after=("dm.read",), bar=("dm.sent",))), registry(ALLOWLIST))


async def reply(store: Store, thread: str) -> CallRequest:
    """A reply of heron in this thread, as the place where its calls are found."""
    said = NewMessage(
        thread=thread, author="heron", author_kind=AuthorKind.AGENT, kind=MessageKind.TEXT, body="…"
    )
    found = (await store.append(said)).message
    return CallRequest(call=Call("dm.read"), thread=thread, reply=found.id, on_behalf_of="heron")


def asking(place: CallRequest, op: str, **args: Any) -> CallRequest:
    return CallRequest(
        call=Call(op, args), thread=place.thread, reply=place.reply, on_behalf_of=place.on_behalf_of
    )


async def code(made: Any, request: CallRequest, asker: Any = HARVESTER) -> ErrorCode | None:
    said = await made.executor.call(asker, request)
    assert isinstance(said, Result)
    return None if said.error is None else said.error.code


async def test_what_was_read_bars_what_could_send_it_on_in_that_thread_only() -> None:
    store, _ = await peopled()
    await store.create_thread(NewThread(id="other", title="Other", agent="heron"))
    made = parts(store, approval=(), chain=LEAK)
    here, other = await reply(store, "ops"), await reply(store, "other")
    dm = {"to": "wren", "text": "secret"}
    assert await code(made, asking(here, "dm.send", **dm)) is None
    assert await code(made, asking(here, "dm.read")) is None
    assert await code(made, asking(here, "dm.send", **dm)) is ErrorCode.FORBIDDEN
    assert await code(made, asking(other, "dm.send", **dm)) is None
    assert (
        await code(parts(store, approval=(), chain=LEAK), asking(here, "dm.send", **dm))
        is ErrorCode.FORBIDDEN
    )
    assert await code(parts(store, approval=()), asking(here, "dm.send", **dm)) is None
    assert await delivered(store) == ["secret"] * 3


async def test_calls_that_name_their_thread_themselves_are_all_one_place() -> None:
    """A thread that the asker may choose would be a way around."""
    store, _ = await peopled()
    made = parts(store, approval=(), chain=LEAK)
    read = CallRequest(call=Call("dm.read"), thread="heron")
    send = CallRequest(call=Call("dm.send", {"to": "wren", "text": "x"}), thread="ops")
    assert await code(made, send, HERON) is None
    assert await code(made, read, HERON) is None
    assert await code(made, send, HERON) is ErrorCode.FORBIDDEN
    found = await reply(store, "ops")
    assert await code(made, asking(found, "dm.send", to="wren", text="x")) is ErrorCode.FORBIDDEN


async def test_who_fetches_an_old_result_in_another_thread_has_read_it_there() -> None:
    store, _ = await peopled()
    await store.create_thread(NewThread(id="other", title="Other", agent="heron"))
    made = parts(store, approval=(), chain=LEAK)
    here, other = await reply(store, "ops"), await reply(store, "other")
    read = await made.executor.call(HARVESTER, asking(here, "dm.read"))
    assert isinstance(read, Result)
    fetched = await made.executor.call(HARVESTER, asking(here, "job.get", id=read.job_id))
    assert isinstance(fetched, Result)
    assert await code(made, asking(other, "job.get", id=fetched.job_id)) is None  # a fetch of a fetch
    assert await code(made, asking(other, "dm.send", to="wren", text="x")) is ErrorCode.FORBIDDEN


async def test_a_fetch_of_what_bars_nothing_bars_nothing() -> None:
    store, _ = await peopled()
    made = parts(store, approval=(), chain=LEAK)
    here = await reply(store, "ops")
    listed = await made.executor.call(HARVESTER, asking(here, "tools.list"))
    assert isinstance(listed, Result)
    assert await code(made, asking(here, "job.get", id=listed.job_id)) is None
    assert await code(made, asking(here, "job.get", id="job-nobody")) is ErrorCode.NOT_FOUND
    assert await code(made, asking(here, "dm.send", to="wren", text="x")) is None


@pytest.mark.parametrize("path", ["/jobs", "/jobs/{job}", "/threads/heron/messages", "/ui/jobs/{job}"])
def test_who_looks_with_a_token_of_its_own_takes_what_it_read_anywhere(
    start_daemon: Callable[..., Any], path: str
) -> None:
    running = start_daemon(policy=Policy(chain=ChainPolicy(after=("tools.list",), bar=("dm.send",))))
    heron = running.agent("heron")
    running.client("operator").post("/threads", json={"id": "other", "agent": "heron"})

    def call(thread: str, op: str, args: dict[str, Any]) -> Any:
        said = running.client("harvester").post(
            f"/threads/{thread}/messages", json={"body": "x", "as": "heron"}
        )
        where = {"thread": thread, "reply": said.json()["id"], "on_behalf_of": "heron"}
        return running.exec("harvester", op, args, **where).json()

    job = call("heron", "tools.list", {})["job_id"]
    assert call("other", "dm.send", {"to": "heron", "text": "x"})["ok"]
    assert heron.get(path.format(job=job)).status_code == 200
    refused = call("other", "dm.send", {"to": "heron", "text": "x"})
    assert (refused["ok"], refused["error"]["code"]) == (False, "FORBIDDEN")


def test_what_a_policy_leaves_open_is_told_at_start(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon(policy=Policy(chain=ChainPolicy(after=("dm.read",), bar=("dm.*", "swarm.*"))))
    log = (running.home / "daemon.log").read_text()
    assert "leaves open what carries words on: cron.create, cron.update (docs/grants.md)" in log
    closed = ChainPolicy(after=("dm.read",), bar=("dm.*", "swarm.*", "cron.*"))
    assert ways_around(Policy(chain=closed), registry(ALLOWLIST)) == []
    assert ways_around(Policy(), registry(ALLOWLIST)) == []


async def test_a_barred_call_can_be_left_to_a_person() -> None:
    store, _ = await peopled()
    policy = ChainPolicy(after=LEAK.after, bar=LEAK.bar, then=Then.APPROVAL)
    made = parts(store, approval=(), chain=policy)
    here = await reply(store, "ops")
    await code(made, asking(here, "dm.read"))
    said = await made.executor.call(HARVESTER, asking(here, "dm.send", to="wren", text="x"))
    assert isinstance(said, Result)
    assert said.error is not None
    assert said.error.code is ErrorCode.APPROVAL_PENDING
    approval = await store.approval(str(said.job_id))
    assert approval is not None
    assert approval.call.marked_by == "box.toml: [chain] bar"
    await made.deciding.approve(ANN, approval.id, approval.call.digest)
    await made.settled()
    assert await delivered(store) == ["x"]


async def test_the_answer_of_why_knows_the_chain() -> None:
    store, _ = await peopled()
    made = parts(store, approval=(), chain=LEAK)
    await code(made, asking(await reply(store, "ops"), "dm.read"))
    facts = await made.executor.facts_on(HERON_ITSELF, "dm.send", (), "ops")
    assert facts.barred is not None
    assert facts.barred.mark == "dm.read"
    assert (await made.executor.facts_on(HERON_ITSELF, "dm.send", (), "other")).barred is None


async def test_who_cannot_be_marked_does_not_read() -> None:
    store, _ = await peopled()

    class Full(type(store)):  # type: ignore[misc]
        async def add_mark(self, *_: str) -> None:
            raise StoreFull("the disk is full")

    store.__class__ = Full
    made = parts(store, approval=(), chain=LEAK)
    with pytest.raises(StoreFull):
        await made.executor.call(HARVESTER, asking(await reply(store, "ops"), "dm.read"))
    assert await store.jobs() == []


async def test_a_mark_is_noted_once() -> None:
    store, _ = await peopled()
    chain, made = Chain(store, LEAK), parts(store, approval=())
    found = await reply(store, "ops")
    admitted = await made.executor.admitted(HARVESTER, found)
    for _ in range(2):
        await chain.note(admitted, found)  # type: ignore[arg-type]
    assert await store.marks("agent/heron", "ops") == ["dm.read"]
