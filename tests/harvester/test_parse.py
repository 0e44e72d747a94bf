"""A reply becomes calls with names that we know and ids that stay (GRAMMAR 5, O-16, O-20)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvester import Directive, Form, ScanPolicy, SkipReason, parse
from harvester.scanner import scan_reply
from messaging import OpInfo
from patterns import book, vocabulary

CASES = Path(__file__).parent.parent / "cases"


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def found(text: str) -> list[dict[str, object]]:
    return [{"op": item.call.op, "args": dict(item.call.args)} for item in parse(text).calls]


@pytest.mark.parametrize("case", rows(CASES / "directives.jsonl"), ids=lambda case: case["id"])
def test_a_case_gives_its_calls_and_its_verdict(case):
    parsed = parse(case["text"])
    assert found(case["text"]) == case["expect"], case["why"]
    if "verdict" in case:
        assert (parsed.verdict and parsed.verdict.word) == case["verdict"], case["why"]


@pytest.mark.parametrize("reply", rows(CASES / "replies" / "expected.jsonl"), ids=lambda reply: reply["id"])
def test_a_real_reply_gives_its_intended_calls_and_nothing_else(reply):
    text = (CASES / "replies" / f"{reply['id']}.md").read_bytes().decode()
    parsed = parse(text)
    assert found(text) == reply["expect"]
    assert (parsed.verdict and parsed.verdict.word) == reply["verdict"]


def ids(text: str, **where: Any) -> list[str | None]:
    return [item.call.call_id for item in parse(text, **where).calls]


def test_the_same_reply_read_again_gives_the_same_ids():  # O-16
    text = "[TOOL cron.list {}] [TOOL cron.list {}]"
    assert ids(text, thread="t", reply="r") == ids(text, thread="t", reply="r")


def test_the_same_call_written_twice_is_two_calls():  # GRAMMAR 5.3
    assert len(set(ids("[TOOL cron.list {}] [TOOL cron.list {}]"))) == 2


@pytest.mark.parametrize("where", [{"thread": "u", "reply": "r"}, {"thread": "t", "reply": "s"}])
def test_another_thread_or_reply_gives_another_id(where):
    assert ids("[TOOL cron.list {}]", thread="t", reply="r") != ids("[TOOL cron.list {}]", **where)


def test_an_id_follows_from_what_the_call_means_and_not_from_how_it_is_written():
    assert ids('[TOOL say {"body": "b", "to": "a"}]') == ids('Hi.\n\n[DM {"to":"a","text":"\\u0062"}]')


@pytest.mark.parametrize(
    ("one", "other"), [("1", "2"), ("true", "1"), ("9007199254740993", "9007199254740992"), ('"1"', "1")]
)
def test_other_arguments_give_another_id(one, other):
    assert ids(f'[TOOL x {{"n": {one}}}]') != ids(f'[TOOL x {{"n": {other}}}]')


def test_a_call_knows_its_form_and_its_place():
    text = "so 🚀 [TOOL tools.list] it is"
    (only,) = parse(text).calls
    assert only.form is Form.F3
    assert text[slice(*only.span)] == "[TOOL tools.list]"


UPTIME = OpInfo(name="uptime", side_effecting=False, summary="", args_schema={}, aliases=("up",))


def test_the_registry_adds_its_ops_to_those_that_need_no_json():  # GRAMMAR 1, F3
    text = "[TOOL uptime] [TOOL Up {}]"
    assert [item.call.op for item in parse(text, registry=[UPTIME]).calls] == ["uptime", "uptime"]
    assert [item.call.op for item in parse(text).calls] == ["Up"]


def test_without_a_registry_the_policy_says_which_ops_need_no_json():
    policy = ScanPolicy(bare_ops=frozenset({"uptime"}))
    assert [item.call.op for item in parse("[TOOL uptime] [TOOL cron.list]", policy=policy).calls] == [
        "uptime"
    ]


def test_passing_the_limit_of_calls_gives_one_notice():  # GRAMMAR 5.4, O-16
    parsed = parse("[TOOL cron.list {}] " * 20)
    assert len(parsed.calls) == 16
    assert parsed.notice is not None
    assert (parsed.notice.code, parsed.notice.limit) == ("TOO_MANY_CALLS", 16)
    assert parsed.notice.to_json()["message"].startswith(
        "a reply may hold 16 calls; nothing after them was run"
    )


def test_a_reply_is_read_as_if_it_ended_at_its_limit():  # GRAMMAR 5.4
    text = f"[TOOL cron.list {{}}]\n\n{'x' * 200}\n\n[TOOL tools.list {{}}]"
    parsed = parse(text, policy=ScanPolicy(max_reply_bytes=100))
    assert [item.call.op for item in parsed.calls] == ["cron.list"]
    assert parsed.notice is not None
    assert (parsed.notice.code, parsed.notice.limit) == ("REPLY_TOO_LARGE", 100)


def test_a_limit_that_is_kept_gives_no_notice():
    assert parse("[TOOL cron.list {}]").notice is None


def test_the_document_of_a_dry_run():
    text = "[TOOL cron.list {}] `[TOOL x {}]`\n\n[RESULT] PASS: all green"
    parsed = parse(text)
    assert parsed.to_json() == {
        "calls": [
            {
                "op": "cron.list",
                "args": {},
                "form": "F1",
                "span": [0, 19],
                "call_id": parsed.calls[0].call.call_id,
            }
        ],
        "verdict": "PASS",
        "skipped": [{"reason": "code_span", "span": [21, 32]}],
        "verdict_detail": {"summary": "all green", "artifacts": None, "span": [35, 59]},
    }


def test_the_document_holds_a_notice_and_artifacts_where_there_are_such():
    text = '[RESULT {"verdict": "ok", "artifacts": ["a.txt"]}]\n\n' + "[TOOL cron.list {}] " * 17
    document = parse(text).to_json()
    assert document["verdict_detail"]["artifacts"] == ["a.txt"]
    assert document["notice"]["code"] == "TOO_MANY_CALLS"


def test_a_reply_without_anything_is_an_empty_document():
    assert parse("Nothing to do.").to_json() == {"calls": [], "verdict": None, "skipped": []}


def test_the_last_verdict_counts():  # GRAMMAR 8
    verdict = parse("[RESULT] FAIL\n\n[RESULT] PASS").verdict
    assert verdict is not None
    assert verdict.word == "PASS"


def test_what_is_skipped_says_why():
    assert [skip.reason for skip in parse("> [TOOL cron.list {}]").skipped] == [SkipReason.BLOCK_QUOTE]


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.text(), SCALARS, max_size=3))
OPS = st.from_regex(r"[A-Za-z][A-Za-z0-9_.\-]{0,20}", fullmatch=True)
ARGS = st.dictionaries(st.text(), VALUES, max_size=4).filter(
    lambda args: not set(args) & set(vocabulary().call_keys.args)  # those are unwrapped, GRAMMAR 4
)


@given(st.sampled_from(["TOOL", "EXEC"]), OPS, ARGS, st.sampled_from([None, 1]))
def test_what_the_pattern_matches_the_scanner_reads_alike(engine, op, args, indent):  # O-72
    text = f"[{engine} {op} {json.dumps(args, indent=indent)}]"
    match = book().search("tool_call", text)
    assert match is not None
    assert (match["op"], json.loads(match["args"])) == (op, args)
    assert scan_reply(text, ScanPolicy()) == [Directive(Form.F1, op, args, match.span())]
