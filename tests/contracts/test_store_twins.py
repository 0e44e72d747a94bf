"""Whatever is asked of them, in whatever order, all stores answer alike: the double is no other thing."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from exec_daemon.store import Agent, AgentRun, AppendMessage, Excess, NewThread, Outcome, Store, StoreError
from exec_daemon.store.timer_values import Post, RunState, Start, Timer, TimerRun, TimerState, TimerStep
from exec_daemon.store.worker_values import OVER, Budget, Worker, WorkerState, WorkerStep
from messaging import AuthorKind, ErrorCode, EventType, JobState, MessageKind
from tests.contracts.samples import STORES, at, failure, job, message, open_sample, thread, token

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
# Of timers and workers: whoever makes a step gives ids that nobody has.
OUR_JOBS = st.uuids().map(lambda one: f"job-{one.hex}")
TIMES = st.sampled_from([at(second) for second in range(4)])
TIMERS = st.builds(
    Timer,
    id=NAMES,
    name=NAMES,
    created_by=NAMES,
    agent=NAMES,
    plan=st.just({}),
    state=st.sampled_from(TimerState),
    created_at=TIMES,
    updated_at=TIMES,
    next_at=st.none() | TIMES,
)
RUNS = st.builds(
    TimerRun,
    timer=NAMES,
    due=TIMES,
    at=TIMES,
    state=st.sampled_from(RunState),
    thread=NAMES,
    wake_at=st.none() | TIMES,
)


def few(what: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(what, max_size=2).map(tuple)


def sound(one: TimerStep) -> TimerStep:
    """As the port has it: the version behind `was`, and runs of its timer."""
    timer = replace(one.timer, version=(one.was or 0) + 1)
    runs = {run.due: replace(run, timer=timer.id) for run in one.added}
    changed = tuple(replace(run, timer=timer.id) for run in one.changed)
    return replace(one, timer=timer, added=tuple(runs.values()), changed=changed)


TIMER_STEPS = st.builds(
    TimerStep,
    timer=TIMERS,
    was=st.none() | st.integers(1, 2),
    added=few(RUNS),
    changed=few(RUNS),
    starts=few(st.builds(Start, OUR_JOBS, st.builds(job, NAMES, op=st.just("timer")))),
    threads=few(st.builds(NewThread, id=st.sampled_from(["d", "e"]), title=NAMES, agent=NAMES)),
    posts=few(st.builds(Post, NAMES, MESSAGES)),
).map(sound)
WORKERS = st.builds(
    Worker,
    id=NAMES,
    name=NAMES,
    owner=NAMES,
    root=NAMES,
    depth=st.just(1),
    template=NAMES,
    runtime=st.just("child"),
    thread=NAMES,
    job=OUR_JOBS,
    created_at=TIMES,
    updated_at=TIMES,
    state=st.sampled_from(WorkerState),
    version=st.integers(2, 3),
).map(lambda one: replace(one, ended_at=one.updated_at if one.state in OVER else None))
BUDGETS = st.builds(
    Budget,
    since=TIMES,
    most_alive=st.integers(0, 3),
    most_started=st.integers(0, 3),
    most_of_template=st.integers(0, 3),
)
WORKER_STEPS = st.builds(
    WorkerStep,
    added=few(WORKERS.map(lambda one: replace(one, version=1))),
    budget=BUDGETS,
    changed=few(WORKERS),
    steps=few(TIMER_STEPS),
)


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

TIMER_STORY = st.one_of(
    step("step_timer", TIMER_STEPS),
    step("step_timer", TIMER_STEPS),
    step("forget_runs", TIMES),
    step("step_workers", WORKER_STEPS),
    step("step_workers", WORKER_STEPS),
    step("beat_worker", NAMES, TIMES),
    step("prune", st.builds(Excess, jobs_before=TIMES)),
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
        await store.timers(states=tuple(TimerState)),
        await store.due_timers(at(2), 9),
        await store.waking_runs(at(2), 9),
        await store.next_timer_at(),
        [await store.timer_runs(name) for name in "abc"],
        await store.workers(states=tuple(WorkerState)),
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


# Where runs and workers have their threads.
THREADS = [("create_thread", thread(name)) for name in "abc"]


@settings(max_examples=40)
@given(st.lists(TIMER_STORY, max_size=12))
def test_all_stores_tell_the_same_story_of_timers_and_workers(steps: list[tuple[Any, ...]]) -> None:
    # T-69, D124
    first, *others = [asyncio.run(story(kind, [*THREADS, *steps])) for kind in STORES]
    for other in others:
        assert other == first
