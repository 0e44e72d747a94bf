"""What the scanner may be told; each limit with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field

from patterns import vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPolicy:
    """Settings of one scan. Sizes are bytes of UTF-8."""

    # GRAMMAR 1, F3: ops that `[TOOL op]` may call; a daemon's registry adds its own.
    bare_ops: frozenset[str] = field(default_factory=lambda: vocabulary().bare_ops)
    # GRAMMAR 6: whose /exec is ours. A name that resolves elsewhere must never get in by itself.
    daemon_hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    allow_http: bool = False
    # GRAMMAR 5.4: a reply that asks for more is a loop or an attack.
    max_calls: int = 16
    # GRAMMAR 5.4: beyond any model's output; bounds what a reply can cost.
    max_reply_bytes: int = 1 << 20
    # GRAMMAR 3 and 4: a directive or a call block.
    max_directive_bytes: int = 1 << 16
    # GRAMMAR 2: what has to be held until the inside of a paragraph can be judged.
    max_paragraph_bytes: int = 1 << 18
    # GRAMMAR 2: each line is compared with every open container.
    max_containers: int = 32
    # An inline reasoning tag ends a paragraph that was read to its end before, so its rest is read again.
    # More than any model writes; past it the rest of the reply is taken as reasoning.
    max_inline_tags: int = 16
    # GRAMMAR 2: the opening tag stood in the prompt, so the reply begins inside reasoning.
    reasoning_open: bool = False
    # GRAMMAR 9: the dialect whose calls are taken too, or `auto`. Off unless who reads the reply asks for it.
    dialect: str | None = None
