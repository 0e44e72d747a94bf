"""Errors over HTTP: problem documents (RFC 9457), and on `/exec` the failed result that a caller expects."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from exec_daemon.api.answers import answer, error_headers
from exec_daemon.calls.faults import store_error
from exec_daemon.store import StoreError
from messaging import ERRORS, CallError, ErrorCode, Result, error

EXEC_PATH = "/exec"


class Refused(Exception):
    """Ends a request with `error`."""

    def __init__(self, error: CallError) -> None:
        super().__init__(error.message)
        self.error = error


def refuse(code: ErrorCode, message: str, **details: Any) -> Refused:
    """To be raised: `raise refuse(ErrorCode.NOT_FOUND, "There is no …")`."""
    return Refused(error(code, message, details=details))


def problem(failed: CallError, status: int | None = None) -> Response:
    """The problem document of an error."""
    kind = ERRORS[failed.code]
    status = status or kind.http_status
    body = {
        "type": f"urn:inband:error:{failed.code}",
        "title": kind.meaning,
        "status": status,
        "detail": failed.message,
        "code": str(failed.code),
        "retryable": failed.retryable,
        "details": dict(failed.details),
    }
    return answer(body, status, error_headers(failed), "application/problem+json")


def failed_answer(path: str, failed: CallError, status: int | None = None) -> Response:
    """How `path` tells its client of an error."""
    if path != EXEC_PATH:
        return problem(failed, status)
    status = status or ERRORS[failed.code].http_status
    return answer(Result(op="", error=failed).to_json(), status, error_headers(failed))


async def on_refused(request: Request, raised: Exception) -> Response:
    assert isinstance(raised, Refused)
    return failed_answer(request.url.path, raised.error)


async def on_store_error(request: Request, raised: Exception) -> Response:
    assert isinstance(raised, StoreError)
    return failed_answer(request.url.path, store_error(raised))


async def on_http_exception(request: Request, raised: Exception) -> Response:
    """Starlette's own: no such path, no such method on it."""
    assert isinstance(raised, HTTPException)
    code = ErrorCode.NOT_FOUND if raised.status_code == 404 else ErrorCode.INVALID_REQUEST
    text = f"{request.method} {request.url.path[:128]}: {raised.detail}. docs/api.md lists the endpoints."
    answered = failed_answer(request.url.path, error(code, text), raised.status_code)
    if raised.status_code == 405:
        answered.headers["allow"] = ", ".join(sorted(_methods(request)))
    return answered


def _methods(request: Request) -> set[str]:
    """What this path takes (RFC 9110 10.2.1); each method of it is a route of its own."""
    routes = (route for route in request.app.routes if isinstance(route, Route))
    fitting = (route for route in routes if route.path_regex.match(request.url.path))
    return {method for route in fitting for method in route.methods or ()}


EXCEPTIONS: dict[Any, Any] = {
    Refused: on_refused,
    StoreError: on_store_error,
    HTTPException: on_http_exception,
}
