"""Screenshots of the web page for docs/screens/: each page, light and dark and as wide as a phone.

`.venv/bin/python scripts/screens.py` makes them anew, from the daemon that the browser tests use; it needs
Debian's chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import sync_playwright

from exec_daemon.web.pages import PAGES
from tests.exec_daemon.web.conftest import filled

SCREENS: Final = Path(__file__).resolve().parent.parent / "docs" / "screens"
WAYS: Final[dict[str, dict[str, Any]]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1100, "height": 720}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1100, "height": 720}},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 760}},
}


def paths(running: Any) -> dict[str, str]:
    """A name for each page, and one path that shows it."""
    job = running.client("operator").get("/jobs").json()["jobs"][0]["id"]
    examples = {"{id}": "heron", "{op}": "dm.send"}
    found = {}
    for page in PAGES:
        if page.path.count("{") > 1:
            continue
        path = page.path.replace("/ui/jobs/{id}", f"/ui/jobs/{job}")
        for place, example in examples.items():
            path = path.replace(place, example)
        found[page.template.removesuffix(".html")] = path
    return found


def main() -> int:
    """Makes all of them."""
    program = shutil.which("chromium")
    if program is None:
        sys.exit("screens: chromium is not installed: sudo apt install chromium")
    shutil.rmtree(SCREENS, ignore_errors=True)
    SCREENS.mkdir()
    with tempfile.TemporaryDirectory() as home:
        running = filled(Path(home) / "home")
        try:
            running.exec("agent/heron", "dm.send", {"to": "wren", "text": "May I restart the build?"})
            shoot(running, program)
        finally:
            running.stop()
    return 0


def shoot(running: Any, program: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for way, context in WAYS.items():
            page = browser.new_context(ignore_https_errors=True, **context).new_page()
            link = running.client("operator").post("/sign-in-links", json={}).json()["path"]
            page.goto(running.url + link)
            page.click("button[type=submit]")
            for name, path in paths(running).items():
                page.goto(running.url + path)
                page.screenshot(path=SCREENS / f"{name}-{way}.png", full_page=True)
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
