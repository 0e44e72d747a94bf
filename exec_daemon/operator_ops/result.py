"""What came of a program, as the result of its op: made safe to show, cut in the middle, the whole kept.

A program that ran and says that it failed is a result with its exit code, as `exit_codes` has no other word
for it; a call error is for what did not run, or not to its end (D139).
"""

from __future__ import annotations

import asyncio
import signal
from typing import Any, Final

from exec_daemon.box.hygiene import clean, clean_tree
from exec_daemon.calls.op import Ended, Keeper, Success
from exec_daemon.operator_ops.spec import OpSpec
from exec_daemon.programs import Capped, Ran
from exec_daemon.store.effects import Effect
from exec_daemon.store.values import KeepArtifact
from messaging import ArtifactError, CallError, ErrorCode, StrictJsonError, error, loads

# O-32: what a result shows of one stream; a half of it from each end.
_MOST_CHARS: Final = 64 * 1024
# Of what a program complains about, the end says most; and a message says it in a line.
_ERROR_CHARS: Final = 4096
_LINE_CHARS: Final = 300
# So much is cleaned in less time than the way to a thread and back takes.
_AT_ONCE_BYTES: Final = 4096
_TEXT: Final = "text/plain; charset=utf-8"


async def ended(spec: OpSpec, ran: Ran, keep: Keeper, secrets: tuple[str, ...]) -> Ended:
    """The op's result. Long output is cleaned in a thread: it may be megabytes."""
    if ran.stdout.printed_bytes + ran.stderr.printed_bytes <= _AT_ONCE_BYTES:
        out, err = _cleaned(ran, secrets)
    else:
        out, err = await asyncio.to_thread(_cleaned, ran, secrets)
    if ran.timed_out:
        return _timed_out(spec, out, err)
    meaning = spec.exit_codes.get(ran.exit if ran.exit is not None else -1, "")
    if meaning not in ("", "ok"):
        return _mapped(spec, ran, ErrorCode(meaning), out, err)
    data: dict[str, Any] = {"exit": ran.exit} | _signal(ran)
    data |= _output(spec, out)
    data |= {"stderr": _cut(err, _ERROR_CHARS)} if err else {}
    data |= {"note": "it left processes behind, which have been killed"} if ran.left_over else {}
    return await _with_whole(data, ran, out, keep)


def _cleaned(ran: Ran, secrets: tuple[str, ...]) -> tuple[str, str]:
    return _clean(ran.stdout, secrets), _clean(ran.stderr, secrets)


def _clean(stream: Capped, secrets: tuple[str, ...]) -> str:
    """All of it that there is, so that no secret is cut in two before it is looked for (M-45)."""
    if not stream.printed_bytes:
        return ""
    if stream.whole is None or len(stream.whole) < stream.printed_bytes:
        return clean(stream.text, secrets)
    return clean(stream.whole.decode("utf-8", "replace"), secrets)


def _signal(ran: Ran) -> dict[str, Any]:
    if ran.signal is None:
        return {}
    known = ran.signal in {number.value for number in signal.Signals}
    return {"signal": signal.Signals(ran.signal).name if known else str(ran.signal)}


def _output(spec: OpSpec, out: str) -> dict[str, Any]:
    if spec.output == "json":
        try:
            return {"output": clean_tree(loads(out))}
        except StrictJsonError as broken:
            return {"output": _cut(out, _MOST_CHARS), "note": f"the output is no JSON document: {broken}"}
    return {"output": _cut(out, _MOST_CHARS)}


def _cut(text: str, most: int) -> str:
    """A third from the end, where the reason stands; both ends at a line where one is near."""
    if len(text) <= most:
        return text
    head, tail = text[: most * 2 // 3], text[-(most // 3) :]
    head, tail = head[: head.rfind("\n") + 1] or head, tail[tail.find("\n") + 1 :] or tail
    return f"{head}\n… {len(text) - len(head) - len(tail):,} characters left out …\n{tail}"


async def _with_whole(data: dict[str, Any], ran: Ran, out: str, keep: Keeper) -> Ended:
    if len(out) <= _MOST_CHARS and not ran.stdout.omitted_bytes:
        return Success(data)
    effects: tuple[Effect, ...] = ()
    data["truncated"] = True
    try:
        kept = await keep.content(out.encode("utf-8", "replace"), _TEXT)
        data["artifact"], effects = kept.to_json(), (KeepArtifact(kept),)
    except ArtifactError:
        data["note"] = "the whole of the output could not be kept"
    return Success(data, effects)


def _timed_out(spec: OpSpec, out: str, err: str) -> CallError:
    text = (
        f"{spec.name} did not end within {spec.time_limit_s:g} s; it was killed with all that it had started."
    )
    details = {"output": _cut(out, _ERROR_CHARS), "stderr": _cut(err, _ERROR_CHARS)}
    return error(ErrorCode.TIMEOUT, text, side_effecting=spec.side_effecting, details=details)


def _mapped(spec: OpSpec, ran: Ran, code: ErrorCode, out: str, err: str) -> CallError:
    said = (err.strip() or out.strip()).rpartition("\n")[2][:_LINE_CHARS]
    details = {"exit": ran.exit, "output": _cut(out, _ERROR_CHARS), "stderr": _cut(err, _ERROR_CHARS)}
    text = said or f"{spec.name} ended with exit code {ran.exit}."
    return error(code, text, side_effecting=spec.side_effecting, details=details)
