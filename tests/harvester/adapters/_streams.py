"""Recorded streams, and what they come to."""

from __future__ import annotations

from pathlib import Path

from harvester.adapters import ADAPTERS, AgentEvent, Ended, LineReader, Listener, Outcome, conclude

CASES = Path(__file__).parents[2] / "cases" / "agent_streams"


def lines_of(name: str) -> list[str]:
    return (CASES / name).read_text("utf-8").splitlines()


def events_of(adapter: str, lines: list[str]) -> list[AgentEvent]:
    return [event for line in lines for event in ADAPTERS[adapter].read(line)]


def outcome_of(adapter: str, lines: list[str], ended: Ended | None = None) -> Outcome:
    listener = Listener()
    for event in events_of(adapter, lines):
        listener.feed(event)
    return conclude(ADAPTERS[adapter], listener.heard, ended or Ended())


def read_in_chunks(adapter: str, chunks: list[bytes]) -> list[AgentEvent]:
    reader = LineReader()
    lines = [line for chunk in chunks for line in reader.feed(chunk)] + reader.close()
    return events_of(adapter, lines)
