"""How a run ended, decided purely: the stream's verdict, then the exit code, then the watchdog (A-04)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Final

from harvester.adapters.adapter import Adapter
from harvester.adapters.failure import Failure, FailureKind, classify, failure
from harvester.adapters.listener import Heard

# Who was not the agent that we asked for has no say in how its run went.
_BEFORE_VERDICT: Final = frozenset({FailureKind.SESSION_LOST, FailureKind.ENVELOPE_REQUIRED})


class Status(StrEnum):
    """SUCCESS: the agent finished. EMPTY_SUCCESS: its program did, without a word that the agent did."""

    SUCCESS = "success"
    EMPTY_SUCCESS = "empty_success"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How the process ended. `exit_code` is minus the signal's number after a signal, None if it never ran.

    `stopped`: why we ended it, if we did. `stderr`: the last of what it wrote there.
    """

    exit_code: int | None = 0
    stopped: Failure | None = None
    stderr: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run came to."""

    status: Status
    heard: Heard
    failure: Failure | None = None
    warnings: tuple[str, ...] = ()
    exit_code: int | None = None

    @property
    def reply(self) -> str | None:
        """The text to harvest, once (A-07): the final words of a run that succeeded."""
        return self.heard.text if self.status is Status.SUCCESS else None

    def to_json(self) -> dict[str, Any]:
        """What `--json` shows; null is "not reported"."""
        heard = self.heard
        return {
            "status": self.status.value,
            "session": heard.session,
            "model": heard.model,
            "text": heard.text,
            "reason": heard.verdict.reason if heard.verdict else None,
            "failure": asdict(self.failure) if self.failure else None,
            "usage": heard.spent.to_json(),
            "turns": heard.turns,
            "tool_calls": heard.tool_calls,
            "failed_tools": heard.failed_tools,
            "raw_lines": heard.raw_lines,
            "warnings": [*self.warnings],
            "exit_code": self.exit_code,
        }


def conclude(adapter: Adapter, heard: Heard, ended: Ended) -> Outcome:
    """The outcome; the first rule that applies decides."""
    wrong = _wrong(adapter, heard, ended)
    plain = Outcome(
        status=Status.FAILED if wrong else _good(adapter, heard),
        heard=heard,
        failure=wrong,
        warnings=heard.warnings,
        exit_code=ended.exit_code,
    )
    late = _late_warning(ended) if plain.status is Status.SUCCESS else None
    return replace(plain, warnings=(*plain.warnings, late)) if late else plain


def _wrong(adapter: Adapter, heard: Heard, ended: Ended) -> Failure | None:
    if ended.stopped and ended.stopped.kind in _BEFORE_VERDICT:
        return ended.stopped
    if heard.verdict:
        return heard.verdict.failure
    if ended.stopped:
        return ended.stopped
    if heard.gave_up:
        return heard.failure
    return _by_exit(adapter, heard, ended) if ended.exit_code else None


def _by_exit(adapter: Adapter, heard: Heard, ended: Ended) -> Failure:
    """What the exit code says, then the last error of the stream, then stderr (A-05)."""
    code, said = ended.exit_code or 0, _last_line(ended.stderr)
    if code < 0:
        return failure(f"ended by signal {-code}", FailureKind.DIED)
    if kind := adapter.exit_codes.get(code):
        return failure(heard.failure.message if heard.failure else said or f"exit code {code}", kind)
    if heard.failure:
        return heard.failure
    return failure(said or f"exit code {code}", classify(ended.stderr))


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def _good(adapter: Adapter, heard: Heard) -> Status:
    """Without a verdict, exit code 0 is believed of a CLI that gives none, if it said anything at all."""
    said = heard.text or heard.raw_lines
    return Status.SUCCESS if heard.verdict or (said and not adapter.ends_turns) else Status.EMPTY_SUCCESS


def _late_warning(ended: Ended) -> str | None:
    """What went wrong after the agent had finished: worth a word, no failure."""
    if ended.stopped:
        return f"the turn was complete; then: {ended.stopped.message}"
    return f"the turn was complete; then exit code {ended.exit_code}" if ended.exit_code else None
