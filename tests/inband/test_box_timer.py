"""`box timer` as a person uses it, with a daemon and a watcher that run."""

from __future__ import annotations

from typing import Any

from tests.inband.conftest import Box, Quick
from tests.patience import until


def test_the_next_five_runs_are_shown_before_a_timer_is_made(running: Box) -> None:
    args = (
        "30 7 * * 1-5",
        "Check the disks.",
        "--agent",
        "heron",
        "--tz",
        "Europe/Berlin",
        "--name",
        "disks",
    )
    done = running.run("timer", "create", *args)
    assert done.returncode == 0
    assert done.stdout.startswith("tmr-")
    shown = done.stderr.splitlines()
    assert shown[:2] == ["cron, zone Europe/Berlin", "next"]
    assert len(shown) == 7
    assert all("T07:30:00+0" in line for line in shown[2:])
    listed = running.run("timer", "list").stdout
    assert "disks" in listed
    assert "30 7 * * 1-5" in listed
    assert "wakes heron" in running.run("timer", "show", "disks").stdout


def test_a_schedule_that_is_none_is_a_usage_error_with_a_way_out(quick: Quick) -> None:
    done = quick.run("timer", "create", "often", "x", "--agent", "heron")
    assert done.returncode == 2
    assert "write minute hour day month weekday" in done.stderr
    zone = quick.run("timer", "create", "5m", "x", "--agent", "heron", "--tz", "Berlin")
    assert "Did you mean Europe/Berlin" in zone.stderr
    assert quick.run("timer", "create", "5m", "--agent", "heron").returncode == 2
    assert quick.run("timer", "show", "nope").returncode == 1


def test_a_run_ends_with_the_verdict_of_the_reply(quick: Quick) -> None:  # O-60, O 7.6
    made = quick.json("timer", "create", "1h", "Look at the queue.", "--agent", "heron", "--name", "queue")
    run = quick.json("timer", "run", "queue")
    assert quick.run("timer", "run", "queue").returncode == 4
    quick.run("thread", "post", run["thread"], "Empty.\n\n[RESULT] PASS: empty", "--as", "heron")

    def over() -> dict[str, Any]:
        found: dict[str, Any] = quick.json("job", "show", run["job"])
        return found if found["state"] != "running" else {}

    job = until(over)
    assert (job["state"], job["result"]["verdict"], job["result"]["summary"]) == (
        "succeeded",
        "PASS",
        "empty",
    )
    history = quick.run("timer", "history", "queue").stdout
    assert "PASS" in history
    assert run["job"] in history
    assert made["failures"] == 0


def test_a_timer_is_paused_resumed_changed_and_cancelled(quick: Quick) -> None:
    quick.json("timer", "create", "1h", "x", "--agent", "heron", "--name", "short-lived")
    assert quick.run("timer", "pause", "short-lived", "--reason", "noise").stdout == "short-lived: paused\n"
    assert "noise" in quick.run("timer", "show", "short-lived").stdout
    assert quick.run("timer", "resume", "short-lived").stdout == "short-lived: resumed\n"
    changed = quick.json("timer", "update", "short-lived", "--schedule", "2h", "--overlap", "queue")
    assert (changed["schedule"], changed["overlap"], changed["prompt"]) == ("2h", "queue", "x")
    assert quick.run("timer", "cancel", "short-lived").stdout == "short-lived: cancelled\n"
    assert "short-lived" not in quick.run("timer", "list").stdout
    assert "short-lived" in quick.run("timer", "list", "--all").stdout
