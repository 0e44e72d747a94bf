"""The web page in a real browser: what it shows, what it does, and what nobody can make it do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from exec_daemon.web.pages import PAGES
from tests.exec_daemon.web.conftest import HOSTILE, Visiting, say

pytestmark = pytest.mark.needs("chromium")

READABLE = [
    *(page.path for page in PAGES if "{" not in page.path),
    *("/ui/threads/heron", "/ui/threads/odd", "/ui/ops/dm.send"),
]
CONTRASTS = Path(__file__).with_name("contrasts.js").read_text().partition("\n")[2].rstrip().rstrip(";")


def test_a_link_signs_in_once_and_a_wrong_token_is_said_to_be_wrong(browser: Browser, running: Any) -> None:
    link = running.client("operator").post("/sign-in-links", json={}).json()["path"]
    for words in ("Overview", "This link was used"):
        context = browser.new_context(ignore_https_errors=True)
        page = context.new_page()
        page.goto(running.url + link)
        page.click("button[type=submit]")
        expect(page.locator("main")).to_contain_text(words)
        context.close()
    context = browser.new_context(ignore_https_errors=True)
    page = context.new_page()
    page.goto(f"{running.url}/ui/threads")
    page.fill("#token", "inband_wrong")
    page.click("button[type=submit]")
    expect(page.get_by_role("alert")).to_contain_text("unknown, expired or revoked")
    page.fill("#token", running.token("operator"))
    page.click("button[type=submit]")
    page.wait_for_url(f"{running.url}/ui/threads")
    context.close()


def test_each_directive_of_a_reply_is_marked_with_how_it_ended_and_what_was_passed_over_with_the_rule(
    visit: Visiting,
) -> None:
    page = visit().go("/ui/threads/heron")
    marks = page.locator(".message.agent .marks li")
    expect(marks).to_have_count(4)
    assert [text.split("calls")[0] for text in marks.all_text_contents()[:2]] == ["#1 F1: ", "#2 F2: "]
    expect(marks.nth(0)).to_contain_text("ok")
    expect(marks.nth(1)).to_contain_text("failed")
    expect(marks.nth(2)).to_contain_text("code span")
    expect(marks.nth(3)).to_contain_text("verdict PASS")


def test_a_thread_grows_while_it_is_looked_at_and_the_reply_learns_its_outcome(
    visit: Visiting, running: Any
) -> None:
    page = visit().go("/ui/threads/wren")
    reply = say(running.client("operator"), "wren", body="[TOOL tools.list]", **{"as": "wren"})
    shown = page.locator(f"#m{reply['seq']}")
    expect(shown).to_contain_text("no result yet")
    result = "#1 tools.list · ok · 2 ms · job job-9"
    say(running.client("harvester"), "wren", body=result, in_reply_to=reply["id"])
    expect(shown.locator(".outcome")).to_have_text("ok")
    expect(page.locator(f"#m{reply['seq'] + 1}")).to_contain_text("tools.list · ok")


def test_an_op_is_called_by_its_form_and_its_job_is_one_click_away(visit: Visiting) -> None:
    page = visit().go("/ui/ops/box.exec")
    page.select_option("select[name=action]", "disk")
    page.click("button[type=submit]")
    expect(page.locator(".answer pre.ok")).to_contain_text('"ok": true')
    page.click(".answer a")
    expect(page.locator("dl.facts")).to_contain_text("box.exec")


def test_a_dry_run_runs_nothing_and_wrong_arguments_are_shown(visit: Visiting, running: Any) -> None:
    page = visit().go("/ui/ops/dm.send")
    before = len(running.client("operator").get("/threads/heron/messages").json()["messages"])
    page.fill("[name=to]", "heron")
    page.fill("[name=text]", "never sent")
    page.click("[data-dry-run]")
    expect(page.locator(".answer pre.ok")).to_contain_text("would")
    page.fill("[name=to]", "NOT A NAME")
    page.click("button[type=submit]")
    expect(page.locator(".answer pre.failed")).to_contain_text("INVALID_ARGS")
    assert len(running.client("operator").get("/threads/heron/messages").json()["messages"]) == before


def test_a_worker_leads_to_what_it_said_and_to_its_job(visit: Visiting) -> None:  # O-80
    page = visit().go("/ui/workers")
    row = page.locator("tbody tr").first
    assert "tmux attach -t inband-w-" in row.inner_text()
    row.locator("a").first.click()
    assert "Envelope inband/1" in page.content()


def test_a_job_that_runs_is_cancelled_by_its_button(visit: Visiting, running: Any) -> None:
    begun = running.client("operator").post(
        "/exec", json={"op": "nap.take"}, headers={"prefer": "respond-async"}
    )
    page = visit().go(f"/ui/jobs/{begun.json()['job_id']}")
    page.click("text=Cancel this job")
    expect(page.locator("dl.facts .state")).to_have_text("failed")
    expect(page.locator("main")).to_contain_text("CANCELLED")


def test_a_call_that_waits_for_a_person_is_shown_whole_and_approved_by_its_button(
    visit: Visiting, running: Any
) -> None:  # O-36
    text = f"May I? {HOSTILE}"
    asked = running.exec("agent/heron", "dm.send", {"to": "wren", "text": text, "priority": "high"})
    assert asked.status_code == 202, asked.text
    page = visit().go("/ui/approvals")
    expect(page.locator(".card")).to_contain_text("dm.send for agent/heron")
    expect(page.locator(".card pre")).to_contain_text("May I? <script>")
    page.click("text=Approve >> nth=-1")
    expect(page.locator("main")).to_contain_text("Nothing waits for you")
    said = running.client("operator").get("/threads/wren/messages").json()["messages"]
    assert [message["body"] for message in said if message["kind"] == "dm"][-1] == text


def test_an_agent_that_signs_in_sees_no_approvals(visit: Visiting) -> None:
    page = visit("agent/wren").go("/ui/approvals")
    expect(page.locator("h1")).to_have_text("FORBIDDEN")


def test_who_may_not_is_told_so_by_the_page_as_by_the_api(visit: Visiting) -> None:
    page = visit("viewer/eye").go("/ui/ops/dm.send")
    expect(page.locator("main")).to_contain_text("You may not call it")
    page.fill("[name=to]", "heron")
    page.fill("[name=text]", "x")
    page.click("button[type=submit]")
    expect(page.locator(".answer pre.failed")).to_contain_text("FORBIDDEN")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_readable_asks_nobody_else_and_breaks_no_rule_of_its_own(
    visit: Visiting, scheme: str
) -> None:
    seen = visit(color_scheme=scheme)
    for path in READABLE:
        page = seen.go(path)
        assert page.evaluate(CONTRASTS) == [], path
        assert page.evaluate("window.pwned") is None, path
    assert seen.complaints == []
    assert {str(httpx2.URL(url).copy_with(raw_path=b"/")).rstrip("/") for url in seen.asked} == {seen.url}


def test_what_others_wrote_is_text_in_every_place(visit: Visiting) -> None:
    seen = visit()
    for path in ("/ui/threads", "/ui/threads/odd", "/ui/threads/wren", "/"):
        page = seen.go(path)
        expect(page.locator("main")).to_contain_text("onerror=")
        assert page.locator("main img, main script").count() == 0
        assert page.evaluate("window.pwned") is None
    assert HOSTILE in seen.go("/ui/threads/odd").locator("h1").inner_text()


def test_on_a_phone_no_page_is_wider_than_the_screen(visit: Visiting) -> None:
    seen = visit(viewport={"width": 360, "height": 740}, is_mobile=True)
    for path in READABLE:
        page = seen.go(path)
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0, path


def test_pages_can_be_read_without_javascript(visit: Visiting) -> None:
    seen = visit(java_script_enabled=False)
    for path in READABLE:
        expect(seen.go(path).locator("h1")).to_be_visible()
    assert "<noscript><p>This form needs JavaScript" in seen.go("/ui/ops/dm.send").content()


def test_the_keyboard_reaches_the_content_first_and_shows_where_it_is(visit: Visiting) -> None:
    page = visit().go("/ui/jobs")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main"
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_signing_out_ends_the_session_and_a_revoked_token_does_too(visit: Visiting, running: Any) -> None:
    page = visit().go("/")
    page.click("text=Sign out")
    page.wait_for_url("**/sign-in*")
    page.goto(f"{running.url}/ui/jobs")
    expect(page.locator("h1")).to_have_text("Sign in")

    seen = visit("viewer/gone")
    expect(seen.go("/ui/jobs").locator("h1")).to_have_text("Jobs")
    tokens = running.client("operator").get("/tokens").json()["tokens"]
    [token] = [one["id"] for one in tokens if one["identity"] == "viewer/gone"]
    running.client("operator").delete(f"/tokens/{token}")
    expect(seen.go("/ui/jobs").locator("h1")).to_have_text("Sign in")
