"""`box agent run` and `box agent replay` as processes, with programs that stand for agents' command lines."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.inband.conftest import Box
from tests.patience import PATIENCE_S, ends, until

STREAMS = Path(__file__).parents[1] / "cases" / "agent_streams"
CLAUDE = STREAMS / "claude_stream_json_success.jsonl"


def speaking(file: Path) -> list[str]:
    return ["--", "cat", str(file)]


def python(script: str) -> list[str]:
    return ["--", sys.executable, "-c", script]


def ran(box: Box, adapter: str, argv: list[str], *options: str, stdin: str = "") -> Any:
    done = box.run("agent", "run", "--adapter", adapter, "--json", *options, *argv, stdin=stdin)
    assert done.returncode == 0, done.stdout
    return json.loads(done.stdout)


def bodies(box: Box, thread: str) -> list[str]:
    return [message["body"] for message in box.json("thread", "show", thread)["messages"]]


def test_what_an_agent_finally_says_is_posted_as_its_reply_and_harvested_once(running: Box) -> None:
    # the same words stand in the stream twice, and another turn of the agent's said something else
    stream = CLAUDE.read_text().replace('\\"to\\":\\"ops\\"', '\\"to\\":\\"falke\\"')
    spoken = running.home.parent / "stream.jsonl"
    spoken.write_text(stream)
    shown = ran(running, "claude", speaking(spoken), "--thread", "ops")
    assert (shown["status"], shown["session"][:8]) == ("success", "5e55a0de")
    assert [result["ok"] for result in shown["results"]] == [True]
    reply = next(
        one for one in running.json("thread", "show", "ops")["messages"] if one["id"] == shown["reply"]
    )
    assert (reply["author"], reply["author_kind"], reply["body"]) == ("heron", "agent", shown["text"])
    assert bodies(running, "falke").count("/ is 91% full [see df]") == 1


def usage(box: Box) -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = box.json("read", "usage")["result"]["data"]["usage"]
    return [row for row in shown if row["agent"] == "falke"]


def test_what_an_agent_used_is_counted_also_where_it_failed(running: Box) -> None:
    #
    errors = STREAMS / "claude_stream_json_errors.jsonl"
    failed = running.run("agent", "run", "--adapter", "claude", "--agent", "falke", *speaking(errors))
    assert failed.returncode == 1
    [row] = usage(running)
    assert (row["model"], row["tokens_today"], row["usd_today"]) == ("claude-sonnet-4-6", 142, 0.4412)


def test_an_unknown_thread_is_known_before_the_agent_runs(running: Box) -> None:
    ran = running.home.parent / "ran"
    done = running.run("agent", "run", "--adapter", "plain", "--thread", "nowhere", "--", "touch", str(ran))
    assert done.returncode != 0
    assert not ran.exists()


def test_without_a_thread_no_daemon_is_needed(box: Box) -> None:
    done = box.run("agent", "run", "--adapter", "plain", *python("print('hi')"))
    assert done.returncode == 0
    assert done.stdout.startswith("hi\n")
    assert "text_delta" in done.stderr


def test_events_come_as_json_lines_with_the_outcome_last(box: Box) -> None:
    done = box.run("agent", "run", "--adapter", "claude", "--events", *speaking(CLAUDE))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["event"] for line in lines][::8] == ["session_started", "turn_end"]
    assert lines[-1]["event"] == "outcome"
    assert lines[-1]["payload"]["usage"]["cost_usd"] == 0.0123


# Far more than pipes and queues hold: it ends only if somebody reads all of it.
FLOOD = "for _ in range(20000): print('x' * 99)\n"


def test_a_reader_that_leaves_does_not_stop_the_agent(box: Box, tmp_path: Path) -> None:
    # J-28
    finished = tmp_path / "finished"
    script = FLOOD + f"open({str(finished)!r}, 'w')"
    argv = box.argv("agent", "run", "--adapter", "claude", "--events", *python(script))
    with subprocess.Popen(
        argv, env=box.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 1  # the agent gave no verdict
        assert process.stderr.read() == b""
    assert finished.exists()


def test_a_reader_that_stands_still_does_not_stop_the_agent(box: Box, tmp_path: Path) -> None:
    # J-28
    finished = tmp_path / "finished"
    script = FLOOD + f"open({str(finished)!r}, 'w')"
    argv = box.argv("agent", "run", "--adapter", "claude", "--events", *python(script))
    with subprocess.Popen(argv, env=box.environment(), stdout=subprocess.PIPE) as process:
        until(finished.exists)
        assert process.stdout is not None
        lines = [json.loads(line) for line in process.stdout.read().splitlines()]
    assert lines.pop()["event"] == "outcome"
    missed = [line["payload"] for line in lines if line["event"] == "lagged"]
    shown = [line["seq"] for line in lines if line["event"] == "output"]
    # J-32: what was not shown is named, and nothing is missing
    told = shown + [number for one in missed for number in range(one["from"], one["to"] + 1)]
    assert sorted(told) == list(range(20000))
    assert len(shown) < 20000


def test_ending_the_command_ends_the_agent(box: Box, tmp_path: Path) -> None:
    started = tmp_path / "pid"
    script = f"import os, time\nopen({str(started)!r}, 'w').write(f'{{os.getpid()}}\\n')\ntime.sleep(600)"
    argv = box.argv("agent", "run", "--adapter", "claude", *python(script))
    with subprocess.Popen(argv, env=box.environment(), stderr=subprocess.PIPE) as process:
        until(lambda: started.exists() and started.read_text().endswith("\n"))
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 130
    assert ends(int(started.read_text()))


def test_an_agent_inherits_no_token_of_ours(box: Box) -> None:
    ours = Box(box.home, {"BOX_TOKEN": "secret-token"})
    text = ran(ours, "plain", python("import os; print(os.environ)"))["text"]
    assert "BOX_HOME" in text
    assert "secret-token" not in text


def test_a_prompt_comes_from_a_file(box: Box) -> None:
    #
    echo = python("import sys; print(sys.stdin.read())")
    shown = ran(box, "plain", echo, "--prompt-file", "-", stdin="look")
    assert shown["text"] == "look\n"


def test_a_recording_is_replayed_to_the_same_outcome(box: Box, tmp_path: Path) -> None:
    kept = tmp_path / "run.jsonl"
    outcome = ran(box, "claude", speaking(CLAUDE), "--record", str(kept))
    assert kept.read_bytes() == CLAUDE.read_bytes()
    assert box.json("agent", "replay", str(kept), "--adapter", "claude") == outcome


def test_a_replay_says_what_a_person_wants_to_know(box: Box) -> None:
    failed = box.run("agent", "replay", str(STREAMS / "codex_exec_json_failure.jsonl"), "--adapter", "codex")
    assert failed.returncode == 1
    assert "failed: flake: stream disconnected" in failed.stdout
    assert "tokens: not reported; cost not reported" in failed.stdout
    assert "unknown: Reconnecting... 1/5" in failed.stderr


def test_a_replay_is_told_the_exit_code(box: Box) -> None:
    #
    done = box.run("agent", "replay", "-", "--adapter", "gemini", "--exit-code", "53", "--json")
    assert json.loads(done.stdout)["failure"]["kind"] == "limit"


def test_options_behind_the_programs_name_are_the_programs(box: Box) -> None:
    done = box.run("agent", "run", "--adapter", "plain", "echo", "--json", "--help")
    assert done.stdout.startswith("--json --help\n")


def test_what_cannot_be_done_is_said_in_a_line(box: Box, tmp_path: Path) -> None:
    for words in (
        ("agent", "replay", str(tmp_path / "none"), "--adapter", "pi"),
        ("agent", "run", "--adapter", "plain", "--resume", "s-1", "--", "true"),
        ("agent", "run", "--adapter", "plain", "--record", str(tmp_path / "no" / "file"), "--", "true"),
        ("agent", "run", "--adapter", "nobody", "--", "true"),
        ("agent", "run", "--adapter", "plain"),
    ):
        done = box.run(*words)
        assert done.returncode == 2, words
        assert done.stderr.strip()


def test_a_program_that_is_missing_or_silent_or_slow_has_an_exit_code(box: Box) -> None:
    run = ("agent", "run", "--json", "--adapter", "claude")
    codes = {
        "missing": box.run(*run, "--", "/no/such/agent").returncode,
        "silent": box.run(*run, "--", "true").returncode,
        "stalled": box.run(*run, "--stall", "0.2", "--", "sleep", "600").returncode,
    }
    assert codes == {"missing": 1, "silent": 1, "stalled": 124}
