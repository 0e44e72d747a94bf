"""Arguments of an operator's op: as strict as those of ours, and no way to become an option or a path out."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from exec_daemon.operator_ops.arguments import example, model, values
from exec_daemon.operator_ops.spec import ArgumentSpec
from exec_daemon.operator_ops.words import filled, places
from messaging import CallError, ErrorCode

TEXT = ArgumentSpec(name="text")


def accepts(spec: ArgumentSpec, value: Any) -> bool:
    try:
        model((spec,)).model_validate({spec.name: value})
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    "value",
    [
        "-x",
        "--output=/tmp/x",
        "-",
        "--",
        "",
        "a\0b",
        "a\nb",
        "a\n",
        "\x1b[1m",
        "a\u2028b",
        "x" * 257,
        5,
        None,
        True,
        ["a"],
    ],
)
def test_what_a_string_never_is(value: Any) -> None:  # D001 D006 D023 D056
    assert not accepts(TEXT, value)


@pytest.mark.parametrize("value", ["a", "a b", "a;b", "$(x)", "ü🐢", "a-b", "x" * 256])
def test_what_a_string_may_be(value: str) -> None:  # D003
    assert accepts(TEXT, value)


def test_half_a_character_is_none() -> None:  # D035
    assert not accepts(TEXT, "\ud800")


def test_a_dash_at_the_beginning_has_to_be_declared() -> None:  # D001
    assert accepts(ArgumentSpec(name="text", dash=True), "-x")


def test_a_pattern_is_for_the_whole_value() -> None:  # D005
    spec = ArgumentSpec(name="tag", pattern="v[0-9]+|main")
    assert [accepts(spec, value) for value in ("v1", "main", "v1x", "xmain", "v1\n", "av1")] == [
        *(True, True),
        *(False,) * 4,
    ]


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "(a*)*b"])
def test_a_pattern_that_would_take_for_ever_is_given_up_soon(pattern: str) -> None:
    began_s = time.process_time()  # of ours alone, however busy the machine is
    assert not accepts(ArgumentSpec(name="text", pattern=pattern), "a" * 256)
    assert time.process_time() - began_s < 5


def test_choices_are_exact() -> None:  # D119
    spec = ArgumentSpec(name="env", choices=("prod", "staging"))
    assert [accepts(spec, value) for value in ("prod", "Prod", "prod ", "рrod", "")] == [True, *(False,) * 4]


def test_integers_are_integers_within_their_bounds() -> None:  # D056
    spec = ArgumentSpec(name="n", type="integer", minimum=1, maximum=9)
    assert [accepts(spec, value) for value in (1, 9, 0, 10, "5", 5.0, True, -1)] == [
        True,
        True,
        *(False,) * 6,
    ]


def test_a_negative_number_is_declared_by_its_bound() -> None:
    assert not accepts(ArgumentSpec(name="n", type="integer"), -1)
    assert accepts(ArgumentSpec(name="n", type="integer", minimum=-5), -1)


def test_nothing_unknown_gets_in() -> None:  # D014 D057
    with pytest.raises(ValidationError):
        model((TEXT,)).model_validate({"text": "a", "env": {"LD_PRELOAD": "x"}})


@pytest.fixture
def files(tmp_path: Path) -> ArgumentSpec:
    below = tmp_path / "files"
    (below / "sub").mkdir(parents=True)
    (below / "a").write_text("a")
    (below / "sub" / "b").write_text("b")
    (tmp_path / "files_secret").write_text("no")
    (below / "out").symlink_to(tmp_path / "files_secret")
    (below / "loop").symlink_to(below / "loop")
    (below / "in").symlink_to(below / "a")
    return ArgumentSpec(name="file", type="path", below=str(below))


def place(spec: ArgumentSpec, value: str) -> str | ErrorCode | None:
    found = values((spec,), model((spec,)).model_validate({spec.name: value}))
    return found.code if isinstance(found, CallError) else found[spec.name]


@pytest.mark.parametrize(
    "value", ["../files_secret", "/etc/passwd", "sub/../../x", "..", "-a", "a\0", "a\n", ""]
)
def test_a_path_has_no_words_for_a_way_out(value: str, files: ArgumentSpec) -> None:  # D018 D021
    assert not accepts(files, value)


@pytest.mark.parametrize("value", ["out", "loop", "missing", "missing/x", "a/x", "x" * 300])
def test_what_leads_out_and_what_is_missing_answer_alike(
    value: str, files: ArgumentSpec
) -> None:  # D018 D020 D021
    assert place(files, value) is ErrorCode.NOT_FOUND


def test_a_path_becomes_where_it_really_leads(files: ArgumentSpec) -> None:
    assert place(files, "a") == place(files, "in") == f"{files.below}/a"
    assert place(files, "sub/b") == f"{files.below}/sub/b"


def test_percent_signs_are_letters(files: ArgumentSpec) -> None:  # D018
    assert place(files, "%2e%2e/files_secret") is ErrorCode.NOT_FOUND


def test_a_word_with_a_place_for_nothing_is_left_out() -> None:
    words = ("x", "--tag={tag}", "{force}", "{a}-{b}")
    given_all = {"tag": "v1", "force": "--force", "a": "1", "b": "2"}
    assert filled(words, given_all) == ("x", "--tag=v1", "--force", "1-2")
    assert filled(words, given_all | {"tag": None, "force": None, "b": None}) == ("x",)


@given(st.text(), st.text())
def test_a_value_is_never_split_and_never_a_place_itself(one: str, other: str) -> None:  # D003 D009
    assert filled(("x", "{a}", "b={b}"), {"a": one, "b": other}) == ("x", one, f"b={other}")
    assert filled(("{a}",), {"a": "{b}", "b": "no"}) == ("{b}",)


def test_places_are_found_in_order() -> None:
    assert list(places(["{b}", "x", "{a}{b}", "{}", "{A}", "{ a }"])) == ["b", "a", "b"]


SPECS = (
    ArgumentSpec(name="env", choices=("prod", "staging"), description="which one"),
    ArgumentSpec(name="tag", pattern="v[0-9]+", required=False),
    ArgumentSpec(name="count", type="integer", minimum=2),
    ArgumentSpec(name="force", type="boolean", word="--force"),
    ArgumentSpec(name="file", type="path", below="/srv/files"),
)


def test_the_schema_says_what_is_checked() -> None:
    schema = model(SPECS).model_json_schema()
    assert schema["properties"]["env"]["enum"] == ["prod", "staging"]
    assert schema["properties"]["env"]["description"] == "which one"
    assert "^(?:v[0-9]+)$" in json.dumps(schema["properties"]["tag"])
    assert schema["properties"]["count"]["minimum"] == 2
    assert schema["required"] == ["env", "count", "force", "file"]
    assert schema["additionalProperties"] is False
    assert "/srv" not in json.dumps(schema)


def test_the_example_is_one_that_is_accepted() -> None:
    model(SPECS).model_validate(example(SPECS))
    shown = ArgumentSpec(name="tag", pattern="v[0-9]+", example="v7")
    assert example((shown,)) == {"tag": "v7"}
