"""Threads and messages (O-83): what any store promises."""

from __future__ import annotations

import asyncio

import pytest

from exec_daemon.store import Exists, NoSuchThread, Store
from messaging import AuthorKind, MessageKind, Thread
from tests.contracts.samples import at, message, thread


async def test_a_thread_is_found_by_its_id(store: Store) -> None:
    made = await store.create_thread(thread("ops", agent="heron"))
    assert made == Thread(id="ops", title="About ops", agent="heron", created_at=at(0))
    assert await store.thread("ops") == made
    assert await store.thread("other") is None


async def test_a_thread_id_is_taken_once(store: Store) -> None:
    first = await store.create_thread(thread("ops"))
    with pytest.raises(Exists) as refused:
        await store.create_thread(thread("ops", agent="crane"))
    assert refused.value.subject == "ops"
    assert await store.thread("ops") == first


async def test_threads_are_listed_by_their_last_activity(store: Store) -> None:
    for name in ("old", "busy", "young"):
        await store.create_thread(thread(name))
    await store.append(message("busy"))
    assert [t.id for t in await store.threads()] == ["busy", "young", "old"]
    assert [t.id for t in await store.threads(limit=1)] == ["busy"]


async def test_threads_are_listed_by_agent(store: Store) -> None:
    await store.create_thread(thread("a", agent="heron"))
    await store.create_thread(thread("b", agent="crane"))
    await store.create_thread(thread("c", agent="heron"))
    assert [t.id for t in await store.threads(agent="heron")] == ["c", "a"]
    assert await store.threads(agent="nobody") == []


async def test_messages_are_numbered_in_their_thread_and_over_all(store: Store) -> None:
    await store.create_thread(thread("a"))
    await store.create_thread(thread("b"))
    sent = [(await store.append(message(to))).message for to in ("a", "b", "a")]
    assert [(m.seq, m.position) for m in sent] == [(1, 1), (1, 2), (2, 3)]
    assert await store.last_position() == 3
    assert await store.messages("a") == [sent[0], sent[2]]
    assert await store.message(sent[1].id) == sent[1]


async def test_a_thread_knows_its_last_message(store: Store) -> None:
    await store.create_thread(thread("a"))
    sent = (await store.append(message("a"))).message
    found = await store.thread("a")
    assert found is not None
    assert (found.last_seq, found.last_at) == (1, sent.created_at)


async def test_all_fields_of_a_message_are_kept(store: Store) -> None:
    await store.create_thread(thread("a"))
    body = "nul \0, quotes \"', ] } \\ \n, emoji 🦩, bidi \u202e, end"
    new = message(
        "a",
        body,
        author="harvester/local",
        author_kind=AuthorKind.SYSTEM,
        kind=MessageKind.RESULT,
        in_reply_to="msg-0",
        job_id="job-9",
    )
    sent = (await store.append(new)).message
    for field in ("author", "author_kind", "kind", "body", "in_reply_to", "job_id"):
        assert getattr(sent, field) == getattr(new, field)
    assert await store.messages("a") == [sent]


async def test_an_empty_store_answers_with_nothing(store: Store) -> None:
    assert await store.last_position() == 0
    assert await store.messages("nowhere") == []
    assert await store.message("msg-1") is None
    assert await store.replies() == []
    assert await store.threads() == []


async def test_a_message_needs_a_thread(store: Store) -> None:
    with pytest.raises(NoSuchThread) as refused:
        await store.append(message("nowhere"))
    assert refused.value.subject == "nowhere"
    assert await store.last_position() == 0


async def test_a_key_appends_once_per_thread(store: Store) -> None:  # O-16, O-83: logged once
    await store.create_thread(thread("a"))
    await store.create_thread(thread("b"))
    first = await store.append(message("a", "one", key="k"))
    again = await store.append(message("a", "two", key="k"))
    other = await store.append(message("b", "three", key="k"))
    assert (first.replayed, again.replayed, other.replayed) == (False, True, False)
    assert again.message == first.message
    assert [m.body for m in await store.messages("a")] == ["one"]


async def test_a_key_appends_once_when_many_ask_at_once(store: Store) -> None:
    await store.create_thread(thread("a"))
    answers = await asyncio.gather(*[store.append(message("a", key="k")) for _ in range(20)])
    assert sum(not answer.replayed for answer in answers) == 1
    assert len(await store.messages("a")) == 1


async def test_messages_are_paged_by_seq(store: Store) -> None:
    await store.create_thread(thread("a"))
    for number in range(5):
        await store.append(message("a", str(number)))
    assert [m.body for m in await store.messages("a", after=1, limit=2)] == ["1", "2"]
    assert await store.messages("a", after=5) == []


async def test_replies_are_finished_texts_of_agents_only(store: Store) -> None:  # O-15
    await store.create_thread(thread("a"))
    await store.create_thread(thread("b"))
    await store.append(message("a", "reply 1"))
    await store.append(message("a", "a person", author_kind=AuthorKind.HUMAN))
    await store.append(message("a", "a result", author_kind=AuthorKind.SYSTEM, kind=MessageKind.RESULT))
    await store.append(message("a", "a dm", kind=MessageKind.DM))
    await store.append(message("b", "reply 2"))
    assert [m.body for m in await store.replies()] == ["reply 1", "reply 2"]
    assert [m.body for m in await store.replies(after=1)] == ["reply 2"]
    assert [m.body for m in await store.replies(limit=1)] == ["reply 1"]


async def test_writes_happen_in_the_order_in_which_they_were_given(store: Store) -> None:
    await store.create_thread(thread("a"))
    await asyncio.gather(*[store.append(message("a", str(number))) for number in range(50)])
    assert [m.body for m in await store.messages("a")] == [str(number) for number in range(50)]
