"""What a watcher found reaches the daemon's metrics."""

from __future__ import annotations

import json
import ssl
from pathlib import Path

import httpx2

from tests.soak._parts import Parts, wait_until

FOUND = 'inband_directives_total{form="F3",outcome="OK"} 1.0'
PASSED = 'inband_skipped_total{reason="code_span"} 1.0'


def scraped(home: Path) -> str:
    url = json.loads((home / "daemon.json").read_text())["url"]
    token = (home / "tokens" / "operator").read_text().strip()
    context = ssl.create_default_context(cafile=str(home / "ca.pem"))
    return httpx2.get(f"{url}/metrics", headers={"Authorization": f"Bearer {token}"}, verify=context).text


def test_a_harvested_reply_is_counted_by_form_and_by_what_was_passed_over(tmp_path: Path) -> None:
    with Parts(tmp_path) as parts, parts.client() as client:
        client.add_agent("heron")
        client.post_message("heron", "[TOOL tools.list]\n\n`[TOOL tools.list]`\n", as_agent="heron")
        wait_until(lambda: FOUND in scraped(parts.home / "state"), 30.0, "the count")
        assert PASSED in scraped(parts.home / "state")
