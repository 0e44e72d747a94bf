"""Requests in: bodies and query parameters, read strictly and within limits; else a typed refusal."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails
from starlette.requests import Request

from exec_daemon.api.head import head_of
from exec_daemon.api.problems import Refused, refuse
from messaging import ErrorCode, StrictJsonError, load_object

# Digits as they are on a keyboard; `float` would take those of other scripts, exponents and infinity too.
_SECONDS: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


class Body(BaseModel):
    """Root of the request models: nothing is converted, nothing unknown gets in.

    U+0000 ends a text for much of what is written in C, so it is in none; a message's own text may have it.
    """

    may_hold_nul: ClassVar[bool] = False

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


M = TypeVar("M", bound=Body)

# In a request's scope, where the server has all of its body already.
CONTENT: Final = "inband.content"


def _too_large(most_bytes: int) -> Refused:
    return refuse(ErrorCode.TOO_LARGE, f"The body passes {most_bytes} bytes.", most_bytes=most_bytes)


async def read_content(request: Request, most_bytes: int) -> bytes:
    """The bytes of the body, refused as soon as they are known to be too many."""
    announced = head_of(request.scope).fields.get("content-length", "0")
    if len(announced) > 15 or int(announced or "0") > most_bytes:
        raise _too_large(most_bytes)
    body, more = bytearray(), True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise refuse(ErrorCode.INVALID_REQUEST, "The body ended early.")
        body += message.get("body", b"")
        if len(body) > most_bytes:
            raise _too_large(most_bytes)
        more = message.get("more_body", False)
    return bytes(body)


async def read_body(request: Request, model: type[M], most_bytes: int) -> M:
    """The body as `model`; raises `Refused` with INVALID_REQUEST or TOO_LARGE."""
    content: bytes | None = request.scope.get(CONTENT)
    if content is None or len(content) > most_bytes:
        content = await read_content(request, most_bytes)
    try:
        document = load_object(content.decode())
    except UnicodeDecodeError:
        raise refuse(ErrorCode.INVALID_REQUEST, "The body is not UTF-8.") from None
    except StrictJsonError as broken:
        raise refuse(ErrorCode.INVALID_REQUEST, f"The body is not a strict JSON object: {broken}.") from None
    if not model.may_hold_nul and b"\\u0000" in content:
        _check_nul(document)
    try:
        return model.model_validate(document)
    except ValidationError as wrong:
        raise _wrong_fields(model, wrong) from None


def _check_nul(document: dict[str, Any]) -> None:
    around = {name: value for name, value in document.items() if name != "args"}
    for where, code in ((around, ErrorCode.INVALID_REQUEST), (document, ErrorCode.INVALID_ARGS)):
        if _holds_nul(where):
            raise refuse(code, "U+0000 stands in no text of a request.")


def _holds_nul(document: Any) -> bool:
    waiting = [document]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str) and "\0" in item:
            return True
        if isinstance(item, dict):
            waiting += [*item, *item.values()]
        elif isinstance(item, list):
            waiting += item
    return False


def _wrong_fields(model: type[Body], wrong: ValidationError) -> Refused:
    shown = wrong.errors(include_url=False, include_context=False, include_input=False)[:16]
    problems = [
        {"field": ".".join(str(part)[:64] for part in entry["loc"]), "problem": _in_words(model, entry)}
        for entry in shown
    ]
    sentences = " ".join(f"{entry['field']}: {entry['problem']}." for entry in problems)
    takes = ", ".join(field.alias or name for name, field in model.model_fields.items())
    text = f"{sentences} The fields are {takes}."
    return refuse(ErrorCode.INVALID_REQUEST, text, problems=problems)


def _in_words(model: type[Body], entry: ErrorDetails) -> str:
    """A pattern tells a person little; the field's description says what it asks for."""
    field = model.model_fields.get(str(entry["loc"][0])) if entry["loc"] else None
    if entry["type"] != "string_pattern_mismatch" or field is None or field.description is None:
        return entry["msg"]
    return f"must be {field.description}"


def query_number(request: Request, name: str, default: int, most: int) -> int:
    """The query parameter as a whole number from 0 to `most`; larger ones count as `most`."""
    written = request.query_params.get(name)
    if written is None:
        return default
    if not written.isascii() or not written.isdigit() or len(written) > 18:
        raise refuse(ErrorCode.INVALID_REQUEST, f"{name} must be a whole number from 0 to {most}.")
    return min(int(written), most)


def query_wait_s(request: Request, most_s: float) -> float:
    """The query parameter `wait`, in seconds; longer ones count as `most_s`."""
    written = request.query_params.get("wait", "0")
    if not _SECONDS.fullmatch(written):
        raise refuse(ErrorCode.INVALID_REQUEST, "wait must be a number of seconds, such as 20 or 0.5.")
    return min(float(written), most_s)
