"""Whatever is asked of them, in whatever order, all stores answer alike: the double is no other thing."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from exec_daemon.store import Agent, AgentRun, AppendMessage, Outcome, Store, StoreError
from messaging import AuthorKind, ErrorCode, EventType, JobState, MessageKind
from tests.contracts.samples import STORES, failure, job, message, open_sample, thread, token

# Few names, so that steps meet: taken ids, replayed keys, jobs that ended.
NAMES = st.sampled_from(["a", "b", "c"])
JOBS = st.sampled_from(["job-1", "job-2", "job-3", "job-4"])
MESSAGES = st.builds(
    message,
    NAMES,
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    key=st.none() | NAMES,
    kind=st.sampled_from(MessageKind),
    author_kind=st.sampled_from(AuthorKind),
)
OUTCOMES = st.builds(Outcome, data=st.none() | st.integers() | st.lists(st.text("xy"))) | st.builds(
    Outcome, error=st.sampled_from([failure(ErrorCode.BUSY), failure(ErrorCode.NOT_FOUND)])
)
EFFECTS = st.lists(st.builds(AppendMessage, MESSAGES, st.none() | NAMES), max_size=3)


def step(name: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(st.just(name), *arguments)


STEPS = st.one_of(
    step("create_thread", st.builds(thread, NAMES, st.none() | NAMES)),
    step("append", MESSAGES),
    step("add_agent", st.builds(Agent, name=NAMES, thread=NAMES)),
    step("set_cursor", NAMES, st.integers(0, 9)),
    step("add_token", st.builds(token, NAMES, sha256=NAMES)),
    step("revoke_token", NAMES),
    step("touch_tokens", st.dictionaries(NAMES, NAMES)),
    step(
        "begin",
        st.builds(
            job,
            NAMES,
            identity=NAMES,
            args=st.dictionaries(NAMES, st.booleans(), max_size=1),
            side_effecting=st.booleans(),
            effects_inside=st.booleans(),
        ),
    ),
    step("finish", JOBS, OUTCOMES, EFFECTS),
    step("add_event", JOBS, st.sampled_from(EventType), st.dictionaries(NAMES, st.integers())),
    step("interrupt_running"),
    step(
        "add_run",
        st.builds(AgentRun, key=NAMES, agent=NAMES, model=NAMES, cost_microusd=st.none() | st.integers(0, 9)),
    ),
)


async def answer(store: Store, name: str, *arguments: Any) -> Any:
    try:
        return await getattr(store, name)(*arguments)
    except (StoreError, ValueError) as refused:
        return type(refused), str(refused)


async def everything(store: Store) -> list[Any]:
    """What can be read, in every way in which it can be read."""
    return [
        await store.threads(),
        await store.threads(agent="a", limit=2),
        [await store.messages(name, after=1) for name in "abc"],
        [await store.message(f"msg-{number}") for number in range(5)],
        await store.replies(after=1, limit=3),
        await store.last_position(),
        [await store.cursor(name) for name in "abc"],
        await store.agents(),
        await store.spending(""),
        await store.last_runs(),
        await store.tokens(),
        await store.token_by_sha256("a"),
        await store.jobs(),
        await store.jobs(identity="a", state=JobState.RUNNING),
        [await store.events(f"job-{number}") for number in range(5)],
        await store.audit(),
    ]


async def story(kind: str, steps: list[tuple[Any, ...]]) -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        store = await open_sample(kind, Path(folder))
        try:
            return [[await answer(store, *words) for words in steps], await everything(store)]
        finally:
            await store.close()


@settings(max_examples=60)
@given(st.lists(STEPS, max_size=30))
def test_all_stores_tell_the_same_story(steps: list[tuple[Any, ...]]) -> None:
    first, *others = [asyncio.run(story(kind, steps)) for kind in STORES]
    for other in others:
        assert other == first
