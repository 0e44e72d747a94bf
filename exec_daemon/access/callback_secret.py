"""The secret that signs the callbacks of one job: made from one key of the daemon, so none is stored.

Whoever has a job's secret can tell events of that job and of no other.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Callable
from typing import Final

from exec_daemon.home import Home, write_private

# The secret of a job id.
CallbackSecret = Callable[[str], str]

_KEY_BYTES: Final = 32
_PURPOSE: Final = b"inband callback 1\0"


def callback_secret(home: Home) -> CallbackSecret:
    """The secrets of this daemon; its key is made at the first start. Raises `HomeUnusable`."""
    path = home.callback_key
    if not path.exists():
        write_private(path, secrets.token_bytes(_KEY_BYTES))
    return secret_from(path.read_bytes())


def secret_from(key: bytes) -> CallbackSecret:
    """Secrets in the form of Standard Webhooks, `whsec_` and base64; each spelling of them signs."""

    def secret(job_id: str) -> str:
        made = hmac.digest(key, _PURPOSE + job_id.encode(), "sha256")
        return "whsec_" + base64.b64encode(made).decode()

    return secret
