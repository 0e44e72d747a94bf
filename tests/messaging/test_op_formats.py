"""The op list in the forms that other programs read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import jsonschema
import pytest

from exec_daemon.calls.registry import registry
from exec_daemon.ops import ALLOWLIST
from messaging import OpInfo
from messaging.normalise import names_for
from messaging.op_formats import FORMATS, function_name, mcp_tool, openai_tool

OPS = registry(ALLOWLIST).infos


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_the_function_name_of_an_op_is_a_spelling_that_calls_understand(op: OpInfo) -> None:  # O-51
    name = function_name(op.name)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)
    meaning = names_for(OPS).meaning(name)
    assert meaning is not None
    assert meaning.op == op.name


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_a_function_schema_takes_the_example_and_refuses_unknown_arguments(op: OpInfo) -> None:  # O-53
    schema = openai_tool(op)["function"]["parameters"]
    jsonschema.validate(dict(op.example), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**op.example, "no_such_argument": 1}, schema)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_all_four_hints_follow_from_the_flag(op: OpInfo) -> None:
    hints = mcp_tool(op)["annotations"]
    assert hints["readOnlyHint"] is not op.side_effecting
    assert hints["destructiveHint"] is op.side_effecting
    assert set(hints) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}


def test_each_format_names_every_op() -> None:
    spelled: dict[str, Callable[[OpInfo], str]] = {"openai": lambda op: function_name(op.name)}
    for form, made in FORMATS.items():
        text = made(OPS)
        assert all(json.dumps(spelled.get(form, lambda op: op.name)(op))[1:-1] in text for op in OPS), form


def test_a_table_cell_cannot_leave_its_cell() -> None:
    from messaging.op_formats import markdown_table

    lines = list(markdown_table(("a", "b"), [("x|y", "one\ntwo")]))
    assert lines[2] == "| x\\|y | one two |"
