"""The web page beside the whole program: a reply is harvested while a person looks at its thread."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.patience import PATIENCE_S
from tests.soak._parts import Parts

expect.set_options(timeout=PATIENCE_S * 1000)

REPLY = """[TOOL box.exec {"action": "disk"}]

[TOOL box.exec {"action": "dsk"}]

> [TOOL tools.list]
"""


@pytest.mark.needs("chromium")
def test_a_reply_is_marked_when_it_comes_and_its_outcomes_when_they_do(tmp_path: Path) -> None:
    with Parts(tmp_path) as parts, parts.client() as client, sync_playwright() as playwright:
        client.add_agent("heron")
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_context(ignore_https_errors=True).new_page()
        page.goto(client.sign_in_link())
        page.click("button[type=submit]")
        page.goto(f"{client.url}/ui/threads/heron")
        client.post_message("heron", REPLY, as_agent="heron")
        marks = page.locator(".message.agent .marks li")
        expect(marks.nth(0).locator(".outcome")).to_have_text("ok")
        expect(marks.nth(1).locator(".outcome")).to_have_text("failed")
        expect(marks.nth(2)).to_contain_text("inside a block quote")
        expect(page.locator(".message.system pre")).to_contain_text("Did you mean disk?")
        browser.close()
