"""The whole table of ops, walked."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from exec_daemon.access.identity import Identity, Role
from exec_daemon.calls.op import Op
from exec_daemon.calls.registry import registry, validate
from exec_daemon.ops import ALLOWLIST, box_exec, dm_send
from messaging import CallError, ErrorCode, OpInfo, digest
from patterns import vocabulary

REGISTRY = registry(ALLOWLIST)
every_op = pytest.mark.parametrize("op", ALLOWLIST, ids=lambda op: op.name)


def refused(op: Op, args: Mapping[str, object], code: ErrorCode) -> CallError:
    """The error of arguments that the op does not take."""
    wrong = validate(op, args)
    assert isinstance(wrong, CallError), wrong
    assert wrong.code is code
    return wrong


@every_op
def test_an_op_says_the_same_of_itself_as_the_vocabulary(op: Op) -> None:  # O 7.2
    known = vocabulary().known_ops[op.name]
    info = next(info for info in REGISTRY.infos if info.name == op.name)
    assert op.side_effecting is known.side_effecting
    assert set(info.required) == set(known.required)
    assert set(info.arguments) == set(known.arguments)


@every_op
def test_the_example_of_an_op_is_a_call_that_it_accepts(op: Op) -> None:  # O-50
    assert not isinstance(validate(op, op.example), CallError)
    assert REGISTRY.normalise(op.name, op.example) == (op.name, op.example)


@every_op
def test_an_op_has_a_summary_in_one_line_and_a_closed_schema(op: Op) -> None:  # O-50
    info = next(info for info in REGISTRY.infos if info.name == op.name)
    assert info.summary.endswith(".")
    assert "\n" not in info.summary
    assert info.args_schema["additionalProperties"] is False
    assert OpInfo.from_json(json.loads(json.dumps(info.to_json()))) == info


@every_op
def test_an_op_refuses_unknown_arguments_by_name(op: Op) -> None:  # O-30, O-13
    wrong = refused(op, {**op.example, "no_such": 1}, ErrorCode.INVALID_ARGS)
    assert "no_such: unknown argument." in wrong.message
    assert wrong.details["args_schema"]["properties"]
    assert wrong.details["example"] == op.example


@every_op
def test_an_op_names_each_argument_that_is_missing(op: Op) -> None:  # O-13
    for name in vocabulary().known_ops[op.name].required:
        kept = {key: value for key, value in op.example.items() if key != name}
        wrong = refused(op, kept, ErrorCode.INVALID_ARGS)
        assert {"argument": name, "problem": "missing"} in wrong.details["problems"]


@every_op
@pytest.mark.parametrize("alias", sorted(vocabulary().op_aliases))
def test_an_alias_finds_the_op_that_the_vocabulary_gives_it(op: Op, alias: str) -> None:  # O-20, O 7.3
    found = REGISTRY.find(alias)
    assert (found is op) is (vocabulary().op_aliases[alias] == op.name)


def test_the_allowlist_has_each_name_once() -> None:  # O-30
    with pytest.raises(ValueError, match="same name"):
        registry((*ALLOWLIST, ALLOWLIST[0]))


def test_adding_an_op_to_the_allowlist_is_the_only_step() -> None:  # O-51
    new = Op(
        name="deploy.status",
        summary="Say how the deployment goes.",
        side_effecting=False,
        arguments=box_exec.OP.arguments,
        example={"action": "x"},
        run=box_exec.run,
    )
    more = registry((*ALLOWLIST, new))
    assert more.infos[-1].name == "deploy.status"
    assert more.normalise("Deploy.Status", {"action": "x"}) == ("deploy.status", {"action": "x"})


def test_an_unknown_op_comes_back_with_near_names() -> None:  # O-13
    unknown = REGISTRY.unknown("dm.sned")
    assert unknown.code is ErrorCode.UNKNOWN_OP
    assert unknown.details["suggestions"][0] == "dm.send"
    assert "Did you mean dm.send" in unknown.message


def test_an_endless_op_name_is_not_sent_back_whole() -> None:
    assert len(REGISTRY.unknown("x" * 100_000).message) < 200


def test_a_misspelled_argument_is_met_with_the_right_one() -> None:  # O 7.4
    wrong = refused(dm_send.OP, {"to": "heron", "txet": "x"}, ErrorCode.INVALID_ARGS)
    assert "txet: unknown argument. Did you mean text?" in wrong.message
    assert "text: missing." in wrong.message
    assert "dm.send takes to, text, thread?, reply_to?, priority?." in wrong.message


@pytest.mark.parametrize(
    "args",
    [
        {"to": 5, "text": "x"},
        {"to": "heron", "text": None},
        {"to": "heron", "text": ["x"]},
        {"to": "A", "text": "x"},
    ],
)
def test_values_are_never_converted(args: dict[str, object]) -> None:  # GRAMMAR 5.2
    refused(dm_send.OP, args, ErrorCode.INVALID_ARGS)


def test_a_dm_is_limited_in_bytes_not_in_characters() -> None:  # O-85
    fits, too_much = "é" * 8192, "é" * 8193
    assert not isinstance(validate(dm_send.OP, {"to": "heron", "text": fits}), CallError)
    refused(dm_send.OP, {"to": "heron", "text": too_much}, ErrorCode.TOO_LARGE)


def test_a_dm_holds_no_nul() -> None:
    refused(dm_send.OP, {"to": "heron", "text": "a\0b"}, ErrorCode.INVALID_ARGS)


def test_box_exec_lists_its_27_actions_with_their_argument_types() -> None:  # O-53, O-40
    info = next(info for info in REGISTRY.infos if info.name == "box.exec")
    assert len(info.actions) == 27
    assert sum(argument is None for _, argument in info.actions) == 19
    assert ("process", "pid") in info.actions


@pytest.mark.parametrize("action", ["", "nope", "x" * 5000, "CPU", "a\0b"])
def test_whatever_is_no_action_is_an_unknown_action(action: str) -> None:  # O-41
    unknown = refused(box_exec.OP, {"action": action}, ErrorCode.UNKNOWN_ACTION)
    assert len(unknown.message) < 1000


def test_an_unknown_action_names_the_27_and_the_op_that_changes_things() -> None:  # O-41
    unknown = refused(box_exec.OP, {"action": "restart"}, ErrorCode.UNKNOWN_ACTION)
    assert len(unknown.details["actions"]) == 27
    assert "use op swarm.stop" in unknown.message


@pytest.mark.parametrize(
    "args",
    [
        {"action": "cpu", "arg": "x"},
        {"action": "job"},
        {"action": "logs", "arg": "../x"},
        {"action": "process", "arg": -1},
    ],
)
def test_a_wrong_argument_of_an_action_is_refused_before_anything_runs(args: dict[str, object]) -> None:
    refused(box_exec.OP, args, ErrorCode.INVALID_ARGS)  # O-42, O-43


def test_only_dm_send_has_a_rate_for_each_pair() -> None:  # O-85
    heron = Identity(Role.AGENT, "heron")
    pairs = {op.name: op.pair(heron, op.arguments.model_validate(dict(op.example))) for op in ALLOWLIST}
    assert {name for name, pair in pairs.items() if pair} == {"dm.send"}


def test_the_digest_of_a_call_knows_its_arguments_and_not_their_order() -> None:  # O-34
    assert digest("a", {"x": 1, "y": 2}) == digest("a", {"y": 2, "x": 1}) != digest("a", {"x": 2, "y": 1})
