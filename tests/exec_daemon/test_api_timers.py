"""Timers over the API: the ops, who may touch which timer, runs, previews and verdicts."""

from __future__ import annotations

from itertools import count
from typing import Any

import httpx2
import pytest

from tests.exec_daemon.conftest import Running
from tests.patience import until

NUMBERS = count(1)
YEARLY = {"schedule": "0 0 1 1 *", "prompt": "Happy new year.", "tz": "UTC"}


@pytest.fixture
def heron(daemon: Running) -> httpx2.Client:
    daemon.agent("wren")
    return daemon.agent("heron")


def made(daemon: Running, who: str = "agent/heron", **args: Any) -> dict[str, Any]:
    fields = {**YEARLY, "name": f"t{next(NUMBERS)}", **args}
    answer = daemon.exec(who, "cron.create", fields)
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["result"])


def refused(answer: httpx2.Response) -> tuple[int, str, str]:
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["message"]


def test_an_agent_makes_a_timer_that_wakes_itself(daemon: Running, heron: httpx2.Client) -> None:  # T-60
    timer = made(daemon, schedule="@daily", tz="Europe/Berlin")
    assert (timer["agent"], timer["created_by"], timer["state"]) == ("heron", "agent/heron", "active")
    assert (timer["schedule"], timer["schedule_type"]) == ("0 0 * * *", "cron")
    assert len(timer["next"]) == 5
    assert all("T00:00:00+0" in one for one in timer["next"])
    assert heron.get(f"/timers/{timer['id']}").json() == timer


def test_an_agent_wakes_nobody_else(daemon: Running, heron: httpx2.Client) -> None:  # T-51
    answer = daemon.exec("agent/heron", "cron.create", YEARLY | {"target": "wren"})
    refusal = "Not allowed: the timers of agent/heron may not wake wren."
    assert refused(answer) == (403, "FORBIDDEN", refusal)
    assert made(daemon, "operator", target="wren")["agent"] == "wren"


def test_a_grant_lets_an_agent_wake_others(daemon: Running, heron: httpx2.Client) -> None:  # O 7.5
    daemon.agent("crane")
    grant = {"subject": "agent/crane", "rules": {"wakes": ["{self}", "wr*"]}}
    assert daemon.client("operator").put("/grants", json=grant).status_code == 200
    assert made(daemon, "agent/crane", target="wren")["agent"] == "wren"
    assert daemon.exec("agent/crane", "cron.create", YEARLY | {"target": "heron"}).status_code == 403


def test_what_a_grant_takes_away_counts_for_timers_that_are_there(daemon: Running) -> None:  # O 7.5
    daemon.agent("wren")
    stork, operator = daemon.agent("stork"), daemon.client("operator")
    operator.put("/grants", json={"subject": "agent/stork", "rules": {"wakes": ["*"]}})
    timer = made(daemon, "agent/stork", target="wren", schedule="1s")
    operator.delete("/grants?subject=agent/stork")
    answer = stork.post(f"/timers/{timer['id']}/run")
    assert (answer.status_code, "may not wake wren" in answer.text) == (403, True)

    def over() -> dict[str, Any]:
        now: dict[str, Any] = operator.get(f"/timers/{timer['id']}").json()
        return {} if now["state"] == "active" else now

    now = until(over)
    assert (now["state"], now["reason"]) == ("paused", "agent/stork may not wake wren any more")


def test_only_an_operators_timer_never_pauses(daemon: Running, heron: httpx2.Client) -> None:
    timer = made(daemon, pause_after=50)
    for never in (0, 51):
        update = daemon.exec("agent/heron", "cron.update", {"id": timer["id"], "pause_after": never})
        assert refused(update)[:2] == (400, "INVALID_ARGS")
    assert made(daemon, "operator", target="wren", pause_after=0)["pause_after"] == 0


@pytest.mark.parametrize("verb", ["pause", "resume", "cancel", "update"])
def test_a_timer_of_another_and_none_answer_alike(
    daemon: Running, heron: httpx2.Client, verb: str
) -> None:  # T-52
    foreign = made(daemon, "operator", target="heron")["id"]
    answers = [daemon.exec("agent/heron", f"cron.{verb}", {"id": one}) for one in (foreign, "tmr-0")]
    said = [refused(answer) for answer in answers]
    assert said[0][:2] == said[1][:2] == (404, "NOT_FOUND")
    assert said[0][2].replace(foreign, "X") == said[1][2].replace("tmr-0", "X")
    assert heron.get(f"/timers/{foreign}").status_code == heron.get("/timers/tmr-0").status_code == 404


@pytest.mark.parametrize(
    ("wrong", "code", "said"),
    [
        ({"schedule": "every tuesday"}, "INVALID_ARGS", "schedule: 'every tuesday' is no cron schedule"),
        ({"tz": "Berlin"}, "INVALID_ARGS", "Did you mean Europe/Berlin"),
        ({"until": "2020-01-01T00:00"}, "INVALID_ARGS", "schedule: until:"),
        ({"schedule": 5}, "INVALID_ARGS", "lasts from a second"),
        ({"script": "rm -rf /"}, "INVALID_ARGS", "names a gate, and is no script"),
        ({"prompt": "x" * 16_385}, "TOO_LARGE", "at most 16384"),
        ({"thread": "wren"}, "NOT_FOUND", "There is no thread 'wren' of heron"),
        ({"jitter_s": -1}, "INVALID_ARGS", "jitter_s"),
        ({"name": "nightly\u200b"}, "INVALID_ARGS", "name"),
        ({"name": "nightly\u202e"}, "INVALID_ARGS", "name"),
        ({"name": "nightly "}, "INVALID_ARGS", "name"),
        ({"name": "night\x9b2Jly"}, "INVALID_ARGS", "name"),
        ({"name": "night\u2028ly"}, "INVALID_ARGS", "name"),
        ({"misfire": "maybe"}, "INVALID_ARGS", "misfire"),
        ({"pause_after": 0}, "INVALID_ARGS", "from 1 to 50"),
        ({"target": "herno"}, "FORBIDDEN", "may not wake herno"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_made(
    daemon: Running, heron: httpx2.Client, wrong: dict[str, Any], code: str, said: str
) -> None:  # T-61, T-56
    before = daemon.exec("agent/heron", "cron.list").json()["result"]
    answer = refused(daemon.exec("agent/heron", "cron.create", YEARLY | wrong))
    assert answer[1] == code
    assert said in answer[2]
    assert daemon.exec("agent/heron", "cron.list").json()["result"] == before


def test_an_operator_has_to_say_whom_a_timer_wakes(daemon: Running, heron: httpx2.Client) -> None:
    assert refused(daemon.exec("operator", "cron.create", YEARLY))[2].startswith("target: missing.")
    unknown = refused(daemon.exec("operator", "cron.create", YEARLY | {"target": "herno"}))
    assert unknown == (404, "NOT_FOUND", "There is no agent 'herno'. Did you mean heron?")


def test_words_of_agents_mean_the_same(daemon: Running, heron: httpx2.Client) -> None:  # O 7.3, O 7.4
    written = {"every": "5m", "task": "Look.", "title": f"t{next(NUMBERS)}", "timezone": "UTC"}
    answer = daemon.exec("agent/heron", "remind", written).json()["result"]
    assert (answer["schedule_type"], answer["prompt"]) == ("interval", "Look.")
    timed = daemon.exec("agent/heron", "schedule_task", {"at": "2099-01-01T00:00Z", "text": "x"}).json()
    assert (timed["result"]["schedule_type"], timed["result"]["misfire"]) == ("once", "run_once")


def test_a_name_that_is_given_again_takes_no_timer_away(
    daemon: Running, heron: httpx2.Client
) -> None:  # T-55
    first = made(daemon)
    again = daemon.exec("agent/heron", "cron.create", YEARLY | {"name": first["name"]})
    assert refused(again)[1] == "DUPLICATE_ID"
    assert made(daemon, "operator", target="heron", name=first["name"])["id"] != first["id"]


def test_an_update_changes_what_is_given_and_nothing_else(
    daemon: Running, heron: httpx2.Client
) -> None:  # T-64
    timer = made(daemon, overlap="queue", jitter_s=30)
    changed = daemon.exec("agent/heron", "cron.update", {"id": timer["name"], "prompt": "New."}).json()[
        "result"
    ]
    kept = ("schedule", "overlap", "jitter_s", "next", "tz", "name")
    assert {key: changed[key] for key in kept} == {key: timer[key] for key in kept}
    assert changed["prompt"] == "New."
    moved = daemon.exec("agent/heron", "cron.update", {"id": timer["id"], "tz": "Asia/Kolkata"}).json()
    assert moved["result"]["next"][0].endswith("T00:00:00+05:30")
    bad = daemon.exec("agent/heron", "cron.update", {"id": timer["id"], "schedule": "x", "prompt": "y"})
    assert refused(bad)[1] == "INVALID_ARGS"
    assert heron.get(f"/timers/{timer['id']}").json()["prompt"] == "New."


def test_pause_resume_and_cancel(daemon: Running, heron: httpx2.Client) -> None:  # T-65
    timer = made(daemon)
    paused = daemon.exec("agent/heron", "cron.pause", {"id": timer["id"], "why": "holidays"}).json()["result"]
    assert (paused["state"], paused["reason"], paused["next"]) == ("paused", "holidays", [])
    resumed = daemon.exec("agent/heron", "cron.resume", {"id": timer["id"]}).json()["result"]
    assert (resumed["state"], resumed["next"]) == ("active", timer["next"])
    for _ in range(2):
        cancelled = daemon.exec("agent/heron", "cron.cancel", {"id": timer["id"]}).json()["result"]
        assert cancelled["state"] == "cancelled"
    names = [one["id"] for one in daemon.exec("agent/heron", "cron.list").json()["result"]["timers"]]
    assert timer["id"] not in names
    gone = refused(daemon.exec("agent/heron", "cron.resume", {"id": timer["id"]}))
    assert "was cancelled; make a new one" in gone[2]


def test_a_list_shows_ones_own_timers_and_an_operator_all(
    daemon: Running, heron: httpx2.Client
) -> None:  # T-67
    mine, theirs = made(daemon)["id"], made(daemon, "operator", target="heron")["id"]
    own = {one["id"] for one in daemon.exec("agent/heron", "cron.list").json()["result"]["timers"]}
    every = daemon.exec("operator", "cron.list", {"limit": 500}).json()["result"]["timers"]
    assert mine in own
    assert theirs not in own
    assert {mine, theirs} <= {one["id"] for one in every}


def test_a_preview_makes_nothing(daemon: Running, heron: httpx2.Client) -> None:
    before = daemon.exec("operator", "cron.list").json()["result"]
    body = {"schedule": "30 2 * * *", "tz": "Europe/Berlin", "count": 3}
    shown = heron.post("/timers/preview", json=body).json()
    assert (shown["schedule_type"], len(shown["next"])) == ("cron", 3)
    wrong = heron.post("/timers/preview", json={"schedule": "soon"})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "INVALID_ARGS")
    assert daemon.exec("operator", "cron.list").json()["result"] == before


def test_a_run_is_asked_for_answered_and_ended(daemon: Running, heron: httpx2.Client) -> None:  # O 7.6
    timer = made(daemon)
    run = heron.post(f"/timers/{timer['name']}/run", json={})
    assert run.status_code == 201, run.text
    assert heron.post(f"/timers/{timer['id']}/run", json={}).json()["code"] == "BUSY"
    asked = run.json()
    reply = heron.post(
        "/threads/heron/messages", json={"body": "[RESULT] PASS", "in_reply_to": asked["message"]}
    ).json()
    body = {"reply": reply["id"], "verdict": "PASS", "summary": "all well"}
    assert heron.post("/verdicts", json=body).status_code == 403
    told = [daemon.client("harvester").post("/verdicts", json=body).json() for _ in range(2)]
    assert told[0] == told[1]
    assert (told[0]["job"], told[0]["run"]["outcome"]) == (asked["job"], "PASS")
    (row,) = heron.get(f"/timers/{timer['id']}/runs").json()["runs"]
    assert (row["state"], row["outcome"], row["summary"]) == ("ended", "PASS", "all well")
    assert heron.get(f"/jobs/{asked['job']}").json()["result"]["verdict"] == "PASS"


def test_a_verdict_needs_a_reply_on_record(daemon: Running, heron: httpx2.Client) -> None:  # O-33
    note = daemon.client("operator").post("/threads/heron/messages", json={"body": "[RESULT] PASS"}).json()
    for reply in (note["id"], "msg-0"):
        answer = daemon.client("harvester").post("/verdicts", json={"reply": reply, "verdict": "PASS"})
        assert answer.status_code == 404


def test_a_job_of_a_timer_is_cancelled_like_any_other(daemon: Running, heron: httpx2.Client) -> None:
    timer = made(daemon)
    job = heron.post(f"/timers/{timer['id']}/run", json={}).json()["job"]
    over = heron.post(f"/jobs/{job}/cancel", json={}).json()
    assert (over["state"], over["error"]["code"]) == ("failed", "CANCELLED")
    assert heron.get(f"/timers/{timer['id']}/runs").json()["runs"][0]["outcome"] == "CANCELLED"


def test_a_timer_fires_in_a_daemon_that_serves(daemon: Running, heron: httpx2.Client) -> None:  # T-68
    timer = made(daemon, schedule="1s", max_runs=1)
    until(lambda: heron.get(f"/timers/{timer['id']}").json()["state"] == "completed")
    (run,) = heron.get(f"/timers/{timer['id']}/runs").json()["runs"]
    message = heron.get("/threads/heron/messages?after=0&limit=500").json()["messages"][-1]
    assert (message["id"], message["kind"], message["author_kind"]) == (run["message"], "envelope", "system")


def test_a_timer_made_in_a_thread_of_the_agent_wakes_it_there(
    daemon: Running, heron: httpx2.Client
) -> None:  # O-84
    daemon.client("operator").post("/threads", json={"id": "side", "agent": "heron"})
    assert made_in(daemon, "side")["thread"] == "side"
    assert made_in(daemon, None)["thread"] is None


def test_a_work_order_has_a_title_an_assignee_a_deadline_and_a_verdict(
    daemon: Running, heron: httpx2.Client
) -> None:  # O-83
    operator = daemon.client("operator")
    body = {"agent": "heron", "title": "Free the disk", "text": "Say what may go.", "deadline_s": 60}
    order = operator.post("/orders", json=body).json()
    message = heron.get(f"/messages/{order['message']}").json()["message"]
    assert (message["kind"], message["author_kind"]) == ("work_order", "system")
    reply = heron.post("/threads/heron/messages", json={"body": "Done.", "in_reply_to": message["id"]}).json()
    told = {"reply": reply["id"], "verdict": "PASS", "summary": "2 GB freed"}
    assert daemon.client("harvester").post("/verdicts", json=told).json()["job"] == order["job"]
    job = operator.get(f"/jobs/{order['job']}").json()
    assert (job["args"]["name"], job["args"]["agent"]) == ("Free the disk", "heron")
    assert job["args"]["deadline"] == order["deadline"]
    assert (job["result"]["verdict"], job["result"]["summary"]) == ("PASS", "2 GB freed")
    assert operator.post("/orders", json=body | {"agent": "herno"}).status_code == 404
    assert operator.post("/orders", json=body | {"thread": "wren"}).status_code == 404
    assert heron.post("/orders", json=body).status_code == 403


def made_in(daemon: Running, thread: str | None) -> dict[str, Any]:
    fields = YEARLY | {"name": f"t{next(NUMBERS)}"}
    answer = daemon.exec("agent/heron", "cron.create", fields, **({"thread": thread} if thread else {}))
    return dict(answer.json()["result"])
