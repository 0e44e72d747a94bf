"""uvicorn's httptools protocol, made to leave in time when the daemon stops."""

from __future__ import annotations

from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# A TLS close waits for the peer's close_notify (RFC 8446 6.1), which a pooled idle connection never sends.
_GOODBYE_S: Final = 0.3


class Protocol(HttpToolsProtocol):
    """One connection."""

    def shutdown(self) -> None:
        """Ends the connection after the response under way; waits for no answer to the goodbye."""
        super().shutdown()
        self.loop.call_later(_GOODBYE_S, self._leave)

    def _leave(self) -> None:
        if self.transport.is_closing():
            self.transport.abort()
        else:
            self.loop.call_later(_GOODBYE_S, self._leave)
