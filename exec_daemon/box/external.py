"""Another box-ctl program in place of ours: `PROGRAM ACTION [ARG] --json`, one document on its output.

It is trusted as far as the operator trusts it to run; what it prints is not. It never answers for the
store, since it does not know who asks (O-46).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from exec_daemon.box.errors import BoxError, failure
from exec_daemon.box.programs import Deadline, Ending, Output, run
from exec_daemon.box.reading import Reading
from messaging import CallError, ErrorCode, StrictJsonError, load_object

# The keys of O-45, and the type of each that we take over.
_TAKEN: Final[dict[str, type]] = {"data": dict, "notes": list, "truncated": bool}


def ask(program: Path, action: str, arguments: tuple[str, ...], limit_s: float) -> Reading:
    """What the program found. Raises `BoxError`: its own typed error, TIMEOUT, or UNAVAILABLE."""
    try:
        output = run((str(program), action, *arguments, "--json"), Deadline(limit_s))
    except OSError as failed:
        raise _unusable(program, failed.strerror or "cannot be run") from None
    if output is None:
        raise _unusable(program, "is missing or not executable")
    document = _document(program, output)
    if isinstance(document.get("error"), dict):
        raise BoxError(CallError.from_json(document["error"]))
    return _reading(program, document)


def _unusable(program: Path, problem: str) -> BoxError:
    return failure(ErrorCode.UNAVAILABLE, f"the configured box-ctl program {program.name} {problem}")


def _document(program: Path, output: Output) -> dict[str, Any]:
    if output.ending is Ending.TIMED_OUT:
        raise failure(ErrorCode.TIMEOUT, f"the configured box-ctl program {program.name} took too long")
    if output.ending is Ending.CUT:
        raise _unusable(program, "printed too much")
    try:
        return load_object(output.text)
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
