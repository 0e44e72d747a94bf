"""Looking at pages is no work that somebody asked for: no jobs, no lines of the audit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exec_daemon import DaemonLimits
from exec_daemon.access.grants import Rates
from exec_daemon.access.identity import Role
from exec_daemon.web.pages import PAGES

SIMPLE = [page.path for page in PAGES if "{" not in page.path]


def test_a_look_at_any_page_makes_no_job_and_no_line_of_the_audit(daemon: Any) -> None:
    operator = daemon.client("operator")
    before = operator.get("/audit").json()
    for path in SIMPLE:
        assert operator.get(path).status_code == 200, path
    assert operator.get("/jobs").json()["jobs"] == []
    assert operator.get("/audit").json() == before


def test_what_a_page_asks_is_decided_as_a_call_is(daemon: Any) -> None:
    made = daemon.client("operator").post("/tokens", json={"identity": "viewer/few", "scopes": ["tools.*"]})
    page = daemon.bearing(made.json()["token"]).get("/ui/health")
    assert (page.status_code, page.text.count("Not allowed")) == (200, 4)


def test_what_a_page_asks_is_counted_as_a_call_is(start_daemon: Callable[..., Any]) -> None:
    rates = {role: Rates() for role in Role} | {Role.VIEWER: Rates(reads_per_min=3)}
    viewer = start_daemon(limits=DaemonLimits(rates=rates)).client("viewer/eve")
    assert "too many in the last minute" in viewer.get("/ui/health").text
