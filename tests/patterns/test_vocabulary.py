"""The vocabulary says what O 7.1 to 7.6 say, and a wrong file is refused with file and key."""

import copy
import functools
import json
import operator
from importlib import resources

import pytest

from exec_daemon.calls.registry import registry
from exec_daemon.ops import ALLOWLIST
from patterns import CurlRole, PatternError, vocabulary
from patterns.vocabulary import load

DOCUMENT = json.loads((resources.files("patterns") / "vocabulary.json").read_text(encoding="utf-8"))


def changed(path: str, value: object) -> str:
    """The vocabulary file with `value` at `path`; None takes away what is there."""
    document = copy.deepcopy(DOCUMENT)
    *way, last = path.split("/")
    place = functools.reduce(operator.getitem, way, document)
    step = int(last) if isinstance(place, list) else last
    if value is None:
        del place[step]
    else:
        place[step] = value
    return json.dumps(document)


def test_the_vocabulary_is_read_once():
    assert vocabulary() is vocabulary()


def test_there_are_sixteen_ops_of_which_five_only_read():  # O 7.2
    ops = vocabulary().known_ops.values()
    assert len(ops) == 16
    assert {op.name for op in ops if not op.side_effecting} == {
        "box.exec",
        "tools.list",
        "dm.read",
        "cron.list",
        "job.get",
    }


def test_three_ops_need_no_argument():  # GRAMMAR 5
    assert vocabulary().bare_ops == {"tools.list", "dm.read", "cron.list"}


def test_there_are_27_actions_19_without_and_8_with_an_argument():  # O-40
    actions = vocabulary().box_actions.values()
    assert len(actions) == 27
    assert sum(action.argument is None for action in actions) == 19


def test_dangerous_words_are_no_aliases():  # O 7.3
    words = vocabulary()
    assert not words.never_aliased & set(words.op_aliases)
    assert {"run", "exec", "stop", "kill", "cancel", "delete", "list", "status"} == words.never_aliased


@pytest.mark.parametrize(("word", "verdict"), [("ok", "PASS"), ("error", "FAIL"), ("needs-human", "BLOCKED")])
def test_verdict_words_have_one_meaning(word, verdict):  # O 7.6
    assert vocabulary().verdicts[word] == verdict


def test_each_verdict_is_a_word_for_itself():
    words = vocabulary()
    assert all(words.verdicts[verdict.casefold()] == verdict for verdict in set(words.verdicts.values()))


def test_only_flags_of_curl_take_no_value():  # GRAMMAR 6
    options = vocabulary().curl_options
    assert options["-d"].role is CurlRole.BODY
    assert [name for name, option in options.items() if option.role is CurlRole.FLAG] == [
        name for name, option in options.items() if not option.takes_value
    ]


WRONG = [
    ("known_ops", None, "known_ops", "missing"),
    ("known_opps", {}, "known_opps", "did you mean 'known_ops'?"),
    ("known_ops/dm.send/required", "to", "known_ops/dm.send/required", "must be an array"),
    ("known_ops/dm.send/side_effecting", 1, "known_ops/dm.send/side_effecting", "must be true or false"),
    ("known_ops/dm.send/required", ["two"], "known_ops/dm.send/required", "'two' is no argument"),
    ("known_ops/dm.send/required", ["to", "to"], "known_ops/dm.send/required", "stands twice"),
    ("known_ops/Dm.x", DOCUMENT["known_ops"]["dm.send"], "known_ops/Dm.x", "no canonical op name"),
    ("op_aliases/dm.sent", ["mail"], "op_aliases/dm.sent", "did you mean 'dm.send'?"),
    ("op_aliases/dm.read", ["dm.send"], "op_aliases/dm.read", "'dm.send' is already dm.send"),
    ("op_aliases/dm.read", ["job_get"], "op_aliases/dm.read", "'job_get' is already job.get"),
    ("op_aliases/dm.read", ["box.disk"], "op_aliases/dm.read", "already box.exec"),
    ("op_aliases/dm.read", ["say"], "op_aliases/dm.read", "'say' already means 'dm.send'"),
    ("op_aliases/dm.read", ["Spawn-Agent"], "op_aliases/swarm.spawn", "already means 'dm.read'"),
    ("op_aliases/dm.read", ["stop"], "op_aliases/dm.read", "must never be an alias"),
    ("op_aliases/dm.read", ["2fa"], "op_aliases/dm.read", "no op name"),
    ("op_aliases/dm.read", [""], "op_aliases/dm.read/0", "must not be empty"),
    ("arg_synonyms/dm.sent", {}, "arg_synonyms/dm.sent", "did you mean 'dm.send'?"),
    ("arg_synonyms/dm.send/too", ["x"], "arg_synonyms/dm.send/too", "did you mean 'to'?"),
    ("arg_synonyms/dm.send/to", ["toWhom"], "arg_synonyms/dm.send/to", "snake_case"),
    ("arg_synonyms/dm.send/to", ["priority"], "arg_synonyms/dm.send/to", "itself an argument"),
    ("arg_synonyms/dm.send/to", ["body"], "arg_synonyms/dm.send/text", "already means 'to'"),
    ("box_actions/reboot", {"argument": "x", "synonyms": []}, "box_actions", "not 19 and 9"),
    ("box_actions/job/synonyms", ["job_id"], "box_actions/job/synonyms", "the argument itself"),
    ("verdicts/PASS", ["OK"], "verdicts", "'OK' must be in lower case"),
    ("quote_pairs/0", ["“"], "quote_pairs/0", "an opening and a closing mark"),
    ("quote_pairs/0", ["“", "''"], "quote_pairs", "two single characters"),
    ("curl_options/-o", "output", "curl_options/-o", "must be one of"),
    ("curl_options/data", "body", "curl_options/data", "no option"),
    ("call_keys", [], "call_keys", "must be an object"),
]


@pytest.mark.parametrize(("path", "value", "key", "problem"), WRONG)
def test_a_wrong_file_is_refused_by_file_and_key(path, value, key, problem):
    with pytest.raises(PatternError) as refused:
        load(changed(path, value))
    assert (refused.value.file, refused.value.key) == ("vocabulary.json", key)
    assert problem in refused.value.problem
    assert str(refused.value) == f"vocabulary.json: {key}: {refused.value.problem}"


@pytest.mark.parametrize(
    ("text", "key", "problem"),
    [("{", "", "line 1"), ('{"a": 1, "a": 2}', "a", "twice"), ("[]", "", "must be an object")],
)
def test_a_file_that_is_no_json_object_is_refused(text, key, problem):
    with pytest.raises(PatternError, match=problem) as refused:
        load(text)
    assert refused.value.key == key


@pytest.mark.parametrize("info", registry(ALLOWLIST).infos, ids=lambda info: info.name)
def test_the_daemon_gives_its_ops_the_arguments_that_the_vocabulary_says(info):  # O-20
    known = vocabulary().known_ops[info.name]
    assert (info.side_effecting, info.required) == (known.side_effecting, known.required)
    assert info.arguments == known.arguments
