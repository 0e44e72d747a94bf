"""`[ops]` in `box.toml`: what is refused when the settings are read, with its place and the way out."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from exec_daemon.operator_ops.keys import OF_ARGUMENT, OF_OP, OF_TYPE
from exec_daemon.operator_ops.spec import KEYS, specs
from exec_daemon.operator_ops.table import LAUNCHERS, problem

GOOD = """
["deploy.status"]
argv = ["deployctl", "status", "--env={env}", "--tag={tag}", "{force}", "--", "{file}"]
summary = "How the deployment of an environment stands."
side_effecting = false
time_limit_s = 30
output = "json"
exit_codes = { 1 = "ok", 3 = "NOT_FOUND", 75 = "BUSY" }
stdin = "{note}"
folder = "/srv"
environment = { DEPLOY_REGION = "eu" }
network = "all"
writable = ["/srv/state"]

["deploy.status".arguments]
env = { choices = ["prod", "staging"] }
tag = { pattern = "v[0-9.]+", max_length = 20, required = false }
force = { type = "boolean", word = "--force" }
file = { type = "path", below = "/srv/files" }
note = { multiline = true }
"""


def table(text: str = GOOD) -> dict[str, Any]:
    return tomllib.loads(text)


def changed(**keys: Any) -> str:
    """What is said when these keys of the op are others."""
    ops = table()
    ops["deploy.status"] |= keys
    wrong = problem(ops)
    assert wrong is not None
    return str(wrong)


def with_argument(**keys: Any) -> str:
    return changed(arguments=table()["deploy.status"]["arguments"] | {"env": keys})


def test_a_good_one_is_read_as_it_is_written() -> None:
    assert problem(table()) is None
    (spec,) = specs(table())
    assert (spec.name, spec.side_effecting, spec.time_limit_s, spec.output) == (
        "deploy.status",
        False,
        30,
        "json",
    )
    assert dict(spec.exit_codes) == {1: "ok", 3: "NOT_FOUND", 75: "BUSY"}
    assert [argument.name for argument in spec.arguments] == ["env", "tag", "force", "file", "note"]


def test_an_op_without_a_flag_counts_as_side_effecting() -> None:
    (spec,) = specs({"x.y": {"argv": ["true"], "summary": "Nothing."}})
    assert spec.side_effecting


@pytest.mark.parametrize("name", ["", "Deploy", "a b", "a..b", "-x", "a\n", "déploy", "bоx.status", "x" * 40])
def test_names_are_plain(name: str) -> None:  # D005 D119
    assert "no name of an op" in str(problem({name: {"argv": ["true"], "summary": "x"}}))


@pytest.mark.parametrize(
    "name", ["dm.send", "box.exec", "dm", "tools", "box.restart", "cron.mine", "schedule_task"]
)
def test_names_of_ours_are_taken(name: str) -> None:
    assert "a name of our own ops" in str(problem({name: {"argv": ["true"], "summary": "x"}}))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("argv", value) for value in ("deployctl status", [], [""], ["a", 1], ["a\0"], None)),
        *(("summary", value) for value in ("", " ", "a\nb", "x" * 201, 1)),
        *(("time_limit_s", value) for value in (0, -1, float("nan"), float("inf"), 3601, True, "5")),  # D137
        *(("output", value) for value in ("xml", 1)),
        *(("exit_codes", value) for value in ({"3": "MISSING"}, {"x": "ok"}, {"256": "ok"}, {"-1": "ok"})),
        *(("side_effecting", value) for value in ("false", 0)),
        *(("network", value) for value in ("on", True)),
        *(("folder", value) for value in ("srv", "/srv/../etc", "")),
        *(("readable", value) for value in ("/srv", ["srv"], ["/srv/.."])),
        *(
            ("environment", value)
            for value in ({"LD_PRELOAD": "/x"}, {"PYTHONPATH": "/x"}, {"A B": "x"}, {"A": 1})
        ),
        ("environment", {"GIT_SSH_COMMAND": "x"}),
    ],
)
def test_values_of_the_wrong_kind_are_refused(key: str, value: Any) -> None:  # D013
    assert changed(**{key: value}).startswith(f"`deploy.status`, `{key}`: must be ")


def test_an_unknown_key_is_refused_with_the_one_that_was_meant() -> None:  # D007
    assert changed(sidefecting=True) == (
        "`deploy.status`, `sidefecting`: is an unknown key. Did you mean side_effecting?"
    )
    assert "Known ones: argv" in changed(zzz=1)
    assert "Did you mean choices" in with_argument(choice=["a"])
    assert "unknown key" in with_argument(type="integer", pattern="x")


def test_what_is_needed_is_missed() -> None:
    assert str(problem({"x.y": {"summary": "x"}})).startswith("`x.y`, `argv`: is missing: a list of strings")
    assert "`summary`: is missing" in str(problem({"x.y": {"argv": ["true"]}}))
    assert "`word`: is missing" in with_argument(type="boolean")
    assert "`below`: is missing" in with_argument(type="path")


@pytest.mark.parametrize(
    "keys",
    [
        {"type": "text"}, {"choices": []}, {"choices": [1]}, {"pattern": "("}, {"max_length": 0},
        {"max_length": 10**6}, {"max_length": True}, {"type": "integer", "min": 1.5}, {"dash": 1},
        {"type": "path", "below": "files"}, {"required": "no"}, {"description": "a\nb"},
    ],
)  # fmt: skip
def test_arguments_of_the_wrong_kind_are_refused(keys: dict[str, Any]) -> None:
    assert with_argument(**keys).startswith("`deploy.status.arguments.env`, ")


def test_places_and_arguments_belong_together() -> None:
    assert changed(argv=["deployctl", "{nobody}"]).endswith("{nobody}, which is no argument of the op")
    assert "has no place: write {env} in argv or stdin" in changed(
        argv=["deployctl", "{tag}", "{force}", "{file}"]
    )
    assert "no name of an argument" in changed(arguments={"En v": {}})


def test_bubblewrap_and_nothing_at_all_are_not_wanted_at_once() -> None:
    assert "cannot both be" in changed(sandbox="bubblewrap", confined=False)
    assert changed(sandbox="firejail").endswith("""must be "layers" or "bubblewrap", not 'firejail'""")


def by(word: str, *, least: int, before: str = "sort") -> str:
    keys = {"argv": ["deployctl", before, word], "arguments": {"n": {"type": "integer", "min": least}}}
    return str(problem({"deploy.status": {"summary": "x", **keys}}) or "")


def test_a_number_below_zero_stands_where_it_is_no_option() -> None:  # D001
    assert "a number below 0 would be an option" in by("{n}", least=-1)
    assert by("{n}", least=0) == by("--by={n}", least=-1) == by("{n}", least=-1, before="--") == ""


def test_a_call_never_chooses_the_program() -> None:
    assert "never chooses the program" in changed(argv=["{env}", "x"])
    assert "relative path" in changed(argv=["bin/deployctl", "{env}", "{tag}", "{force}", "{file}"])


@pytest.mark.parametrize(
    "program", ["sh", "/bin/bash", "python3", "/usr/bin/python3.11", "env", "find", "xargs", "sudo"]
)
def test_what_runs_its_arguments_gets_none_from_a_call(program: str) -> None:  # D010
    said = changed(argv=[program, "-c", "echo {env} {tag}", "{force}", "{file}"])
    assert "runs what its arguments say" in said
    assert "put a program of your own in between" in said
    fixed = {"x.y": {"argv": [program, "--version"], "summary": "Its version."}}
    assert problem(fixed) is None


def test_there_is_no_wildcard() -> None:  # D009
    assert LAUNCHERS
    assert problem({"x.*": {"argv": ["true"], "summary": "x"}}) is not None
    literal = {"x.y": {"argv": ["echo", "*"], "summary": "A star."}}
    assert problem(literal) is None


def test_text_of_several_lines_and_booleans_have_their_places() -> None:
    assert "belongs into stdin" in changed(argv=["x", "{note}", "{env}", "{tag}", "{force}", "{file}"])
    assert "a boolean takes a whole word" in changed(argv=["x", "--f={force}", "{env}", "{tag}", "{file}"])


def test_every_key_that_is_read_can_be_written() -> None:
    assert set(KEYS) == set(OF_OP)


def test_the_page_shows_ops_that_are_right_and_names_every_key() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "operator-ops.md").read_text(encoding="utf-8")
    for example in re.findall(r"```toml\n(.*?)```", page, re.DOTALL):
        assert problem(tomllib.loads(example)["ops"]) is None
    keys = {*OF_OP, *OF_ARGUMENT, *(key for row in OF_TYPE.values() for key in row)}
    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []
    assert [kind for kind in OF_TYPE if f'`"{kind}"`' not in page] == []
