"""`box why`, `box grant`, `box approvals`, pins: a person decides who may do what, and what runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.inband.conftest import Quick, stop

SETTINGS = """
[approvals]
ops = ["dm.send"]

[grants."agent/heron"]
box = ["disk"]
"""


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    """A daemon whose agents ask a person before they send."""
    folder = tmp_path_factory.mktemp("asking")
    settings = Path(folder / "box.toml")
    settings.write_text(SETTINGS)
    box = Quick(folder / "state", {"BOX_CONFIG": str(settings)})
    process = box.start()
    for name in ("heron", "falke"):
        assert box.run("agent", "add", name).returncode == 0
    yield box
    stop(process)


@pytest.fixture(scope="module")
def heron(asking: Quick) -> Quick:
    """The same command with the token of an agent."""
    made = asking.run("token", "create", "agent/heron").stdout.strip()
    return Quick(asking.home, {**asking.variables, "BOX_TOKEN": made})


def ask(box: Quick, heron: Quick, text: str) -> str:
    """heron asks; the id of what waits."""
    done = heron.run("call", "dm.send", f'{{"to": "falke", "text": "{text}"}}')
    assert done.returncode == 1
    assert "APPROVAL_PENDING" in done.stderr
    found = box.json("approvals", "list")["approvals"]
    sent = json.loads(f'"{text}"')
    return next(str(one["id"]) for one in found if one["args"]["text"] == sent)


def test_why_names_the_rule_and_its_place(asking: Quick) -> None:
    shown = asking.run("why", "agent/heron", "box.exec", '{"action": "memory"}').stdout
    assert "agent/heron may not call box.exec: agent/heron may not read memory" in shown
    assert 'which stands box.toml: [grants."agent/heron"] box' in shown
    found = asking.json("why", "agent/heron", "dm.send")
    assert (found["allowed"], found["approval"]) == (True, "box.toml: [approvals] ops")


def test_a_grant_is_set_listed_and_taken_back(asking: Quick) -> None:
    said = asking.run("grant", "set", "agent/falke", "--deny", "box.*", "--rate", "dm.send=5", "--reads", "9")
    assert said.stdout == 'agent/falke: deny box.*; reads_per_minute 9; rates {"dm.send": 5}\n'
    listed = asking.run("grant", "list").stdout
    assert "store" in listed.splitlines()[1]
    assert "built-in" in listed
    assert not asking.json("why", "agent/falke", "box.exec")["allowed"]
    assert asking.run("grant", "remove", "agent/falke").returncode == 0
    assert asking.run("grant", "remove", "agent/falke").returncode == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["grant", "set", "agent", "--deny", "dm.sent"], "names no op. Did you mean dm.send"),
        (["grant", "set", "agent", "--rate", "dm.send"], "is no rate"),
        (["approvals", "show", "job-0"], "There is no approval"),
    ],
)
def test_what_cannot_be_is_told_with_the_way_out(asking: Quick, words: list[str], said: str) -> None:
    done = asking.run(*words)
    assert done.returncode in (1, 2)
    assert said.lower() in done.stderr.lower()


def test_what_is_approved_is_what_was_shown(asking: Quick, heron: Quick) -> None:  # O-36
    waiting = ask(asking, heron, "with \\u001b[31mcolour and \\u202e tricks")
    shown = asking.run("approvals", "show", waiting).stdout
    assert "\\u001b[31mcolour and \\u202e tricks" in shown
    digest = asking.json("approvals", "show", waiting)["digest"]
    assert f"digest      {digest}" in shown
    without = asking.run("approvals", "approve", waiting)
    assert (without.returncode, "needs the DIGEST" in without.stderr) == (2, True)
    other = asking.run("approvals", "approve", waiting, "0" * 12)
    assert (other.returncode, "is not the digest" in other.stderr) == (2, True)
    said = asking.run("approvals", "approve", waiting, digest[:12])
    assert (said.returncode, "approved" in said.stdout) == (0, True)
    assert asking.json("job", "show", waiting)["id"] == waiting


def test_what_is_denied_is_told_and_never_runs(asking: Quick, heron: Quick) -> None:
    waiting = ask(asking, heron, "not this")
    assert asking.run("approvals", "deny", waiting, "--reason", "no").stdout == f"{waiting}: denied\n"
    assert asking.json("job", "show", waiting)["error"]["code"] == "APPROVAL_DENIED"
    assert waiting in asking.run("approvals", "list", "--state", "denied").stdout
    digest = asking.json("approvals", "show", waiting)["digest"]
    again = asking.run("approvals", "approve", waiting, digest)
    assert (again.returncode, "denied by operator/local" in again.stderr) == (3, True)


def test_an_agent_cannot_approve(heron: Quick) -> None:  # D081
    assert heron.run("approvals", "approve", "job-0", "0" * 64).returncode == 3


def test_a_pinned_op_is_the_one_that_was_looked_at(asking: Quick) -> None:  # D112
    digest = asking.json("ops", "tools.list")["digest"]
    assert asking.run("call", "tools.list", "--op-digest", digest).returncode == 0
    other = asking.run("call", "tools.list", "--op-digest", "0" * 64)
    assert (other.returncode, "OP_CHANGED" in other.stderr) == (1, True)
    assert f'"tools.list" = "{digest}"' in asking.run("ops", "--format", "pins").stdout


def test_a_pin_holds_for_what_replies_call(asking: Quick, tmp_path: Path) -> None:  # D112
    settings = tmp_path / "box.toml"
    settings.write_text(f'[pins]\n"tools.list" = "{"0" * 64}"\n')
    pinned = Quick(asking.home, {"BOX_CONFIG": str(settings)})
    done = pinned.run("harvest", "--thread", "heron", stdin="[TOOL tools.list]")
    assert "OP_CHANGED" in done.stdout + done.stderr
    settings.write_text('[pins]\n"tools.list" = "abc"\n')
    wrong = pinned.run("config", "check")
    assert (wrong.returncode, "must be 64 hexadecimal digits" in wrong.stderr) == (2, True)
