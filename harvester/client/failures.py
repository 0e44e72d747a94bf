"""Every way in which a request can fail, as one of our exceptions with the way out in its message."""

from __future__ import annotations

import httpx2

from harvester.client.tls import rejected
from harvester.errors import BadCertificate, ClientError, ProtocolError, Refused, Unauthenticated, Unavailable
from messaging import CallError, ErrorCode

_WAY_OUT = "box token create"
_NO_CONNECTION = (httpx2.ConnectError, httpx2.ConnectTimeout)
_NO_ANSWER = (httpx2.TimeoutException, httpx2.NetworkError, httpx2.RemoteProtocolError)


def below_http(failure: httpx2.RequestError, *, url: str, ca_file: str, shown: str = "") -> ClientError:
    """For what went wrong before there was an answer. `shown` is our own certificate, if we show one."""
    certificate = rejected(failure)
    if certificate is not None:
        return BadCertificate(
            f"{url} shows a certificate that {ca_file} does not vouch for ({certificate.verify_message}); "
            "is it the CA file of this daemon?",
            url=url,
            ca_file=ca_file,
        )
    if isinstance(failure, _NO_CONNECTION):
        return Unavailable(f"no daemon answers at {url}; start it: box up", url=url)
    if isinstance(failure, _NO_ANSWER):
        # The other end hangs up on a certificate that it does not take; no reason reaches us.
        maybe = f"; does it take {shown}? On its machine: box cert list" if shown else ""
        return Unavailable(f"the daemon at {url} did not answer ({type(failure).__name__}){maybe}", url=url)
    return ProtocolError(f"{url} cannot be asked ({type(failure).__name__})", url=url)


def no_object(status: int, url: str) -> ProtocolError:
    """For an answer that is no JSON object, or a redirect: a proxy or another program answers there."""
    return ProtocolError(
        f"{url} answered {status} without the JSON of our API; is the daemon there?", url=url
    )


def refusal(body: dict[str, object], url: str) -> ClientError:
    """For a problem document (RFC 9457), or the error object of a call."""
    nested = body.get("error")
    problem = nested if isinstance(nested, dict) else body
    message = problem.get("message") or problem.get("detail") or problem.get("title") or "refused"
    error = CallError.from_json(problem | {"message": message})
    if error.code is ErrorCode.UNAUTHENTICATED:
        hint = "" if _WAY_OUT in error.message else f"; make another: {_WAY_OUT}"
        return Unauthenticated(error.message + hint, url=url)
    return Refused(error, url=url)
