"""A browser, and a daemon with something to see. Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from exec_daemon.access.approval import ApprovalPolicy
from exec_daemon.access.policy import Policy
from exec_daemon.operator_ops.spec import specs
from exec_daemon.worker_template import WorkerRuntime, WorkerTemplate
from exec_daemon.workers.rules import WorkerRules
from harvester import ScanPolicy
from inband.explain import page_marks
from tests.exec_daemon.conftest import start
from tests.patience import PATIENCE_S

expect.set_options(timeout=PATIENCE_S * 1000)

HOSTILE = '<script>window.pwned = 1</script><img src=x onerror="window.pwned = 2">"\'>{{7*7}}'
REPLY = """I will look.

[TOOL box.exec {"action": "disk"}]

[DM {"to": "nobody", "text": "42 % used"}]

The log said `[TOOL tools.list]`, which I only quote.

[RESULT] PASS
"""
RESULTS = """#1 box.exec disk · ok · 12 ms · job job-1
```
/ 42 % of 100 GB
```

#2 dm.send nobody · failed · 3 ms
```
NOT_FOUND: there is no agent nobody
```"""


def filled(home: Path) -> Any:
    """A daemon with two threads, jobs, a timer, a worker, usage, and an op that takes its time."""
    made = start(
        home,
        marker=page_marks(ScanPolicy()),
        ops=specs({"nap.take": {"argv": ["/bin/sleep", "30"], "summary": "Sleep for half a minute."}}),
        policy=Policy(approvals=ApprovalPolicy(ops=("dm.send",))),
        workers=WorkerRules(templates={"coder": WorkerTemplate(name="coder", runtime=WorkerRuntime.TMUX)}),
    )
    fill(made)
    return made


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    made = filled(tmp_path_factory.mktemp("home"))
    yield made
    made.stop()


def fill(made: Any) -> None:
    operator, harvester = made.client("operator"), made.client("harvester")
    for name in ("heron", "wren"):
        made.agent(name)
    say(operator, "heron", body="How full is the disk? Tell wren.")
    reply = say(operator, "heron", body=REPLY, **{"as": "heron"})
    say(harvester, "heron", body=RESULTS, in_reply_to=reply["id"])
    operator.post("/threads", json={"id": "odd", "title": HOSTILE, "agent": "wren"})
    say(operator, "odd", body=f"{HOSTILE}\n\n[TOOL tools.list]", **{"as": "wren"})
    for action in ("disk", "memory"):
        made.exec("operator", "box.exec", {"action": action})
    made.exec("operator", "dm.send", {"to": "nobody", "text": "x"})
    made.exec("operator", "dm.send", {"to": "wren", "text": HOSTILE})
    timer = {"schedule": "30 7 * * 1-5", "prompt": HOSTILE, "name": "nightly", "target": "heron"}
    assert made.exec("operator", "cron.create", timer).status_code == 200
    spawn = {"prompt": HOSTILE, "name": HOSTILE[:60], "agent": "coder"}
    assert made.exec("operator", "swarm.spawn", spawn).status_code == 200
    for agent, tokens in (("heron", 42_000), ("wren", 17_000)):
        run = {"key": "k1", "model": "m", "input_tokens": tokens, "output_tokens": 1000}
        operator.post(f"/agents/{agent}/runs", json=run)


def say(client: Any, thread: str, **message: Any) -> dict[str, Any]:
    answer = client.post(f"/threads/{thread}/messages", json=message)
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json()
    return body


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium not installed: sudo apt install chromium")
    with sync_playwright() as playwright:
        # As root there is no sandbox; what it shows is our own page.
        made = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield made
        made.close()


@dataclass
class Visit:
    """A signed-in page, and what its browser complained of or asked of whom."""

    page: Page
    url: str
    complaints: list[str]
    asked: list[str]

    def go(self, path: str) -> Page:
        self.page.goto(self.url + path)
        return self.page


Visiting = Callable[..., Visit]


@pytest.fixture
def visit(browser: Browser, running: Any) -> Iterator[Visiting]:
    """Opens a browser context of its own, signed in as somebody."""
    opened: list[BrowserContext] = []

    def begin(who: str = "operator", **context: Any) -> Visit:
        made = browser.new_context(ignore_https_errors=True, **context)
        made.set_default_timeout(PATIENCE_S * 1000)
        opened.append(made)
        visit = Visit(made.new_page(), running.url, [], [])
        visit.page.on("console", lambda said: visit.complaints.append(said.text))
        visit.page.on("pageerror", lambda fault: visit.complaints.append(str(fault)))
        visit.page.on("request", lambda request: visit.asked.append(request.url))
        link = running.client(who).post("/sign-in-links", json={}).json()["path"]
        visit.go(link).click("button[type=submit]")
        visit.page.wait_for_url(f"{running.url}/")
        return visit

    yield begin
    for context in opened:
        context.close()
