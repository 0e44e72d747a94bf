"""The commands of `box` against a real daemon: output for a person, one JSON document, exit codes."""

from __future__ import annotations

import json
import subprocess

from tests.inband.conftest import Box
from tests.patience import PATIENCE_S, until

DM = '[DM {{"to": "falke", "text": "{}"}}]'


def bodies(box: Box, thread: str) -> list[str]:
    return [message["body"] for message in box.json("thread", "show", thread)["messages"]]


def test_a_reply_is_harvested_and_answered_in_its_thread(running: Box) -> None:
    # O-17
    reply = 'Look. [EXEC box.exec {"action": "memory"}]\n\n[TOOL box.exec {"action": "memroy"}]'
    result = running.run("harvest", "--thread", "ops", "--json", stdin=reply)
    document = json.loads(result.stdout)
    assert [one["ok"] for one in document["results"]] == [True, False]
    assert document["results"][1]["error"]["code"] == "UNKNOWN_ACTION"
    assert document["posted"]["in_reply_to"] == document["reply"]
    assert document["posted"]["body"] in bodies(running, "ops")
    assert result.returncode == 2


def test_the_same_text_is_harvested_once(running: Box) -> None:
    # O-16
    reply = DM.format("only once")
    for _ in range(2):
        assert running.run("harvest", "--thread", "ops", stdin=reply).returncode == 0
    assert bodies(running, "falke").count("only once") == 1
    assert running.run("harvest", "--thread", "ops", "--again", stdin=reply).returncode == 0
    assert bodies(running, "falke").count("only once") == 2


def test_the_watcher_answers_a_reply_that_arrives(running: Box) -> None:
    posted = running.json("thread", "post", "ops", "[TOOL tools.list]", "--as", "heron")

    def answered() -> list[dict[str, str]]:
        found = running.json("thread", "show", "ops")["messages"]
        return [one for one in found if one["in_reply_to"] == posted["id"]]

    answers = until(answered)
    assert [one["author_kind"] for one in answers] == ["system"]
    assert "dm.send" in answers[0]["body"]


def test_a_second_terminal_sees_messages_as_they_come(running: Box) -> None:
    follower = subprocess.Popen(
        running.argv("thread", "follow", "ops", "--json"),
        env=running.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert follower.stderr
        assert follower.stdout
        assert "following ops" in follower.stderr.readline()
        running.json("thread", "post", "ops", "to the follower")
        assert json.loads(follower.stdout.readline())["body"] == "to the follower"
    finally:
        follower.terminate()
        follower.wait(PATIENCE_S)
        follower.communicate()


def test_a_call_and_its_replay(running: Box) -> None:
    argv = ("call", "dm.send", '{"to": "falke", "text": "by call"}', "--id", "note-1")
    first, second = running.json(*argv), running.json(*argv)
    assert (first.get("replayed", False), second["replayed"]) == (False, True)
    assert first["job_id"] == second["job_id"]
    other = running.run("call", "dm.send", '{"to": "falke", "text": "other"}', "--id", "note-1")
    assert (other.returncode, "DUPLICATE_ID" in other.stderr) == (1, True)


def test_a_dry_run_writes_nothing(running: Box) -> None:
    before = len(bodies(running, "falke"))
    running.json("call", "dm.send", '{"to": "falke", "text": "dry"}', "--dry-run")
    assert len(bodies(running, "falke")) == before


def test_exit_codes_follow_the_error(running: Box) -> None:
    wanted = {
        ("call", "no.such.op"): 2,
        ("call", "dm.send", "{}"): 2,
        ("read", "nope"): 2,
        ("job", "show", "missing"): 1,
        ("thread", "show", "missing"): 1,
        ("call", "dm.send", '{"to": "nobody", "text": "x"}'): 1,
        ("call", "tools.list", "[]"): 2,
        ("nonsense",): 2,
    }
    assert {argv: running.run(*argv).returncode for argv in wanted} == wanted


def test_the_machine_is_shown_to_a_person_and_to_a_program(running: Box) -> None:
    assert "used" in running.run("read", "memory").stdout
    assert running.json("read", "memory")["result"]["action"] == "memory"


def test_ops_are_listed_with_their_flag_and_one_is_shown_whole(running: Box) -> None:
    listed = {one["op"]: one["side_effecting"] for one in running.json("ops")["ops"]}
    assert (listed["box.exec"], listed["dm.send"]) == (False, True)
    assert "example: box call dm.send" in running.run("ops", "dm.send").stdout


def test_a_token_acts_for_its_identity_until_it_is_revoked(running: Box) -> None:
    made = running.json("token", "create", "viewer/wall", "--ttl", "1h")
    viewer = Box(running.home, {"BOX_TOKEN": made["token"]})
    assert viewer.run("ops").returncode == 0
    denied = viewer.run("call", "dm.send", '{"to": "falke", "text": "x"}')
    assert (denied.returncode, "FORBIDDEN" in denied.stderr) == (3, True)
    assert running.run("token", "revoke", made["id"]).returncode == 0
    assert viewer.run("ops").returncode == 3
    assert made["token"] not in running.run("token", "list", "--json").stdout


def test_jobs_are_listed_and_shown_with_their_events(running: Box) -> None:
    running.json("read", "cpu")
    newest = running.json("job", "list", "--limit", "1")["jobs"][0]
    shown = running.json("job", "show", newest["id"])
    assert [one["type"] for one in shown["events"]] == ["accepted", "succeeded"]
    assert newest["id"] in running.run("job", "list").stdout


def test_a_message_is_wrapped_with_the_verbs_of_the_daemon(running: Box) -> None:
    # O-60
    wrapped = running.run("wrap", "--timer", "nightly", "--thread", "ops", stdin="Check the disks.\n")
    assert "timer: nightly" in wrapped.stdout
    assert "[TOOL box.exec" in wrapped.stdout
    assert running.run("wrap", "--unwrap", stdin=wrapped.stdout).stdout == "Check the disks.\n"


def test_the_doctor_finds_a_healthy_installation(running: Box) -> None:
    found = running.json("doctor")["findings"]
    assert [one for one in found if one["grade"] == "fail"] == []


def test_completion_knows_the_actions(running: Box) -> None:
    assert "_BOX_COMPLETE" in running.run("completion", "bash").stdout
    words = {"_BOX_COMPLETE": "bash_complete", "COMP_WORDS": "box read mem", "COMP_CWORD": "2"}
    completed = Box(running.home, words).run()
    assert "memory" in completed.stdout


def test_the_bound_on_rounds_is_the_one_that_is_set(running: Box) -> None:  # O-16
    running.json("thread", "create", "rounds", "--agent", "heron")
    strict = Box(running.home, {"BOX_HARVEST_MAX_ROUNDS": "1"})
    first = strict.json("harvest", "--thread", "rounds", stdin="[TOOL tools.list]")
    second = strict.json("harvest", "--thread", "rounds", stdin="[TOOL tools.list {}]")
    assert [len(one["results"]) for one in (first, second)] == [1, 0]
    assert second["posted"]["body"].startswith("TOO_MANY_ROUNDS: nothing was called: 1 rounds")
