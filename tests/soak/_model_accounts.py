"""What a run with a model came to, read from the record: what was said, called, refused, and how runs ended.

Nothing here trusts the product's own counts. Replies are scanned again, results are read as an agent reads
them, and what the model said is compared with the endpoint's own account.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from harvester import ScanPolicy, parse
from harvester.client import DaemonClient
from harvester.harvest import MAX_ROUNDS
from harvester.parse import Parsed
from messaging import AuthorKind, ErrorCode, Message, MessageKind, OpInfo
from tests.soak._model import Answer
from tests.soak._parts import Parts

_PAGE: Final = 200
# Codes that say that a rule was kept; any other code is a failure.
_RULES: Final = frozenset(
    {"FORBIDDEN", "INVALID_ARGS", "UNKNOWN_OP", "UNKNOWN_ACTION", "NOT_FOUND", "RATE_LIMITED", "DUPLICATE_ID"}
)
_WORDS: Final = frozenset({"PASS", "FAIL", "BLOCKED", "PARTIAL", "SKIP"})
_HEADING: Final = re.compile(r"^#(?P<number>\d+) (?P<op>\S+).* · (?P<standing>ok|failed|waits) · ")
_FENCE: Final = re.compile(r"^`{3,}")
_RUNS: Final = """
SELECT timer, due, state, outcome, job, thread, message, reply, slots FROM timer_runs ORDER BY at
"""
_RUN_KEYS: Final = ("timer", "due", "state", "outcome", "job", "thread", "message", "reply", "slots")


@dataclass(frozen=True, slots=True)
class Record:
    """What daemon and store hold when everything has ended."""

    threads: Mapping[str, Sequence[Message]]
    runs: Sequence[Mapping[str, Any]]
    jobs: Mapping[tuple[str, str], str]
    open_jobs: Sequence[str]
    ops: Sequence[OpInfo]
    policy: ScanPolicy

    @classmethod
    def of(cls, parts: Parts, client: DaemonClient, policy: ScanPolicy) -> Record:
        names = [name for (name,) in parts.rows("SELECT id FROM threads ORDER BY number")]
        jobs = parts.rows("SELECT identity, call_id, state FROM jobs WHERE holds_call = 1")
        return cls(
            threads={name: _messages(client, name) for name in names},
            runs=[dict(zip(_RUN_KEYS, row, strict=True)) for row in parts.rows(_RUNS)],
            jobs={(identity, call): state for identity, call, state in jobs},
            open_jobs=[job for (job,) in parts.rows("SELECT id FROM jobs WHERE ended_at IS NULL")],
            ops=client.ops(),
            policy=policy,
        )


def _messages(client: DaemonClient, thread: str) -> list[Message]:
    found: list[Message] = []
    while page := client.messages(thread, after=found[-1].seq if found else 0, limit=_PAGE):
        found += page
    return found


@dataclass
class Accounts:
    """The totals, and what is wrong: `faults` is empty when all is well."""

    record: Record
    answers: Sequence[Answer]
    faults: list[str] = field(default_factory=list)
    results: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, record: Record, answers: Sequence[Answer], stuck: Iterable[str]) -> Accounts:
        accounts = cls(record, answers, list(stuck))
        accounts.faults += [
            *accounts._said(),
            *(fault for reply in accounts.replies for fault in accounts._called(reply)),
            *(fault for run in record.runs for fault in accounts._ran(run)),
            *(f"the job {job} has not ended" for job in record.open_jobs),
        ]
        return accounts

    @cached_property
    def messages(self) -> dict[str, Message]:
        return {one.id: one for thread in self.record.threads.values() for one in thread}

    @cached_property
    def replies(self) -> list[Message]:
        return [one for one in self.messages.values() if one.is_reply]

    @cached_property
    def parsed(self) -> dict[str, Parsed]:
        return {
            one.id: parse(
                one.body, thread=one.thread, reply=one.id, policy=self.record.policy, registry=self.record.ops
            )
            for one in self.replies
        }

    def _said(self) -> Iterator[str]:
        """Each thing that the model said is one reply, and no reply is anybody else's."""
        said = Counter(text for answer in self.answers if (text := answer.text.strip()))
        recorded = Counter(reply.body.strip() for reply in self.replies)
        yield from (f"said and not recorded: {text!r}" for text in (said - recorded).elements())
        yield from (f"recorded and not said: {text!r}" for text in (recorded - said).elements())

    def _called(self, reply: Message) -> Iterator[str]:
        """Each call has one entry in the one message of results; one that ran has its job too."""
        calls = self.parsed[reply.id].calls
        posted = [
            one
            for one in self.record.threads[reply.thread]
            if one.in_reply_to == reply.id and one.kind is MessageKind.RESULT
        ]
        if calls and self._rounds_before(reply) >= MAX_ROUNDS:
            self.results["TOO_MANY_ROUNDS"] += len(calls)
            return
        if len(posted) != bool(calls):
            yield f"{reply.id} has {len(calls)} calls and {len(posted)} messages of results"
            return
        found = list(outcomes(posted[0].body)) if posted else []
        if len(found) != len(calls):
            yield f"{reply.id} has {len(calls)} calls and {len(found)} results"
        self.results.update(found)
        for call, outcome in zip(calls, found, strict=False):
            state = self.record.jobs.get((f"agent/{reply.author}", call.call_id or ""))
            if outcome == "ok" and state != "succeeded":
                yield f"{reply.id}: {call.op} is told as done, its job is {state}"
            if outcome not in ("ok", *ErrorCode):
                yield f"{reply.id}: {call.op} failed with {outcome!r}, which is no code"

    def _rounds_before(self, reply: Message) -> int:
        """Replies with calls since a person, a timer or a job has said something (GRAMMAR 5.4)."""
        count = 0
        for one in self.record.threads[reply.thread]:
            if one.seq >= reply.seq:
                break
            if one.author_kind is AuthorKind.HUMAN or one.kind in (
                MessageKind.ENVELOPE,
                MessageKind.WORK_ORDER,
            ):
                count = 0
            count += one.is_reply and bool(self.parsed[one.id].calls)
        return count

    def _ran(self, run: Mapping[str, Any]) -> Iterator[str]:
        """A run that was sent has its message, and an end: the verdict of a reply, MISSING, or a person's."""
        what = f"{run['timer']}: the run of {run['due']}"
        if run["job"] is None:
            if run["state"] != "skipped":
                yield f"{what} was never sent and is {run['state']}"
            return
        sent = [one.id for one in self.messages.values() if one.job_id == run["job"] and _is_envelope(one)]
        if sent != [run["message"]]:
            yield f"{what} was sent as {sent}"
        if run["state"] != "ended":
            yield f"{what} is {run['state']}"
        if run["outcome"] in _WORDS:
            reply = self.parsed.get(run["reply"])
            if reply is None or reply.verdict is None or reply.verdict.word != run["outcome"]:
                yield f"{what} ended {run['outcome']} by {run['reply']}, which does not say so"
        elif run["outcome"] not in ("MISSING", "CANCELLED"):
            yield f"{what} ended with {run['outcome']}"

    def table(self, took_s: float) -> Iterator[str]:
        """The totals, a line each."""
        for name, count, of in self._rows():
            detail = ", ".join(f"{what} {number}" for what, number in sorted(of.items()) if number)
            yield f"{name:34}{count:6}{'   ' + detail if detail else ''}".rstrip()
        tokens, seconds = sum(one.tokens for one in self.answers), sum(one.ms for one in self.answers) / 1000
        read = sum(one.prompt_tokens for one in self.answers)
        yield f"{took_s:.0f} s; the model wrote {tokens:,} tokens and was given {read:,}, in {seconds:.0f} s"

    def _rows(self) -> Iterator[tuple[str, int, Mapping[str, int]]]:
        sent = [run for run in self.record.runs if run["job"]]
        skipped = sum(run["slots"] for run in self.record.runs if not run["job"])
        calls = Counter(call.op for one in self.parsed.values() for call in one.calls)
        none = Counter(str(skip.reason) for one in self.parsed.values() for skip in one.skipped)
        refused = Counter({code: count for code, count in self.results.items() if code in _RULES})
        failed = self.results - refused - Counter({"ok": self.results["ok"]})
        limit = failed.pop("TOO_MANY_ROUNDS", 0)
        verdicts = Counter(one.verdict.word for one in self.parsed.values() if one.verdict)
        silent = sum(not one.text.strip() for one in self.answers)
        yield "runs of timers", len(sent), Counter(run["outcome"] for run in sent)
        yield "times skipped, the last still open", skipped, {}
        yield "turns of the model", len(self.answers), {"without a word": silent}
        yield "directives", calls.total() + none.total(), {}
        yield "  calls", calls.total(), calls
        yield "    run", self.results["ok"], {}
        yield "    refused by a rule", refused.total(), refused
        yield "    not run, rounds of its own", limit, {}
        yield "    failed", failed.total(), failed
        yield "  broken, quoted or in code", none.total(), none
        yield "verdicts", verdicts.total(), verdicts
        yield "faults", len(self.faults), {}


def _is_envelope(message: Message) -> bool:
    return message.kind is MessageKind.ENVELOPE


def outcomes(body: str) -> Iterator[str]:
    """What became of each call: `ok`, or the code that stands in the block below its heading."""
    standing, fence = None, ""
    for line in body.splitlines():
        if fence:
            if standing == "failed" and line != fence:
                yield line.partition(":")[0]
                standing = None
            fence = "" if line == fence else fence
        elif opened := _FENCE.match(line):
            fence = opened[0]
        elif heading := _HEADING.match(line):
            standing = heading["standing"]
            if standing != "failed":
                yield standing
