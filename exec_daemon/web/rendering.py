"""Templates, the headers of a page, and words for times and sizes. All text of others is escaped, always."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import Response

from messaging import spelled, strip_terminal

# Nothing inline, nothing from elsewhere, in no frame (CSP level 3).
POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    # With `no-referrer` a browser sends `Origin: null` with our own forms, which the gate turns away.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
}
_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
# What reorders or hides text on a screen (Unicode UAX 9) stands as its code.
_UNSEEN: Final = {
    code: f"\\u{code:04x}"
    for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0xFEFF)
}


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("exec_daemon.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(when=when, plain=plain, pretty=pretty)
    return made


def page(template: str, values: Mapping[str, Any], status: int = 200) -> Response:
    """The template filled in, with the headers of every page."""
    text = _environment().get_template(template).render(values)
    return Response(text.encode("utf-8", "replace"), status, dict(HEADERS), "text/html; charset=utf-8")


def plain(text: object) -> str:
    """Text of others as a screen may show it: no terminal codes, nothing that reorders it."""
    shown = strip_terminal(str(text))
    return shown if shown.isascii() else shown.translate(_UNSEEN)


def pretty(value: object) -> str:
    """JSON for a person, harmless, and with all that is in it: on some of it a person decides (O-36)."""
    return spelled(json.dumps(value, ensure_ascii=False, indent=2))


def when(moment: str | None, now: str) -> Markup:
    """`3 minutes ago`, with the exact time on hover and for the script that keeps it true."""
    if moment is None:
        return Markup("-")
    return Markup('<time datetime="{0}" title="{0}">{1}</time>').format(moment, _distance(moment, now))


def _distance(moment: str, now: str) -> str:
    away_s = (datetime.fromisoformat(now) - datetime.fromisoformat(moment)).total_seconds()
    for size_s, unit in _UNITS:
        count = int(abs(away_s) // size_s)
        if count:
            words = f"{count} {unit}{'s' if count > 1 else ''}"
            return f"{words} ago" if away_s > 0 else f"in {words}"
    return "now"


@cache
def static(name: str) -> tuple[bytes, str] | None:
    """A file of the page and its type; None for a name that is none."""
    types = {
        "style.css": "text/css; charset=utf-8",
        "page.js": "text/javascript; charset=utf-8",
        "icon.svg": "image/svg+xml",
    }
    if name not in types:
        return None
    return (files("exec_daemon.web") / "static" / name).read_bytes(), types[name]


__all__ = ["HEADERS", "POLICY", "Markup", "escape", "page", "plain", "pretty", "static", "when"]
