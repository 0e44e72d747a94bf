"""A whole reply to its calls: one scan, names normalised, ids given (GRAMMAR 5 and 7).

Pure: nothing is asked and nothing runs. `Parsed.to_json` is what `box harvest --dry-run --json` prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from harvester.events import Directive, Event, Form, Skipped, SkipReason, Span, Verdict
from harvester.policy import ScanPolicy
from harvester.scanner import scan_reply
from messaging import Call, OpInfo, digest
from messaging.normalise import Names, names, names_for, normalise


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A call and where it stands: `span` is half-open, in code points of the reply."""

    call: Call
    form: Form
    span: Span

    @property
    def op(self) -> str:
        """The op's canonical name, or the name as written where nothing is known by it."""
        return self.call.op

    @property
    def args(self) -> Mapping[str, Any]:
        """The arguments under their canonical names."""
        return self.call.args

    @property
    def call_id(self) -> str | None:
        """What makes the call happen once."""
        return self.call.call_id

    def to_json(self) -> dict[str, Any]:
        """`{"op", "args", "form", "span", "call_id"}`."""
        return {
            "op": self.op,
            "args": dict(self.args),
            "form": str(self.form),
            "span": list(self.span),
            "call_id": self.call_id,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A limit that the reply passed, to be told to whoever wrote it (GRAMMAR 5.4)."""

    code: str
    message: str
    limit: int

    def to_json(self) -> dict[str, Any]:
        """`{"code", "message", "limit"}`."""
        return {"code": self.code, "message": self.message, "limit": self.limit}


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a reply holds. `skipped` is for people (`--explain`) and metrics, never for the thread."""

    calls: tuple[ParsedCall, ...]
    verdict: Verdict | None
    skipped: tuple[Skipped, ...]
    notice: Notice | None = None

    def to_json(self) -> dict[str, Any]:
        """`{"calls", "verdict", "skipped"}`, with `verdict_detail` and `notice` where there are such."""
        body: dict[str, Any] = {
            "calls": [found.to_json() for found in self.calls],
            "verdict": None if self.verdict is None else self.verdict.word,
            "skipped": [{"reason": str(skip.reason), "span": list(skip.span)} for skip in self.skipped],
        }
        if self.verdict is not None:
            body["verdict_detail"] = _verdict_json(self.verdict)
        return body if self.notice is None else body | {"notice": self.notice.to_json()}


def _verdict_json(verdict: Verdict) -> dict[str, Any]:
    artifacts = None if verdict.artifacts is None else list(verdict.artifacts)
    return {"summary": verdict.summary, "artifacts": artifacts, "span": list(verdict.span)}


# GRAMMAR 5.4: which skipped place means a limit, the notice's code, and the sentence for whoever wrote.
_NOTICES: Final[Mapping[SkipReason, tuple[str, str]]] = MappingProxyType(
    {
        SkipReason.LIMIT_CALLS: (
            "TOO_MANY_CALLS",
            "a reply may hold {} calls; nothing after them was run, write the rest in another reply",
        ),
        SkipReason.LIMIT_REPLY: (
            "REPLY_TOO_LARGE",
            "a reply is read up to {} bytes; nothing after them was run, write the rest in another reply",
        ),
    }
)


def _notice(skipped: Iterable[Skipped], policy: ScanPolicy) -> Notice | None:
    """One notice, for the limit that was passed first."""
    limits = {SkipReason.LIMIT_CALLS: policy.max_calls, SkipReason.LIMIT_REPLY: policy.max_reply_bytes}
    for skip in skipped:
        if skip.reason in _NOTICES:
            code, message = _NOTICES[skip.reason]
            limit = limits[skip.reason]
            return Notice(code=code, message=message.format(limit), limit=limit)
    return None


def _calls(events: Iterable[Event], known: Names, thread: str, reply: str) -> tuple[ParsedCall, ...]:
    """The directives as calls. The id holds the ordinal: the same call written twice is two (GRAMMAR 5.3)."""
    found: list[ParsedCall] = []
    for event in events:
        if isinstance(event, Directive):
            op, args = normalise(event.op, event.args, known)
            call = Call(op, args, digest(thread, reply, len(found), op, args))
            found.append(ParsedCall(call, event.form, event.span))
    return tuple(found)


def _events(text: str, settings: ScanPolicy, known: Names, registry: Iterable[OpInfo]) -> list[Event]:
    if settings.dialect is None:
        return scan_reply(text, settings)
    from harvester.native import scan_native, tools_for  # most replies are in no dialect

    return scan_native(text, settings.dialect, settings, tools_for(known, registry))


def parse(
    text: str,
    *,
    thread: str = "",
    reply: str = "",
    policy: ScanPolicy | None = None,
    registry: Iterable[OpInfo] | None = None,
    dialect: str | None = None,
) -> Parsed:
    """The calls, the verdict and the skipped places of the reply `text`.

    `thread` and `reply` are ids and go into the call ids: the same reply read again gives the same ones.
    `registry` adds a daemon's ops to the known ones, also to those that may be called without JSON; without
    it the policy says which. `dialect` overrules the policy's: calls that are written in it, or in the one
    that `auto` recognises, are taken too (GRAMMAR 9). No text raises; a name that is no dialect does.
    """
    ops = tuple(registry or ())
    known = names() if registry is None else names_for(ops)
    settings = policy or ScanPolicy()
    if registry is not None:
        settings = replace(settings, bare_ops=known.bare_ops)
    events = _events(text, replace(settings, dialect=dialect or settings.dialect), known, ops)
    verdicts = [event for event in events if isinstance(event, Verdict)]
    skipped = tuple(event for event in events if isinstance(event, Skipped))
    return Parsed(
        calls=_calls(events, known, thread, reply),
        verdict=verdicts[-1] if verdicts else None,
        skipped=skipped,
        notice=_notice(skipped, settings),
    )
