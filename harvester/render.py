"""The results of one reply as the one message that is posted into its thread (O-18, O-19). Pure.

    #1 box.exec disk · ok · 12 ms · job job-3f2a…
    ```output-5d41402a
    …
    ```

Headings hold only words that mean nothing to Markdown; everything else is clean, inert and fenced, so that
no part of the message is ever a directive or a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from harvester.fit import block, shares, wanted
from harvester.formatters import failure, formatted
from harvester.inert import clean, cleaned, inert, word
from harvester.parse import Notice
from messaging import Call, CallError, ErrorCode, OpInfo, Result, artifact_in

# O-19: what an agent reads at a glance and what fits any chat bridge.
MOST_CHARS: Final = 4000
# So many headings leave room for something below each; the limit of calls in a reply is 16 by default.
_MOST_SHOWN: Final = 20
_OP_CHARS, _BRIEF_CHARS, _JOB_CHARS, _NOTICE_CHARS = 40, 24, 40, 300

# The arguments that say which of two equal ops this was.
_BRIEF: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"box.exec": ("action", "arg"), "dm.send": ("to",), "job.get": ("id",), "artifact.put": ("path",)}
)


@dataclass(frozen=True, slots=True)
class Answered:
    """A call and what came of it."""

    call: Call
    result: Result


def render(
    answers: Sequence[Answered],
    *,
    notice: Notice | None = None,
    ops: Sequence[OpInfo] = (),
    most_chars: int = MOST_CHARS,
) -> str:
    """The message, at most `most_chars` (1,000 or more). `ops` is the registry, for the hints of errors."""
    shown = answers[:_MOST_SHOWN]
    heads = [_heading(number, answer) for number, answer in enumerate(shown, 1)]
    texts = [_text(answer, ops) for answer in shown]
    rest = [*_not_shown(answers[_MOST_SHOWN:]), *_noticed(notice)]
    # Each heading and block ends with a line break, and a blank line follows.
    left = most_chars - sum(len(line) + 2 for line in [*heads, *rest]) - len(heads)
    room = shares([wanted(text) for text in texts], left)
    parts = [
        f"{head}\n{block(text, most, _reference(answer.result), _subject(answer))}".rstrip()
        for head, text, most, answer in zip(heads, texts, room, shown, strict=True)
    ]
    return "\n\n".join([*parts, *rest])


def _subject(answer: Answered) -> str:
    """What the mark of its fence follows from: an id that is not known to who wrote the text."""
    return answer.result.job_id or answer.call.call_id or ""


def _heading(number: int, answer: Answered) -> str:
    result = answer.result
    names = [word(result.op or "?", _OP_CHARS)]
    for key in _BRIEF.get(result.op, ()):
        value = answer.call.args.get(key)
        names += [word(clean(value), _BRIEF_CHARS)] if isinstance(value, str) and value else []
    parts = [" ".join(names), _standing(result), f"{result.duration_ms:.0f} ms"]
    parts += [f"job {word(result.job_id, _JOB_CHARS)}"] if result.job_id else []
    return f"#{number} {' · '.join(parts)}"


def _standing(result: Result) -> str:
    """One word; a call that waits for a person has not failed."""
    if result.error is None:
        return "ok"
    return "waits" if result.error.code is ErrorCode.APPROVAL_PENDING else "failed"


def _text(answer: Answered, ops: Sequence[OpInfo]) -> str:
    """What stands below the heading; still to be made inert. Secrets may also come about by joining."""
    result = answer.result
    if result.error is None:
        return clean(formatted(result.op, cleaned(result.data))) if result.data is not None else ""
    error = result.error
    told = CallError(error.code, clean(error.message), error.retryable, cleaned(dict(error.details)))
    return clean(failure(told, Call(result.op, answer.call.args), ops))


def _reference(result: Result) -> str:
    """Where the whole is, in words that are no directive: the artifact, else the job."""
    whole = artifact_in(result.data)
    if whole is not None:
        return f"; all of it: artifact {whole.sha256}"
    return f"; all of it: op job.get, id {word(result.job_id, _JOB_CHARS)}" if result.job_id else ""


def _not_shown(answers: Sequence[Answered]) -> Iterator[str]:
    if answers:
        failed = sum(not answer.result.ok for answer in answers)
        yield f"and {len(answers)} more calls: {len(answers) - failed} ok, {failed} failed"


def _noticed(notice: Notice | None) -> Iterator[str]:
    if notice is not None:
        text = " ".join(clean(f"{notice.code}: {notice.message}").split())
        yield inert(text)[:_NOTICE_CHARS]
