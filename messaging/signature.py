"""Who sent this body? HMAC-SHA256 signatures, made and checked (M-36, M-50).

    from messaging.signature import verify
    if not verify(secret, body, request.headers.get("X-Signature")): ...

`body` is always the exact bytes that travelled: a body that was parsed and written again has another
signature. The Standard Webhooks form (its specification 1.0) also covers the time, so that an old
delivery cannot be played again.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from typing import Final

SIGNATURE: Final = "X-Signature"
_SCHEME: Final = "sha256="

# Standard Webhooks: an older or younger message is no longer believed.
TOLERANCE_S: Final = 300
_PREFIX: Final = "whsec_"


def sign(secret: str, body: bytes) -> str:
    """The value of `X-Signature`: `sha256=` and 64 hexadecimal digits."""
    return _SCHEME + hmac.new(_bytes(secret), body, hashlib.sha256).hexdigest()


def verify(secret: str, body: bytes, signature: str | None) -> bool:
    """Is `signature` the one of `body`? Takes the same time wherever the two differ; None is not."""
    given = (signature or "").encode("utf-8", "replace")
    return hmac.compare_digest(sign(secret, body).encode(), given)


def webhook_headers(secret: str, message_id: str, at_s: int, body: bytes) -> dict[str, str]:
    """The three headers of Standard Webhooks; `at_s` is Unix time in seconds."""
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at_s),
        "webhook-signature": _webhook_signature(secret, message_id, str(at_s), body),
    }


def verify_webhook(secret: str, headers: Mapping[str, str], body: bytes, now_s: float) -> bool:
    """Is the message from whoever knows `secret`, and of now? `headers` by their lower-case names."""
    at = headers.get("webhook-timestamp", "")
    if not (at.isascii() and at.isdigit() and len(at) <= 15 and abs(now_s - int(at)) <= TOLERANCE_S):
        return False
    wanted = _webhook_signature(secret, headers.get("webhook-id", ""), at, body).encode()
    # Several signatures while a secret is being changed, blanks between them.
    given = headers.get("webhook-signature", "").encode("utf-8", "replace").split(b" ")
    return any(hmac.compare_digest(wanted, one) for one in given)


def _webhook_signature(secret: str, message_id: str, at: str, body: bytes) -> str:
    content = f"{message_id}.{at}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(_key(secret), content, "sha256")).decode()


def _key(secret: str) -> bytes:
    """A secret of the form `whsec_<base64>` stands for the bytes in it, any other for its own."""
    if not secret.startswith(_PREFIX):
        return _bytes(secret)
    try:
        return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return _bytes(secret)


def _bytes(secret: str) -> bytes:
    """As they stood in the environment, also those that are no UTF-8."""
    return secret.encode("utf-8", "surrogateescape")
