"""Another box-ctl program in place of ours: `PROGRAM ACTION [ARG] --json`, one document on its output.

It is trusted as far as the operator trusts it to run; what it prints is not. It never answers for the
store, since it does not know who asks (O-46).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from exec_daemon.box.errors import BoxError, failure
from exec_daemon.box.ports import OtherBoxCtl
from exec_daemon.box.reading import Reading
from exec_daemon.programs import Overloaded, ProgramError, Ran, Unusable
from messaging import CallError, ErrorCode, StrictJsonError, load_object

# Four times what a read may show: enough to redact and cut sensibly.
_MOST_OUTPUT_BYTES: Final = 256 * 1024
# The keys of O-45, and the type of each that we take over.
_TAKEN: Final[dict[str, type]] = {"data": dict, "notes": list, "truncated": bool}


def ask(other: OtherBoxCtl, action: str, arguments: tuple[str, ...], limit_s: float) -> Reading:
    """What the program found. Raises `BoxError`: its own typed error, TIMEOUT, BUSY or UNAVAILABLE."""
    program = other.path
    try:
        ran = other.run((str(program), action, *arguments, "--json"), limit_s)
    except Overloaded:
        text = f"There is no room to run the configured box-ctl program {program.name} now."
        raise failure(ErrorCode.BUSY, text) from None
    except ProgramError as fault:
        raise _unusable(program, fault.problem if isinstance(fault, Unusable) else "cannot run") from None
    document = _document(program, ran)
    if isinstance(document.get("error"), dict):
        raise BoxError(CallError.from_json(document["error"]))
    return _reading(program, document)


def _unusable(program: Path, problem: str) -> BoxError:
    return failure(ErrorCode.UNAVAILABLE, f"the configured box-ctl program {program.name} {problem}")


def _document(program: Path, ran: Ran) -> dict[str, Any]:
    if ran.timed_out:
        raise failure(ErrorCode.TIMEOUT, f"the configured box-ctl program {program.name} took too long")
    if ran.stdout.printed_bytes > _MOST_OUTPUT_BYTES:
        raise _unusable(program, "printed too much")
    printed = ran.stdout.head if ran.stdout.whole is None else ran.stdout.whole
    try:
        return load_object(printed.decode("utf-8", "replace"))
    except StrictJsonError as broken:
        raise _unusable(program, f"printed no JSON document: {broken}") from None


def _reading(program: Path, document: dict[str, Any]) -> Reading:
    values: dict[str, Any] = {"notes": [], "truncated": False} | {
        k: v for k, v in document.items() if k in _TAKEN
    }
    wrong = [key for key, kind in _TAKEN.items() if not isinstance(values.get(key), kind)]
    if wrong:
        raise _unusable(program, f"printed a document with a missing or wrong {', '.join(wrong)}")
    return Reading(values["data"], tuple(map(str, values["notes"])), values["truncated"])
