"""The named patterns match what they say, in bounded time, and a wrong file is refused (O-70 to O-72)."""

import json
import subprocess
import sys

import pytest

import patterns
from patterns import Highlight, PatternError, book, vocabulary
from patterns.lookup_engine import load

# Over texts of this size a quadratic pattern takes minutes. The limit is there to end those.
HOSTILE_CHARS, LIMIT_S = 280_000, 60
# What the description of a pattern says about the texts that it is for.
MOST_CHARS = {"tool_call_portable": 16 * 1024}

TOOL_CALLS = ("tool_call", "tool_call_portable")

EXAMPLES = [
    (name, kind, text)
    for name in book().names()
    for kind, texts in (
        ("match", book().pattern(name).matching),
        ("no_match", book().pattern(name).not_matching),
    )
    for text in texts
]


@pytest.mark.parametrize(("name", "kind", "text"), EXAMPLES)
def test_each_example_is_what_it_says(name, kind, text):  # O-71
    assert (book().search(name, text) is not None) == (kind == "match")


def repeated(unit: str) -> str:
    return unit * (HOSTILE_CHARS // len(unit))


HOSTILE = [
    repeated("[TOOL {"),
    repeated('[TOOL x {"'),
    repeated('[DM {"a": "\\"'),
    repeated("[TOOL\t"),
    "[TOOL x {}" + repeated("\n"),
    "[TOOL" + repeated(" "),
    "[TOOL " + repeated("a"),
    '[DM {"' + repeated("\\"),
    "[DM {" + repeated("{}"),
    "[DM {" + repeated('""') + "{",
    "[RESULT] PASS" + repeated(" "),
    "[RESULT] PASS: " + repeated("* _") + "\r",
    repeated(" ") + "[RESULT",
    repeated("- "),
    repeated("1"),
    "[RESULT {" + repeated('"x"'),
    repeated("`"),
    "```tool" + repeated(" ") + "`",
    "curl " + repeated("https://"),
    "curl https://" + repeated("a."),
    "curl " + repeated("'https://a:1/exec?"),
    repeated("<think"),
    "<think " + repeated("a "),
    repeated("a") + "\n",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("name", book().names())
def test_no_pattern_is_led_into_quadratic_time(name, text):  # O-71
    cut = text[: MOST_CHARS.get(name, HOSTILE_CHARS)]
    assert len(list(book().finditer(name, cut, timeout_s=LIMIT_S))) <= len(cut)


def test_the_two_tool_call_patterns_take_the_same_texts():  # O-70
    texts = [text for _, _, text in EXAMPLES] + [text[:2_000] for text in HOSTILE]
    for text in texts:
        spans = [[match.span() for match in book().finditer(name, text)] for name in TOOL_CALLS]
        assert spans[0] == spans[1]


def test_nothing_is_found_inside_an_opener_that_is_no_directive():  # O-11
    text = '[TOOL x {"a": [TOOL y {"b": 1}] } and\n\n[TOOL z {}]'
    assert [match["op"] for match in book().finditer("tool_call", text)] == ["z"]
    assert [match["op"] for match in book().finditer("tool_call_portable", text)] == ["y", "z"]


def test_a_pattern_gives_its_groups():
    match = book().search("tool_call", 'so [EXEC dm.send {"to": "ana", "text": "]"}] it is')
    assert match is not None
    assert match.groupdict() == {"engine": "EXEC", "op": "dm.send", "args": '{"to": "ana", "text": "]"}'}


@pytest.mark.parametrize("word", sorted(vocabulary().verdicts))
def test_the_verdict_pattern_knows_each_verdict_word(word):  # O 7.6
    match = book().search("result_verdict", f"[RESULT] {word.upper()}: why")
    assert match is not None
    assert (match["word"], match["summary"]) == (word.upper(), "why")


@pytest.mark.parametrize("tag", sorted(vocabulary().reasoning_tags))
def test_the_reasoning_pattern_knows_each_tag(tag):
    match = book().search("reasoning_tag", f"a</{tag}>")
    assert match is not None
    assert match["name"] == tag


@pytest.mark.parametrize("language", vocabulary().call_fences)
def test_the_fence_pattern_knows_each_language(language):
    assert book().search("call_fence", f"~~~{language}")


def test_highlights_come_in_the_order_of_the_text():
    text = "[RESULT] ok\n[TOOL cron.list {}]"
    assert book().highlights(text, "opener", "result_verdict", "tool_call") == [
        Highlight(0, 7, "opener"),
        Highlight(0, 11, "result_verdict"),
        Highlight(12, 17, "opener"),
        Highlight(12, 31, "tool_call"),
    ]


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(PatternError, match=r"regex_patterns\.json: tool_cal: .*did you mean 'tool_call'"):
        book().search("tool_cal", "")


def test_the_patterns_are_read_once():
    assert book() is book()


def row(**changed: object) -> dict[str, object]:
    """A pattern row that is right, but for what is changed."""
    right: dict[str, object] = {
        "name": "x",
        "description": "one x",
        "pattern": "(?P<x>x)",
        "flags": ["DOTALL"],
        "groups": {"x": "the x"},
        "examples": {"match": ["x"], "no_match": ["y"]},
    }
    return right | changed


@pytest.mark.parametrize(
    ("changed", "key", "problem"),
    [
        ({"pattern": "("}, "patterns/x/pattern", "does not compile"),
        ({"pattern": 5}, "patterns/x/pattern", "must be a string"),
        ({"flags": ["DOTAL"]}, "patterns/x/flags/0", "did you mean 'DOTALL'?"),
        ({"groups": {}}, "patterns/x/groups", "'x' is not described"),
        ({"groups": {"x": "the x", "y": "?"}}, "patterns/x/groups/y", "no such group"),
        ({"examples": {"match": ["y"], "no_match": ["y"]}}, "patterns/x/examples/match/0", "does not match"),
        ({"examples": {"match": ["x"], "no_match": ["y", "x"]}}, "patterns/x/examples/no_match/1", "matches"),
        ({"examples": {"match": [], "no_match": ["y"]}}, "patterns/x/examples/match", "must not be empty"),
        ({"description": ""}, "patterns/x/description", "must not be empty"),
        ({"name": 3}, "patterns/0/name", "must be a string"),
        ({"why": "?"}, "patterns/x/why", "unknown key"),
    ],
)
def test_a_wrong_pattern_is_refused_by_file_and_key(changed, key, problem):
    with pytest.raises(PatternError, match=problem.replace("?", r"\?")) as refused:
        load(json.dumps({"patterns": [row(**changed)]}), "mine.json")
    assert (refused.value.file, refused.value.key) == ("mine.json", key)


def test_a_name_stands_once():
    with pytest.raises(PatternError, match="'x' stands twice"):
        load(json.dumps({"patterns": [row(), row()]}))


def test_the_engine_is_loaded_with_its_first_use():
    program = "import sys, patterns; before = 'regex' in sys.modules; patterns.book(); print(before)"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout == b"False\n"
    )


def test_the_package_has_no_other_names():
    with pytest.raises(AttributeError, match="no attribute 'bok'"):
        patterns.bok()
