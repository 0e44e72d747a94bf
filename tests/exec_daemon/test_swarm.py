"""Workers over the API: who may have which started, how many, what becomes of their jobs (O 7.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from exec_daemon.access.grants import Grant
from exec_daemon.access.policy import Policy
from exec_daemon.worker_template import WorkerRuntime, WorkerTemplate
from exec_daemon.workers.rules import WorkerRules
from tests.exec_daemon.conftest import Running, start
from tests.patience import meanwhile

CODER = WorkerTemplate(name="coder", in_folder=True, time_limit_s=600)
SHELL = WorkerTemplate(name="shell", runtime=WorkerRuntime.TMUX, most=100)
MANY = WorkerRules(
    templates={"coder": CODER, "shell": SHELL}, most_alive=100, most_per_hour=100, most_depth=2
)


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = start(tmp_path_factory.mktemp("swarm") / "home", workers=MANY)
    yield running
    running.stop()


def call(client: Any, op: str, **args: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.post("/exec", json={"op": op, "args": args}).json()
    return answer


def spawned(client: Any, **args: Any) -> dict[str, Any]:
    answer = call(client, "swarm.spawn", **{"prompt": "look", "agent": "shell"} | args)
    assert answer["ok"], answer
    worker: dict[str, Any] = answer["result"]["workers"][0]
    return worker


def refused(answer: dict[str, Any]) -> tuple[str, str]:
    assert not answer["ok"], answer
    return answer["error"]["code"], answer["error"]["message"]


def says(box: Running, worker: dict[str, Any], text: str) -> str:
    """A reply of the worker, as its host records it."""
    path = f"/threads/{worker['thread']}/messages"
    return str(box.client("harvester").post(path, json={"body": text, "as": worker["id"]}).json()["id"])


def reported(box: Running, worker: dict[str, Any], state: str, **more: str) -> dict[str, Any]:
    path = f"/workers/{worker['id']}/state"
    found: dict[str, Any] = box.client("harvester").post(path, json={"state": state, **more}).json()
    return found


def job(box: Running, worker: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = box.client("operator").get(f"/jobs/{worker['job']}").json()
    return found


def test_a_worker_gets_a_thread_an_envelope_and_a_job_of_its_own(box: Running) -> None:  # O-60, O-63
    worker = spawned(box.agent("heron"), prompt="Count the disks.", name="disks")
    assert worker["job"].removeprefix("job-") == worker["id"].removeprefix("w-")
    (envelope,) = box.client("operator").get(f"/threads/{worker['thread']}/messages").json()["messages"]
    assert envelope["kind"] == "envelope"
    assert f"worker: tmux attach -t inband-{worker['id']}" in envelope["body"]
    assert f"job: {worker['job']}" in envelope["body"]
    assert "Count the disks." in envelope["body"]
    assert "[TOOL dm.send" in envelope["body"]
    assert "[TOOL swarm.spawn" not in envelope["body"]  # a worker may not
    assert (job(box, worker)["state"], job(box, worker)["identity"]) == ("running", "agent/heron")


def test_the_same_call_again_starts_nobody(box: Running) -> None:
    heron = box.agent("heron")
    body = {"op": "swarm.spawn", "args": {"prompt": "x", "agent": "shell"}, "call_id": "once"}
    first, again = (heron.post("/exec", json=body).json() for _ in range(2))
    assert again["replayed"]
    assert again["result"] == first["result"]


def test_a_count_starts_as_many_with_a_name_each(box: Running) -> None:
    answer = call(box.agent("heron"), "swarm.spawn", prompt="x", agent="shell", name="reader", count=3)
    assert [one["name"] for one in answer["result"]["workers"]] == ["reader-1", "reader-2", "reader-3"]


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        ({"agent": "codr"}, "NOT_FOUND", "Did you mean coder?"),
        ({"agent": None}, "INVALID_ARGS", "agent"),
        ({"agent": "coder", "cwd": "/etc"}, "INVALID_ARGS", "cwd: must be a relative path"),
        ({"agent": "coder", "cwd": "a/../../b"}, "INVALID_ARGS", "without `..`"),
        ({"cwd": "a"}, "INVALID_ARGS", "the template shell has no folder"),
        ({"agent": "coder", "timeout_s": 601}, "INVALID_ARGS", "at most 600 seconds"),
        ({"count": 9}, "INVALID_ARGS", "count"),
        ({"prompt": "é" * 9000}, "TOO_LARGE", "18000 bytes"),
        ({"argv": ["sh"]}, "INVALID_ARGS", "argv: unknown argument"),
    ],
)
def test_what_cannot_be_started_says_why(box: Running, args: dict[str, Any], code: str, says: str) -> None:
    wrong = call(box.agent("heron"), "swarm.spawn", **{"prompt": "look", "agent": "shell"} | args)
    assert refused(wrong)[0] == code
    assert says in refused(wrong)[1]


def test_without_templates_the_way_out_is_named(daemon: Running) -> None:
    wrong = call(daemon.agent("heron"), "swarm.spawn", prompt="x")
    assert refused(wrong)[0] == "NOT_FOUND"
    assert "docs/workers.md" in refused(wrong)[1]


def test_a_verdict_in_its_reply_ends_its_job_and_then_it(box: Running) -> None:  # O 7.6
    worker = spawned(box.agent("heron"))
    reply = says(box, worker, "[RESULT] PASS: green")
    box.client("harvester").post("/verdicts", json={"reply": reply, "verdict": "PASS", "summary": "green"})
    assert job(box, worker)["result"]["verdict"] == "PASS"
    assert not box.client("harvester").get(f"/workers/{worker['id']}").json()["stays"]
    assert reported(box, worker, "ended", reason="its job is over")["state"] == "ended"
    last = box.client("operator").get("/threads/heron/messages").json()["messages"][-1]
    assert last["kind"] == "notice"
    assert last["body"] == f"The worker {worker['id']} is over: PASS: green."


def test_one_that_ends_without_a_verdict_fails_its_job(box: Running) -> None:
    worker = spawned(box.agent("heron"))
    reported(box, worker, "failed", reason="its program ended with 3")
    failed = job(box, worker)["error"]
    assert failed["code"] == "NO_VERDICT"
    assert failed["message"] == "the worker ended without a verdict: its program ended with 3"


def test_what_a_host_says_too_late_changes_nothing(box: Running) -> None:
    worker = spawned(box.agent("heron"))
    reported(box, worker, "ended", reason="done")
    assert reported(box, worker, "running")["state"] == "ended"
    assert reported(box, worker, "failed", reason="late")["reason"] == "done"


def test_a_heartbeat_moves_the_time_and_nothing_else(box: Running) -> None:
    worker = spawned(box.agent("heron"))
    first, again = reported(box, worker, "running"), reported(box, worker, "running")
    assert first["heartbeat_at"] <= again["heartbeat_at"]
    assert first["updated_at"] == again["updated_at"]


def test_a_stop_ends_the_job_at_once_and_asks_the_host_for_the_rest(box: Running) -> None:
    worker = spawned(box.agent("heron"))
    stopped = call(box.client("operator"), "swarm.stop", worker=worker["id"], reason="enough")
    assert stopped["result"]["state"] == "stopping"
    assert job(box, worker)["error"]["code"] == "CANCELLED"
    again = call(box.client("operator"), "swarm.stop", worker=worker["id"])
    assert again["result"]["state"] == "stopping"
    assert reported(box, worker, "running")["state"] == "stopping"
    assert reported(box, worker, "ended")["state"] == "ended"
    late = call(box.client("operator"), "swarm.send", worker=worker["id"], text="more")
    assert refused(late) == ("NOT_FOUND", f"The worker {worker['id']} is over: enough.")


def test_a_message_goes_into_its_thread(box: Running) -> None:
    worker = spawned(box.client("operator"), name="told")
    sent = call(box.client("operator"), "swarm.send", worker="told", text="hurry")
    assert sent["result"]["thread"] == worker["thread"]
    last = box.client("operator").get(f"/threads/{worker['thread']}/messages").json()["messages"][-1]
    assert (last["kind"], last["author_kind"], last["body"]) == ("dm", "human", "hurry")


def test_a_foreign_worker_is_like_one_that_is_not_there(box: Running) -> None:  # T-52, O-46
    worker = spawned(box.agent("heron"))
    wren = box.agent("wren")
    assert wren.get(f"/workers/{worker['id']}").status_code == 404
    assert wren.get("/workers").json()["workers"] == []
    assert wren.post(f"/workers/{worker['id']}/state", json={"state": "ended"}).status_code == 403
    seen = call(wren, "box.exec", action="worker", arg=worker["id"])
    assert refused(seen)[0] == "NOT_FOUND"


def test_the_reads_show_workers(box: Running) -> None:  # O 7.1
    worker = spawned(box.agent("heron"))
    reported(box, worker, "running")
    found = call(box.agent("heron"), "box.exec", action="worker", arg=worker["id"])["result"]["data"]
    assert found["worker"]["alive"] is True
    assert found["worker"]["tmux_target"] == f"inband-{worker['id']}"


def harvested(box: Running, worker: dict[str, Any], op: str, **args: Any) -> dict[str, Any]:
    """A call that the harvester found in a reply of the worker."""
    reply = says(box, worker, "…")
    asked = {"op": op, "args": args, "thread": worker["thread"], "reply": reply, "on_behalf_of": worker["id"]}
    answer: dict[str, Any] = box.client("harvester").post("/exec", json=asked).json()
    return answer


def test_a_worker_writes_to_its_owner_and_to_nobody_else(box: Running) -> None:  # O 7.5
    box.agent("wren")
    worker = spawned(box.agent("heron"))
    assert harvested(box, worker, "dm.send", to="heron", text="done")["ok"]
    foreign = harvested(box, worker, "dm.send", to="wren", text="hello")
    assert refused(foreign) == ("FORBIDDEN", f"Not allowed: worker/{worker['id']} may not send to wren.")
    own = spawned(box.client("operator"))
    assert refused(harvested(box, own, "dm.send", to="heron", text="x"))[0] == "FORBIDDEN"


def test_a_worker_spawns_nobody(box: Running) -> None:  # D124
    worker = spawned(box.agent("heron"))
    wrong = refused(harvested(box, worker, "swarm.spawn", prompt="x", agent="shell"))
    assert wrong == ("FORBIDDEN", "Not allowed: the role worker does not include swarm.spawn.")


def test_a_long_poll_is_answered_by_news_and_not_by_a_heartbeat(box: Running) -> None:
    worker = spawned(box.agent("wren"))
    reported(box, worker, "running")
    host = box.client("harvester")
    seen = host.get("/workers").json()["seen"]
    reported(box, worker, "running")
    assert host.get("/workers", params={"wait": 0.1, "seen": seen}).json()["seen"] == seen
    with meanwhile(0.2, lambda: reported(box, worker, "ended")):
        assert host.get("/workers", params={"wait": 8, "seen": seen}).json()["seen"] != seen


FEW = WorkerRules(templates={"shell": SHELL}, most_alive=50, most_per_hour=60, most_depth=4)


def test_chains_and_widths_end_where_they_are_to(start_daemon: Callable[..., Running]) -> None:  # D124, D125
    """Depth 4 and width 50 for one root, exact under 50 requests at once; then 60 in an hour."""
    spawners = Policy(grants={"worker": Grant(allow=("swarm.spawn",))})
    box = start_daemon(workers=FEW, policy=spawners)
    chain = [spawned(box.agent("heron"))]
    for _ in range(3):
        answer = harvested(box, chain[-1], "swarm.spawn", prompt="deeper", agent="shell")
        chain.append(answer["result"]["workers"][0])
    last = refused(harvested(box, chain[-1], "swarm.spawn", prompt="deeper", agent="shell"))
    assert last[0] == "FORBIDDEN"
    assert "at most 4 links" in last[1]
    depths = [box.client("operator").get(f"/workers/{one['id']}").json() for one in chain]
    assert [(one["depth"], one["root"]) for one in depths] == [(at, "agent/heron") for at in (1, 2, 3, 4)]

    heron = box.agent("heron")
    with ThreadPoolExecutor(16) as pool:
        body = {"op": "swarm.spawn", "args": {"prompt": "x", "agent": "shell"}}
        answers = list(pool.map(lambda _: heron.post("/exec", json=body), range(50)))
    assert Counter(one.status_code for one in answers) == {200: 46, 429: 4}
    alive = heron.get("/workers", params={"limit": 500}).json()["workers"]
    assert len(alive) == 47  # what its workers started is theirs, and counts for it all the same

    for worker in alive[:10]:
        reported(box, worker, "ended")
        spawned(heron)
    reported(box, alive[10], "ended")
    over = refused(call(heron, "swarm.spawn", prompt="x", agent="shell"))
    assert over[0] == "RATE_LIMITED"
    assert "60 workers of agent/heron started in the last hour, at most 60" in over[1]


def test_a_worker_s_job_outlasts_the_daemon(start_daemon: Callable[..., Running]) -> None:
    first = start_daemon(workers=MANY)
    worker = spawned(first.client("operator"))
    first.stop()
    again = start_daemon(workers=MANY)
    assert job(again, worker)["state"] == "running"
    assert again.client("harvester").get(f"/workers/{worker['id']}").json()["stays"]
