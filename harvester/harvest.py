"""One reply: its calls go to the daemon in order, and one message with all results comes back.

    parse ─▶ rounds ─▶ call, call, … ─▶ render ─▶ post

Reading a reply again repeats nothing: call ids follow from the text (GRAMMAR 5.3), and the post has the
reply's id as its key. So whoever fails half-way starts over, and nothing half-done is ever posted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias

from harvester.client import PATIENT, DaemonClient
from harvester.connector import Connector, DaemonThreads, Outgoing
from harvester.events import Verdict
from harvester.parse import Notice, Parsed, ParsedCall, parse
from harvester.policy import ScanPolicy
from harvester.render import Answered, render
from harvester.rounds import KnownReplies, rounds_before
from messaging import CallRequest, Message, OpInfo, Result
from messaging.tracing import span

# GRAMMAR 5.4. Enough to look, act, check and correct twice over; who needs more is going in circles.
MAX_ROUNDS: Final = 8

# Hands on the verdict of a reply; told again it changes nothing.
TellVerdict: TypeAlias = Callable[[Message, Verdict], None]


class Caller(Protocol):
    """What runs calls: the daemon's client, or a double."""

    def call(self, request: CallRequest) -> Result:
        """The result, also of a call that was refused; raises `ClientError` when there is none."""
        ...


@dataclass(frozen=True, slots=True)
class PatientCaller:
    """The daemon's client with patience: an agent would rather wait than read BUSY."""

    client: DaemonClient

    def call(self, request: CallRequest) -> Result:
        """As `DaemonClient.call`, asked again for longer."""
        return self.client.call(request, PATIENT)


def telling(client: DaemonClient) -> TellVerdict:
    """Tells the daemon. What never arrives is told when the reply is harvested again."""

    def tell(reply: Message, verdict: Verdict) -> None:
        artifacts = verdict.artifacts or ()
        client.tell_verdict(reply.id, verdict.word, summary=verdict.summary, artifacts=artifacts)

    return tell


@dataclass(frozen=True, slots=True)
class Harvested:
    """What a reply came to. Nothing is posted where nothing was called and no limit was passed (O-10)."""

    parsed: Parsed
    results: tuple[Result, ...] = ()
    posted: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvester:
    """Harvests replies of `threads` through `caller`. `ops` is the daemon's registry.

    `known` remembers which replies have calls. Who shares it between harvesters reads no reply twice: an
    agent that fills a thread with large prose would have all of it read again for each call. `pins` are the
    digests that ops must have (docs/grants.md).
    """

    caller: Caller
    threads: Connector
    ops: Sequence[OpInfo] = ()
    policy: ScanPolicy | None = None
    max_rounds: int = MAX_ROUNDS
    dialect: str | None = None  # overrules the policy's (GRAMMAR 9)
    known: KnownReplies = field(default_factory=KnownReplies)
    tell: TellVerdict = lambda _reply, _verdict: None
    pins: Mapping[str, str] = field(default_factory=dict)

    def harvest(self, message: Message) -> Harvested:
        """Run the calls of `message` if it is a reply, and post their results.

        Raises `ClientError`; after `Unavailable` the same message may be harvested again.
        """
        with span("inband.harvest", {"inband.thread": message.thread, "inband.reply": message.id}):
            done = self._harvest(message)
            if done.parsed.verdict is not None:  # last, so that what it is about has happened (GRAMMAR 8)
                self.tell(message, done.parsed.verdict)
            return done

    def _harvest(self, message: Message) -> Harvested:
        if not message.is_reply:  # O-15: results, envelopes and DMs are never harvested
            return Harvested(self._parse(message, ""))
        parsed = self._parse(message, message.body)
        self.known.note(message.id, calls=bool(parsed.calls))
        if not parsed.calls:
            return self._answer(message, parsed, ()) if parsed.notice else Harvested(parsed)
        rounds = rounds_before(message, self.threads, self._has_calls, self.max_rounds)
        if rounds.count >= self.max_rounds:
            return Harvested(parsed, (), self._refuse_round(message, rounds.since))
        return self._answer(message, parsed, tuple(self._call(message, found) for found in parsed.calls))

    def give_up(self, message: Message) -> Message:
        """Say in the thread that a fault of ours kept this reply from being harvested."""
        text = "this reply could not be harvested, by a fault of ours; the watcher's log has the details"
        notice = Notice(code="INTERNAL_ERROR", message=text, limit=0)
        return self._post(message, render((), notice=notice), f"fault:{message.id}")

    def _parse(self, message: Message, text: str) -> Parsed:
        return parse(
            text,
            thread=message.thread,
            reply=message.id,
            policy=self.policy,
            registry=self.ops,
            dialect=self.dialect,
        )

    def _has_calls(self, message: Message) -> bool:
        calls = self.known.calls(message.id)
        if calls is None:
            calls = bool(self._parse(message, message.body).calls)
            self.known.note(message.id, calls=calls)
        return calls

    def _call(self, message: Message, found: ParsedCall) -> Result:
        """The daemon checks the record of the reply for who wrote it; the text has no say (O-33)."""
        request = CallRequest(
            call=found.call,
            thread=message.thread,
            reply=message.id,
            on_behalf_of=message.author,
            op_digest=self.pins.get(found.call.op),
        )
        with span("inband.call", {"inband.op": found.call.op, "inband.call_id": found.call.call_id}):
            return self.caller.call(request)

    def _answer(self, message: Message, parsed: Parsed, results: tuple[Result, ...]) -> Harvested:
        answers = [Answered(found.call, result) for found, result in zip(parsed.calls, results, strict=True)]
        body = render(answers, notice=parsed.notice, ops=self.ops)
        return Harvested(parsed, results, self._post(message, body, f"result:{message.id}"))

    def _refuse_round(self, message: Message, since: str) -> Message:
        """One notice for all replies that come too late, under the key of what started the count."""
        text = f"nothing was called: {self.max_rounds} rounds without a message from a person or a timer"
        notice = Notice(code="TOO_MANY_ROUNDS", message=text, limit=self.max_rounds)
        return self._post(message, render((), notice=notice), f"rounds:{since}")

    def _post(self, message: Message, body: str, key: str) -> Message:
        return self.threads.post(Outgoing(thread=message.thread, body=body, in_reply_to=message.id, key=key))


def harvest_reply(
    client: DaemonClient,
    message: Message,
    policy: ScanPolicy | None = None,
    *,
    max_rounds: int = MAX_ROUNDS,
    dialect: str | None = None,
    pins: Mapping[str, str] = MappingProxyType({}),
) -> Harvested:
    """Harvest one reply that is recorded in a thread of the daemon; raises as `Harvester.harvest`.

    `dialect`: take calls too that are written in it, or in the one that `auto` recognises (GRAMMAR 9).
    """
    return Harvester(
        caller=PatientCaller(client),
        threads=DaemonThreads(client),
        ops=client.ops(),
        policy=policy,
        max_rounds=max_rounds,
        dialect=dialect,
        tell=telling(client),
        pins=pins,
    ).harvest(message)
