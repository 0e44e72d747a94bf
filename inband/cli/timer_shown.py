"""Timers and their runs for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from inband.cli.shared import table

# What is shown of a timer besides its times, in this order; what is not set is left out.
_FACTS: Final = (
    "id",
    "state",
    "reason",
    "created_by",
    "agent",
    "thread",
    "context_mode",
    "misfire",
    "overlap",
    "script",
    "jitter_s",
    "max_runs",
    "until",
    "pause_after",
    "nudge_s",
    "deadline_s",
    "sent",
    "failures",
)
_SKIPPED: Final = {
    "missed": "nobody was there to run it",
    "overlap": "the run before was still open",
    "gate": "its gate said no",
}
HISTORY: Final = ("DUE", "STATE", "OUTCOME", "TOOK", "JOB", "SUMMARY")


def timer_rows(timers: Sequence[Mapping[str, Any]]) -> list[tuple[object, ...]]:
    """A row for each timer."""
    return [
        (
            one["id"],
            one["name"],
            one["agent"],
            one["schedule"],
            one["tz"],
            one["state"] + (f", {one['failures']} failed" if one["failures"] else ""),
            one["next"][0] if one["next"] else None,
            _outcome(one["last"]) if one["last"] else None,
        )
        for one in timers
    ]


def timer_lines(timer: Mapping[str, Any]) -> Iterator[str]:
    """One timer: what it does, its next times, its last run."""
    yield f"{timer['name']}: {timer['schedule']} ({timer['tz']}) wakes {timer['agent']}"
    yield from (f"  {name:<13}{timer[name]}" for name in _FACTS if timer[name] is not None)
    yield from next_lines(timer["next"])
    if timer["last"]:
        yield f"last  {local(timer['last']['due'], timer['tz'])}  {_outcome(timer['last'])}"
    yield "says"
    yield from (f"  {line}" for line in timer["prompt"].splitlines())


def next_lines(times: Sequence[str]) -> Iterator[str]:
    """The next times, each with its weekday."""
    yield "next" if times else "next  never"
    yield from (f"  {datetime.fromisoformat(one):%a} {one}" for one in times)


def history_lines(runs: Sequence[Mapping[str, Any]], tz: str) -> Iterator[str]:
    """Runs, the newest first."""
    yield from table([_run_row(run, tz) for run in runs], HISTORY) if runs else ["no runs"]


def _run_row(run: Mapping[str, Any], tz: str) -> tuple[object, ...]:
    due = local(run["due"], tz)
    if run["slots"] > 1:
        due = f"{due} to {local(run['upto'], tz)}"
    summary = run["summary"] or _SKIPPED.get(run["outcome"] or "")
    return due, run["state"], _outcome(run), _took(run), run["job"], summary


def _outcome(run: Mapping[str, Any]) -> str:
    times = f" ({run['slots']} times)" if run["slots"] > 1 else ""
    nudged = ", nudged" if run["nudged"] else ""
    return f"{run['outcome'] or run['state']}{times}{nudged}"


def _took(run: Mapping[str, Any]) -> str | None:
    if run["ended_at"] is None:
        return None
    took = datetime.fromisoformat(run["ended_at"]) - datetime.fromisoformat(run["at"])
    return str(timedelta(seconds=round(took.total_seconds())))


def local(moment: str, tz: str) -> str:
    """By the clock of the timer's zone, where this machine knows it."""
    at = datetime.fromisoformat(moment)
    try:
        return at.astimezone(ZoneInfo(tz)).isoformat(timespec="seconds")
    except (ZoneInfoNotFoundError, OSError, ValueError):
        return at.isoformat(timespec="seconds")
