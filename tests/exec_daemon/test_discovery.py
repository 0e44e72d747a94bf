"""What the daemon tells of its ops: one list, flags that hold, digests that see a change."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exec_daemon.access.tokens import Asker
from exec_daemon.calls.op import Arguments, Ended, Op, OpContext, Success
from exec_daemon.calls.read_only import READING, FlagContradicted, store_for, true_to_its_flag
from exec_daemon.calls.registry import registry
from exec_daemon.discovery import changes, check_discovery
from exec_daemon.errors import RuleUnusable
from exec_daemon.ops import ALLOWLIST
from exec_daemon.store import AppendMessage, KeepArtifact, MemoryStore
from messaging import (
    ArtifactRef,
    AuthorKind,
    Call,
    CallRequest,
    ErrorCode,
    MessageKind,
    NewMessage,
    OpInfo,
    Result,
)
from messaging.ops import catalogue
from tests.exec_daemon.approving import ANN, HERON, parts, peopled

OPERATOR = Asker(ANN)
SEND = next(op for op in ALLOWLIST if op.name == "dm.send")
every_op = pytest.mark.parametrize("op", ALLOWLIST, ids=lambda op: op.name)


def info(op: Op) -> OpInfo:
    return registry((op,)).infos[0]


class Other(Arguments):
    """Other arguments than those of `dm.send`."""

    to: str


CHANGES: list[dict[str, Any]] = [
    {"name": "dm.sent"},
    {"summary": "Something else."},
    {"arguments": Other},
    {"side_effecting": False},
    {"approval": True},
    {"actions": (("disk", None),)},
    {"definition": "argv"},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_the_digest_changes_with_whatever_makes_the_op_what_it_is(change: dict[str, Any]) -> None:  # D112
    assert info(replace(SEND, **change)).digest != info(SEND).digest


def test_the_digest_stays_with_what_is_only_said_about_the_op() -> None:  # D117
    same = replace(SEND, example={"to": "wren", "text": "other"}, time_limit_s=1.0)
    assert info(same).digest == info(SEND).digest
    assert replace(info(SEND), allowed=True).digest == info(SEND).digest


@every_op
def test_every_op_is_listed_with_its_digest(op: Op) -> None:
    document = json.loads(json.dumps(info(op).to_json()))
    assert len(document["digest"]) == 64
    assert OpInfo.from_json(document).digest == document["digest"]


def test_one_digest_stands_for_all_ops() -> None:  # D112, D117
    infos = registry(ALLOWLIST).infos
    assert catalogue(infos) == catalogue(registry(ALLOWLIST).infos)
    assert catalogue(infos[1:]) != catalogue(infos)


def test_an_op_without_a_flag_has_side_effects() -> None:  # D126
    async def run(_: Any, __: OpContext) -> Ended:
        return Success(None)

    assert Op(name="new.op", summary="New.", arguments=Arguments, example={}, run=run).side_effecting
    document = info(SEND).to_json()
    del document["side_effecting"]
    assert OpInfo.from_json(document).side_effecting


async def test_a_pinned_op_runs_and_another_one_does_not() -> None:  # D112
    store, _ = await peopled()
    made = parts(store, approval=())
    call = Call("dm.read", {"limit": 1})
    pinned = made.registry.info("dm.read").digest
    ran = await made.executor.call(HERON, CallRequest(call=call, op_digest=pinned))
    refused = await made.executor.call(HERON, CallRequest(call=call, op_digest="0" * 64))
    assert isinstance(ran, Result)
    assert ran.ok
    assert isinstance(refused, Result)
    assert refused.error is not None
    assert refused.error.code is ErrorCode.OP_CHANGED
    assert refused.error.details == {"op": "dm.read", "digest": pinned}


def test_the_pin_travels_with_the_request() -> None:
    assert CallRequest(call=Call("x"), op_digest="d").to_json()["op_digest"] == "d"
    assert "op_digest" not in CallRequest(call=Call("x")).to_json()


# What a start checks


def test_what_has_changed_since_the_last_start_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:  # D112
    noted = tmp_path / "ops.json"
    check_discovery(registry(ALLOWLIST), noted)
    assert "changed" not in caplog.text
    changed = tuple(replace(op, summary="Other.") if op is SEND else op for op in ALLOWLIST[1:])
    with caplog.at_level(logging.WARNING):
        check_discovery(registry(changed), noted)
    assert "dm.send has changed: its digest was" in caplog.text
    assert f"{ALLOWLIST[0].name} is gone" in caplog.text
    assert "this daemon's list is not what" in caplog.text  # D118


def test_a_note_that_cannot_be_read_is_no_note(tmp_path: Path) -> None:
    noted = tmp_path / "ops.json"
    for text in ("{", "[]"):
        noted.write_text(text)
        check_discovery(registry(ALLOWLIST), noted)
    assert set(json.loads(noted.read_text())) == {op.name for op in ALLOWLIST}


def test_changes_are_told_in_words() -> None:
    assert list(changes({}, {"a": "1"})) == []
    assert list(changes({"a": "1"}, {"a": "1", "b": "2"})) == ["b is new, with the digest 2"]


def test_an_op_that_everybody_knows_keeps_its_flag(tmp_path: Path) -> None:  # D126
    lying = tuple(replace(op, side_effecting=False) if op is SEND else op for op in ALLOWLIST)
    with pytest.raises(RuleUnusable, match=r"dm\.send must be side-effecting"):
        check_discovery(registry(lying), tmp_path / "ops.json")


# What a read-only flag is worth


WRITES = {
    "add_agent", "add_event", "add_mark", "add_run", "add_token", "answer_approval", "append", "ask", "begin",
    "close", "create_thread", "expect", "finish", "forget_approvals", "interrupt_running",
    "keep_rpc_answer", "keep_rpc_task", "link_approval", "receive", "remove_grant", "revoke_token",
    "set_cursor", "set_grant", "settle_approval", "touch_tokens",
}  # fmt: skip


def test_no_method_that_writes_counts_as_reading() -> None:
    methods = {name for name in dir(MemoryStore) if not name.startswith("_")}
    assert methods >= READING
    assert not READING & WRITES


async def misread(kind: str, context: OpContext) -> Ended:
    message = NewMessage(
        thread="wren", author="x", author_kind=AuthorKind.SYSTEM, kind=MessageKind.NOTICE, body="x"
    )
    if kind == "writes":
        await context.store.append(message)
    return Success("done", (AppendMessage(message),))


@pytest.mark.parametrize("kind", ["writes", "effects"])
async def test_an_op_that_contradicts_its_read_only_flag_changes_nothing(kind: str) -> None:
    store, _ = await peopled()

    async def run(_: Any, context: OpContext) -> Ended:
        return await misread(kind, context)

    lying = Op(
        name="dm.read", summary="Lies.", side_effecting=False, arguments=Arguments, example={}, run=run
    )
    made = parts(store, ops=(lying,), approval=())
    said = await made.executor.call(OPERATOR, CallRequest(call=Call("dm.read")))
    assert isinstance(said, Result)
    assert said.error is not None
    assert said.error.code is ErrorCode.INTERNAL_ERROR
    assert await store.messages("wren") == []


def test_content_that_a_read_gave_may_belong_to_its_job() -> None:  # M-81
    reading = replace(SEND, side_effecting=False)
    kept = Success(
        "x",
        (KeepArtifact(ArtifactRef(uri="artifact:x", sha256="0" * 64, bytes=1, content_type="text/plain")),),
    )
    assert true_to_its_flag(reading, kept) is kept


def test_a_side_effecting_op_gets_the_whole_store() -> None:
    store = MemoryStore()
    assert store_for(SEND, store) is store
    with pytest.raises(FlagContradicted, match="append"):
        store_for(replace(SEND, side_effecting=False), store).append  # noqa: B018


@pytest.mark.parametrize("op", [op for op in ALLOWLIST if not op.side_effecting], ids=lambda op: op.name)
async def test_each_read_only_op_runs_without_writing(op: Op) -> None:  # O-44
    store, _ = await peopled()
    said = await parts(store, approval=()).executor.call(HERON, CallRequest(call=Call(op.name, op.example)))
    assert isinstance(said, Result)
    assert said.error is None or said.error.code is ErrorCode.NOT_FOUND, said


LOOKALIKES = ["bоx.exec", "dm.send\u200b", "dm\u2024send", "ｄｍ.send", "dm.send\n", " dm.send", "dm.ѕend"]


@pytest.mark.parametrize("written", LOOKALIKES)
def test_what_only_looks_like_an_op_is_none(written: str) -> None:  # D119, D005
    known = registry(ALLOWLIST)
    name, _ = known.normalise(written, {})
    assert known.find(written) is None
    assert known.find(name) is None


async def test_the_list_is_the_same_bytes_for_everybody_but_for_what_is_allowed() -> None:  # D117
    store, _ = await peopled()
    made = parts(store, approval=())
    lists = []
    for asker in (HERON, OPERATOR, HERON):
        said = await made.executor.call(asker, CallRequest(call=Call("tools.list")))
        assert isinstance(said, Result)
        lists.append(said.data)
    assert lists[0] == lists[2]
    assert json.dumps(lists[0]["ops"]) == json.dumps(lists[1]["ops"])
    assert set(lists[0]["allowed_for_you"]) < set(lists[1]["allowed_for_you"])
