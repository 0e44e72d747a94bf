"""Names as agents write them become the names that we know; values never change (GRAMMAR 5.1, 5.2; O-20)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messaging import OpInfo
from messaging.normalise import Names, names, names_for, normalise
from patterns import spellings, vocabulary


def op_info(
    name: str, *arguments: str, required: tuple[str, ...] = (), aliases: tuple[str, ...] = ()
) -> OpInfo:
    schema = {"type": "object", "properties": {name: {} for name in arguments}, "required": list(required)}
    return OpInfo(name=name, side_effecting=True, summary="", args_schema=schema, aliases=aliases)


@pytest.mark.parametrize(
    ("written", "op"),
    [
        ("dm.send", "dm.send"),
        ("Tools.List", "tools.list"),
        ("cron-create", "cron.create"),
        ("tools_list", "tools.list"),
        ("functions.dm.send", "dm.send"),
        ("functions_dm_send", "dm.send"),
        ("Functions.Say", "dm.send"),
        ("send-message", "dm.send"),
        ("BOX-CTL", "box.exec"),
        ("list.tasks", "cron.list"),
    ],
)
def test_an_op_is_known_in_each_of_its_spellings(written, op):  # O-22, GRAMMAR 5.1
    assert normalise(written, {}) == (op, {})


@pytest.mark.parametrize("op", sorted(vocabulary().known_ops))
def test_a_canonical_name_means_itself(op):
    assert normalise(op, {}) == (op, {})


@pytest.mark.parametrize(("alias", "op"), sorted(vocabulary().op_aliases.items()))
def test_each_alias_means_its_op_in_one_step(alias, op):  # O 7.3
    for spelled in (*spellings(alias), alias.upper(), f"functions.{alias}"):
        assert normalise(spelled, {}) == (op, {})


@pytest.mark.parametrize("word", [*sorted(vocabulary().never_aliased), "Make_Coffee", "box.reboot"])
def test_what_means_nothing_goes_out_as_written(word):  # O 7.3, O-13
    assert normalise(word, {"cmd": 1, "inReplyTo": 2}) == (word, {"cmd": 1, "inReplyTo": 2})


@pytest.mark.parametrize(
    "word",
    [
        "\u017fend",
        "tool\u017f",
        "li\u017ft_ta\u017f\u212as",
        "\uff54ools",
        "\u0441ron.list",
        "box.di\u017f\u212a",
    ],
)
def test_a_letter_that_folds_to_an_ascii_one_spells_no_op(word):  # GRAMMAR 1: an op is ASCII
    assert normalise(word, {}) == (word, {})


@pytest.mark.parametrize("name", sorted(vocabulary().box_actions))
def test_box_dot_action_fills_the_action_in(name):  # O 7.3
    for written in (f"box.{name}", f"Box-{name.title()}", f"functions.box_{name}"):
        assert normalise(written, {}) == ("box.exec", {"action": name})


@pytest.mark.parametrize("action", [row for row in vocabulary().box_actions.values() if row.argument])
def test_an_action_knows_its_argument_by_its_own_names(action):  # GRAMMAR 5.1
    for name in (action.argument, *action.synonyms, "arg", "id"):
        assert normalise(f"box.{action.name}", {name: "x"}) == (
            "box.exec",
            {"action": action.name, "arg": "x"},
        )


def test_an_actions_own_names_count_for_that_action_only():
    assert normalise("box.exec", {"name": "agent"}) == ("box.exec", {"action": "agent"})
    assert normalise("box.disk", {"name": "x"}) == ("box.disk", {"name": "x"})


ROWS = [
    (op, synonym, argument)
    for op, known in vocabulary().known_ops.items()
    for synonym, argument in vocabulary().arg_synonyms.get(op, {}).items()
]


@pytest.mark.parametrize(("op", "synonym", "argument"), ROWS)
def test_each_synonym_means_its_argument(op, synonym, argument):  # O 7.4
    camel = synonym.split("_")[0] + "".join(part.title() for part in synonym.split("_")[1:])
    for written in (synonym, camel, synonym.replace("_", "-")):
        assert normalise(op, {written: "v"}) == (op, {argument: "v"})


@pytest.mark.parametrize(
    ("op", "args", "expected"),
    [
        ("cron.pause", {"timerId": 1, "why": 2}, {"id": 1, "reason": 2}),
        ("cron.create", {"message": 1, "id": 2}, {"prompt": 1, "name": 2}),  # its own row wins
        ("cron.update", {"name": 1, "task_id": 2}, {"name": 1, "id": 2}),  # name is an argument there
        ("cron.create", {"timer_id": 1}, {"timer_id": 1}),  # `id` is no argument of it
        ("job.get", {"why": 1}, {"why": 1}),
    ],
)
def test_an_op_reads_its_own_row_before_its_familys(op, args, expected):  # GRAMMAR 5.2
    assert normalise(op, args) == (op, expected)


def test_an_unknown_argument_stays_as_written():
    assert normalise("say", {"toWhom": 1}) == ("dm.send", {"toWhom": 1})


def test_equal_values_under_two_names_are_one():  # GRAMMAR 5.2
    args = {"to": {"a": 1, "b": 2}, "recipient": {"b": 2, "a": 1.0}}
    assert normalise("say", args) == ("dm.send", {"to": {"b": 2, "a": 1}})


@pytest.mark.parametrize(
    "args",
    [{"to": 1, "recipient": 2}, {"target": 1, "user": 2}, {"to": 1, "recipient": True}, {"to": 1, "To": 2}],
)
def test_different_values_for_one_argument_send_the_call_as_written(args):  # GRAMMAR 5.2
    assert normalise("say", args) == ("say", args)


def test_values_are_never_converted():  # GRAMMAR 5.2
    args = {"count": "5", "name": ["x"]}
    assert normalise("swarm.spawn", args) == ("swarm.spawn", args)


def test_the_registry_adds_ops_with_their_spellings_and_aliases():  # GRAMMAR 5
    known = names_for([op_info("deploy.run_it", "env", required=("env",), aliases=("ship",))])
    assert normalise("Deploy.Run-It", {"Env": 1}, known) == ("deploy.run_it", {"env": 1})
    assert normalise("SHIP", {}, known) == ("deploy.run_it", {})
    assert normalise("ship", {}) == ("ship", {})


def test_a_registered_name_wins_over_an_alias():
    known = names_for([op_info("notify", "whom")])
    assert normalise("notify", {"whom": 1}, known) == ("notify", {"whom": 1})
    assert normalise("say", {}, known) == ("dm.send", {})


def test_an_alias_of_the_vocabulary_wins_over_one_of_the_registry():
    known = names_for([op_info("mail.send", aliases=("dm",))])
    assert normalise("dm", {}, known)[0] == "dm.send"


def test_a_name_that_two_registered_ops_claim_means_neither():
    known = names_for([op_info("a.b_c"), op_info("a.b-c")])
    assert normalise("A.B.C", {}, known) == ("A.B.C", {})
    assert normalise("a.b-c", {}, known) == ("a.b-c", {})


def test_the_arguments_of_the_registry_come_on_top():
    known = names_for([op_info("dm.send", "to", "text", "message", required=("to",))])
    assert normalise("dm.send", {"message": 1, "body": 2}, known) == ("dm.send", {"message": 1, "text": 2})


def test_bare_ops_follow_the_registry():  # GRAMMAR 1, F3
    known = names_for([op_info("dm.read", "thread", required=("thread",)), op_info("uptime")])
    assert known.bare_ops == {"tools.list", "cron.list", "uptime"}
    assert names().bare_ops == vocabulary().bare_ops


def test_the_names_of_the_vocabulary_are_made_once():
    assert isinstance(names(), Names)
    assert names() is names()


KEYS = st.sampled_from(["to", "recipient", "To", "inReplyTo", "text", "name", "id", "arg", "x-y", "jobId"])
OPS = st.sampled_from(["say", "dm.send", "box.agent", "box", "cron.update", "cron-create", "job.get", "none"])


@given(OPS, st.dictionaries(KEYS, st.integers(0, 1)))
def test_normalising_twice_changes_nothing(op, args):
    once = normalise(op, args)
    assert normalise(*once) == once


@given(st.text(max_size=80), st.dictionaries(st.text(max_size=10), st.none()))
def test_no_name_raises_and_no_value_is_lost(op, args):
    assert None in [*normalise(op, args)[1].values(), None]
