"""Is it clear where a request ends and what it asks for? Two programs in a row must not differ about it.

Where they do, one of them takes for a second request what the other took for the body of the first (request
smuggling, RFC 9112 11.2). The parser refuses most of it; what it would repair or bear is refused here.
"""

from __future__ import annotations

from collections.abc import Sequence

_VERSIONS = frozenset({"1.0", "1.1"})
_FRAMING = frozenset({b"content-length", b"transfer-encoding"})


def is_clear(target: bytes, version: str, headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """At most one of length and coding, in the one form that all understand, and a path as the target."""
    framing = [(name, value.strip()) for name, value in headers if name in _FRAMING]
    a_path = target.startswith(b"/") and b"#" not in target
    clear = version in _VERSIONS and a_path and len(framing) <= 1
    if not clear or not framing:
        return clear
    ((name, value),) = framing
    return value.isdigit() if name == b"content-length" else value.lower() == b"chunked" and version != "1.0"
