"""One shape for all reads, made safe and small in one place (O-45)."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

import pytest

from exec_daemon.box import ACTIONS, Action, BoxContext, BoxError, FactsUnavailable, read
from exec_daemon.box.bounds import size_bytes
from messaging import ErrorCode
from tests.exec_daemon.box.conftest import logs_of

ARGUMENTS = {
    "job": "job-heron",
    "thread": "heron",
    "agent": "heron",
    "worker": "w1",
    "timer": "nightly",
    "process": "1",
    "logs": "daemon",
    "repo": "gateway",
}


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_every_read_has_the_same_shape(action: Action, context: BoxContext, repository) -> None:  # O-45
    context = replace(context, repos={"gateway": repository.root})
    document = read(action.name, ARGUMENTS.get(action.name), context)
    assert {"action", "host", "at", "data"} <= set(document) <= {*document, "truncated", "notes"}
    assert document["action"] == action.name
    assert document["at"] == "2026-09-21T14:13:20.000Z"
    assert isinstance(document["data"]["available"], bool)
    assert json.loads(json.dumps(document)) == document
    assert size_bytes(document) <= 64 * 1024


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_a_box_without_store_repos_tmux_and_logs_answers_every_read(action: Action, tmp_path) -> None:  # O-45
    bare = BoxContext(tmux_socket=tmp_path / "none", sample_s=0.0)
    if action.name == "repo":
        with pytest.raises(BoxError) as unknown:
            read("repo", "gateway", bare)
        assert unknown.value.error.code is ErrorCode.NOT_FOUND
        return
    document = read(action.name, ARGUMENTS.get(action.name), bare)
    assert document["data"]["available"] or document["notes"]


class Broken:
    def __getattr__(self, _name: str):
        def ask(*_args: object):
            raise FactsUnavailable("the disk is on fire")

        return ask


@pytest.mark.parametrize(
    "action", [a for a in ACTIONS if a.source == "store"], ids=lambda action: action.name
)
def test_a_store_that_cannot_answer_is_a_typed_error(action: Action) -> None:
    with pytest.raises(BoxError) as failed:
        read(action.name, ARGUMENTS.get(action.name), BoxContext(facts=Broken()))
    assert failed.value.error.code is ErrorCode.UNAVAILABLE
    assert failed.value.error.retryable


def test_known_secrets_and_terminal_codes_leave_no_reading(context: BoxContext) -> None:
    hostile = "\x1b]0;title\x07\x1b[31mred\x1b[0m sk-abcdefghijklmnopqrst correct-horse-battery"
    (logs_of(context) / "daemon.log").write_text(f"{hostile}\n")
    context = replace(context, secrets=("correct-horse-battery",))
    (line,) = read("logs", "daemon", context)["data"]["lines"]
    assert line == "red [REDACTED] [REDACTED]"


def test_a_long_reading_is_cut_and_says_so(context: BoxContext, facts, make_message) -> None:
    bodies = [make_message("heron", seq, "x" * 10_000) for seq in range(50)]
    facts.last_messages = lambda _thread, _limit: bodies
    document = read("thread", "heron", context)
    assert size_bytes(document) <= 64 * 1024
    assert document["truncated"]
    assert any(note.startswith("messages: ") and note.endswith("of 50 shown") for note in document["notes"])
    assert document["data"]["messages"][-1]["seq"] == 49  # the newest stays


@contextmanager
def no_descriptors_left() -> Iterator[None]:
    """Every descriptor that this process may have is taken."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    held: list[int] = []
    try:
        with suppress(OSError):
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        yield
    finally:
        for descriptor in held:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.needs("git")
def test_a_process_without_descriptors_answers_and_recovers(context: BoxContext, repository) -> None:
    context = replace(context, repos={"gateway": repository.root})
    with no_descriptors_left():
        documents = [read(action.name, None, context) for action in ACTIONS if action.argument is None]
        repos = read("repo", "gateway", context)
    assert len(documents) == 19
    assert repos["data"] == {"available": False}
    assert "Too many open files" in repos["notes"][0]
    assert read("repo", "gateway", context)["data"]["branch"] == "main"
