"""What a token that is limited to ops opens: what calls ops, and what looks.

With any other endpoint its bearer could widen what it was given: make a token without limits, grant itself
an op, approve a call, or write a reply whose directives run without the token's scopes.
"""

from __future__ import annotations

from typing import Final

from exec_daemon.access.identity import Role
from exec_daemon.access.tokens import Asker

# These decide by the token's scopes themselves, or take something back.
_OPEN: Final = frozenset(
    {
        ("POST", "/exec"),
        ("POST", "/why"),
        ("POST", "/rpc"),
        ("POST", "/mcp"),
        ("DELETE", "/mcp"),
        ("DELETE", "/session"),
        ("POST", "/jobs/{id}/cancel"),
        ("POST", "/timers/preview"),
        ("PUT", "/threads/{id}/read"),
    }
)


def closed(asker: Asker, method: str, path: str) -> str | None:
    """Why this endpoint is closed to the asker's token; None where it is open.

    A harvester does nothing for itself: the scopes of its token narrow what agents' replies may call.
    """
    if not asker.scopes or asker.identity.role is Role.HARVESTER:
        return None
    if method == "GET" or (method, path) in _OPEN:
        return None
    return f"The token is limited to the ops {', '.join(asker.scopes)}; {method} {path} is not among them."
