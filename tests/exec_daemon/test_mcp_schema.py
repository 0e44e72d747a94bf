"""Schemas of tools are their servers': a check ends in time, fetches nothing, and breaks no start."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from exec_daemon.calls.registry import registry, validate
from exec_daemon.errors import RuleUnusable
from exec_daemon.home import prepare
from exec_daemon.mcp_servers.at_start import mcp_ops
from exec_daemon.mcp_servers.op import mcp_op
from exec_daemon.mcp_servers.pins import Pin, keep
from exec_daemon.mcp_servers.schema import problem_of
from exec_daemon.mcp_servers.spec import McpSpec, problem
from messaging import CallError, ErrorCode

SPEC = McpSpec(name="notes", command=("true",), tools=("search",))
NESTED: Any = 1
for _ in range(2000):
    NESTED = {"not": NESTED}


def of(**keys: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": keys}}


def checked(schema: dict[str, Any], args: dict[str, Any]) -> CallError | None:
    assert problem_of(schema) is None
    op = mcp_op(SPEC, Pin("search", "Searches.", schema, read_only=False), None)
    found = validate(registry((op,)).ops[op.name], args)
    return found if isinstance(found, CallError) else None


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (of(**{"$ref": "http://127.0.0.1:9/x"}), "nothing is fetched"),
        (of(**{"$ref": "file:///etc/passwd"}), "nothing is fetched"),
        (of(**{"$dynamicRef": "other.json"}), "nothing is fetched"),
        ({"type": "banana"}, "no JSON Schema"),
        ({"type": "object", "required": 5}, "no JSON Schema"),
        ({"type": "object", "required": [{}]}, "no JSON Schema"),
        ({"type": "object", "properties": [1]}, "no JSON Schema"),
        (of(pattern="("), "no JSON Schema"),
        ({"patternProperties": {"^(a+)+$": {}}}, "held to a time"),
        ({"description": "x" * 70_000}, "more than 65536"),
        (NESTED, "too deeply"),
    ],
)
def test_a_schema_that_calls_cannot_be_held_to_is_none_that_is_approved(
    schema: dict[str, Any], said: str
) -> None:
    assert said in str(problem_of(schema))


def test_names_that_a_server_chose_are_no_words_of_its_schema() -> None:
    odd = {"$ref": {"type": "string"}, "patternProperties": {"type": "string"}, "pattern": {"type": "null"}}
    assert problem_of({"type": "object", "properties": odd}) is None


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        (of(type="string", pattern="^(a|aa)+$"), "a" * 60 + "!"),
        (of(type="array", items={"type": "string", "pattern": "^(a|aa)+$"}), ["a" * 60 + "!"] * 9),
        ({"$ref": "#"}, 1),
        (of(**{"$ref": "#/nowhere"}), 1),
        (
            {
                "$ref": "#/$defs/x",
                "$defs": {"x": {"additionalProperties": {"allOf": [{"$ref": "#/$defs/x"}] * 4}}},
            },
            None,
        ),
    ],
)
def test_a_check_that_would_take_for_ever_ends_soon_and_nothing_is_called(
    schema: dict[str, Any], given: Any
) -> None:
    for _ in range(30 if given is None else 0):
        given = {"a": given}
    began_s = time.process_time()  # of ours alone, however busy the machine is
    refused = checked(schema, {"a": given})
    assert refused is not None
    assert refused.code is ErrorCode.INVALID_ARGS
    assert time.process_time() - began_s < 5


def test_what_is_honest_is_checked_as_it_was() -> None:
    schema = of(type="array", items={"type": "string", "pattern": "^v[0-9]+$"}, uniqueItems=True)
    assert checked(schema, {"a": ["v1", "v2"]}) is None
    for wrong, word in ((["x"], "does not match"), (["v1", "v1"], "twice"), ("v1", "array")):
        refused = checked(schema, {"a": wrong})
        assert refused is not None
        assert word in refused.message
    many = [{"number": number} for number in range(20_000)]
    assert checked(of(uniqueItems=True), {"a": many}) is None


def test_a_pin_that_is_no_schema_keeps_no_daemon_from_starting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home = prepare(tmp_path / "home")
    keep(home, "notes", [Pin("search", "", {"type": "object", "required": 5}, read_only=True)])
    assert mcp_ops((SPEC,), home)[0] == ()
    assert "the schema of search cannot be used" in caplog.text


def test_two_ops_of_one_name_are_refused_with_words(tmp_path: Path) -> None:
    home = prepare(tmp_path / "home")
    keep(home, "notes", [Pin("search", "", {"type": "object"}, read_only=True)])
    with pytest.raises(RuleUnusable, match=r"both have an op notes\.search"):
        mcp_ops((SPEC,), home, taken={"notes.search"})
    twice = {"notes": {"command": ["true"], "tools": ["search", "Search"]}}
    assert "names a tool twice" in str(problem(twice))
