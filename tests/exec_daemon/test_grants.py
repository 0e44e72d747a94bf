"""Grants: which one decides, by key and by place, and what a wrong one is told."""

from __future__ import annotations

from typing import Any

import pytest

from exec_daemon.access.decide import Decision, decide, verdicts
from exec_daemon.access.explain import explained
from exec_daemon.access.grant_rules import problems, read, strangers, written
from exec_daemon.access.grants import Grant, Rates
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.policy import Policy
from exec_daemon.access.rules import Facts
from exec_daemon.access.stack import Grants, Place
from exec_daemon.calls.grant_check import check_grants
from exec_daemon.calls.registry import registry
from exec_daemon.errors import RuleUnusable
from exec_daemon.ops import ALLOWLIST

HERON, WREN = Identity(Role.AGENT, "heron"), Identity(Role.AGENT, "wren")


def made(file: dict[str, Grant] | None = None, store: dict[str, Grant] | None = None) -> Grants:
    grants = Grants(file or {})
    grants.replace_stored(store or {})
    return grants


def asked(grants: Grants, op: str, who: Identity = HERON, **args: Any) -> Decision:
    return decide(who, op, args, Facts(grants=grants.of(who)))


def only(*ops: str) -> Grant:
    return Grant(allow=ops)


LADDER = [
    (Place.STORE, "agent/heron", "store: grant agent/heron, allow"),
    (Place.FILE, "agent/heron", 'box.toml: [grants."agent/heron"] allow'),
    (Place.STORE, "agent", "store: grant agent, allow"),
    (Place.FILE, "agent", "box.toml: [grants.agent] allow"),
]


@pytest.mark.parametrize("step", range(len(LADDER)))
def test_identity_comes_before_role_and_of_equals_the_store_before_the_file(step: int) -> None:
    places: dict[Place, dict[str, Grant]] = {Place.STORE: {}, Place.FILE: {}}
    for number, (place, subject, _) in enumerate(LADDER[step:]):
        places[place][subject] = only("tools.list") if number == 0 else only("dm.read")
    grants = made(places[Place.FILE], places[Place.STORE])
    decision = asked(grants, "tools.list")
    assert (decision.allowed, decision.where) == (True, LADDER[step][2])
    assert not asked(grants, "dm.read").allowed


def test_without_any_grant_what_is_built_in_decides() -> None:
    decision = asked(made(), "tools.list")
    assert (decision.allowed, decision.where) == (True, "built-in: role agent, allow")


@pytest.mark.parametrize("subject", ["agent", "agent/heron"])
def test_deny_wins_wherever_it_stands(subject: str) -> None:
    denied = {subject: Grant(deny=("tools.*",))}
    strongest = {"agent/heron": only("*")}
    for grants in (made(denied, strongest), made(strongest | denied)):
        assert asked(grants, "tools.list").rule == "grant deny"


def test_a_grant_speaks_only_of_its_subject() -> None:
    grants = made({"agent/heron": only("swarm.*")})
    assert asked(grants, "swarm.stop").allowed
    assert not asked(grants, "swarm.stop", WREN).allowed


def test_a_key_that_a_grant_does_not_say_is_left_to_the_next_one() -> None:
    grants = made({"agent": Grant(recipients=("team-*",))}, {"agent/heron": Grant(box=("disk",))})
    assert asked(grants, "dm.send", to="team-a").allowed
    assert asked(grants, "dm.send", to="boss").where == "box.toml: [grants.agent] recipients"
    assert asked(grants, "box.exec", action="logs", arg="nginx").where == "store: grant agent/heron, box"


BOX = [
    (("disk",), "disk", None, True),
    (("disk",), "memory", None, False),
    (("logs",), "logs", "nginx.service", True),
    (("logs:nginx*",), "logs", "nginx.service", True),
    (("logs:nginx*",), "logs", "sshd", False),
    (("logs:nginx*",), "logs", None, False),
    (("process:1",), "process", 1, True),
    (("*",), "repo", "inband", True),
    ((), "disk", None, False),
]


@pytest.mark.parametrize(("box", "action", "arg", "allowed"), BOX)
def test_the_box_is_open_as_far_as_its_scope_says(
    box: tuple[str, ...], action: str, arg: str | int | None, allowed: bool
) -> None:
    args: dict[str, Any] = {"action": action} | ({} if arg is None else {"arg": arg})
    assert asked(made({"agent": Grant(box=box)}), "box.exec", **args).allowed is allowed


def test_a_new_op_is_denied_to_everybody_whose_grants_do_not_name_it() -> None:  # D082
    for role in Role:
        who = Identity(role, "x")
        assert asked(made(), "deploy.status", who).allowed is (role is Role.OPERATOR)
    assert asked(made({"agent": only("deploy.*")}), "deploy.status").allowed


def test_each_number_of_a_rate_comes_from_the_first_grant_that_says_it() -> None:
    file = {"agent": Grant(reads_per_minute=5, writes_per_minute=4)}
    grants = made(file, {"agent/heron": Grant(writes_per_minute=1)})
    assert grants.of(HERON).rates == Rates(reads_per_min=5, writes_per_min=1)
    assert grants.of(WREN).rates == Rates(reads_per_min=5, writes_per_min=4)


def test_what_the_store_says_holds_from_then_on() -> None:
    grants = made()
    assert asked(grants, "dm.send", to="wren").allowed
    grants.replace_stored({"agent": Grant(deny=("dm.send",))})
    assert not asked(grants, "dm.send", to="wren").allowed
    grants.replace_stored({})
    assert asked(grants, "dm.send", to="wren").allowed


WRONG = [
    ("agnet", {}, "did you mean agent"),
    ("agent/Heron", {}, "neither a role"),
    ("agent", {"alow": []}, "did you mean allow"),
    ("agent", {"allow": "dm.send"}, "must be a list of globs"),
    ("agent", {"deny": ["dm send"]}, "must be a list of globs"),
    ("agent", {"deny": ["[a-z]*"]}, "must be a list of globs"),
    ("agent", {"box": ["dsik"]}, "actions of box.exec"),
    ("agent", {"box": ["logs: /etc"]}, "actions of box.exec"),
    ("agent", {"reads_per_minute": True}, "whole number"),
    ("agent", {"writes_per_minute": -1}, "whole number"),
    ("agent", {"rates": {"dm.send": "5"}}, "calls a minute"),
]


@pytest.mark.parametrize(("subject", "rules", "said"), WRONG)
def test_a_wrong_grant_is_told_what_it_must_be(subject: str, rules: dict[str, Any], said: str) -> None:
    wrong = next(problems(subject, rules))  # D007, D009
    assert wrong.subject == subject
    assert said.lower() in str(wrong).lower()


def test_a_glob_that_names_no_op_is_a_typo() -> None:  # D007
    known = ["dm.send", "dm.read"]
    assert not list(strangers("agent", {"deny": ["dm.*"], "allow": ["*"]}, known))
    found = next(strangers("agent", {"deny": ["dm.sent"]}, known))
    assert "dm.send" in found.problem
    with pytest.raises(RuleUnusable, match=r"dm\.sent.*dm\.send"):
        check_grants(Policy(grants={"agent": Grant(deny=("dm.sent",))}), registry(ALLOWLIST))


def test_a_grant_reads_back_as_it_was_written() -> None:
    rules = {
        "allow": ["dm.*"],
        "deny": ["dm.read"],
        "recipients": [],
        "wakes": ["{self}", "team-*"],
        "box": ["logs:nginx*"],
        "approval": ["dm.send"],
        "reads_per_minute": 0,
        "rates": {"dm.send": 5},
    }
    assert not list(problems("agent", rules))
    assert written(read(rules)) == rules


def test_why_names_each_rule_and_where_it_stands() -> None:
    facts = Facts(grants=made({"agent": Grant(deny=("dm.send",), rates={"dm.*": 2})}).of(HERON))
    found = explained(HERON, "dm.send", {"to": "wren"}, facts)
    assert (found["allowed"], found["rule"]) == (False, "grant deny")
    assert found["where"] == "box.toml: [grants.agent] deny"
    assert [row["rule"] for row in found["rules"]] == [rule for rule, _ in verdicts(HERON, "x", {}, facts)]
    assert [row["holds"] for row in found["rules"]] == [True, False, True, True, True, True, True]
    assert {"what": "dm.*", "per_minute": 2, "where": "box.toml: [grants.agent] rates"} in found["rates"]


def test_everything_that_was_written_down_is_listed_the_strongest_place_first() -> None:
    grants = made({"agent": only("dm.*")}, {"viewer": only("tools.*"), "agent/heron": only("*")})
    listed = [(placed.place, placed.subject) for placed in grants.everything()]
    assert listed[:3] == [(Place.STORE, "agent/heron"), (Place.STORE, "viewer"), (Place.FILE, "agent")]
    assert [subject for place, subject in listed[3:] if place is Place.BUILT_IN] == list(Role)


def test_more_identities_than_are_remembered_are_answered_all_the_same() -> None:
    grants = made({"agent": only("dm.*")})
    for number in range(10_002):
        grants.of(Identity(Role.AGENT, f"a{number}"))
    assert asked(grants, "dm.read", Identity(Role.AGENT, "a1")).allowed


def test_without_grants_there_are_no_rates_to_show() -> None:
    assert explained(HERON, "dm.send", {}, Facts())["rates"] == []


def test_the_timers_of_an_agent_wake_the_agent_itself() -> None:
    assert asked(made(), "cron.create", target="heron").allowed
    assert asked(made(), "cron.create", target="wren").rule == "grant wakes"
    assert asked(made({"agent": Grant(wakes=("w*",))}), "cron.update", target="wren").allowed
