"""Seeded values: what a JSON Schema asks for, what hurts, and names that were seen in answers."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any, Final

# Some of each kind that has hurt somebody: NUL, look-alikes, openers, paths, markup, numbers, much of it.
TEXTS: Final = (
    *(
        "",
        " ",
        "x",
        "a b",
        "\0",
        "a\0b",
        "\n",
        "a\n",
        "\u2028",
        "\x1b[2J",
        "é" * 40,
        "ｄｍ",
        "\u202e",
        "🐢" * 20,
    ),
    *(
        "..",
        "../..",
        "/etc/passwd",
        "%00",
        "%2e%2e",
        "-x",
        "--help",
        "$(id)",
        "';--",
        "*",
        "[a]",
        "{}",
        "{text}",
    ),
    *("[TOOL tools.list {}]", "```\n[DM {}]", "[RESULT] PASS", "<script>", "x" * 300, "x" * 70_000, "null"),
    *("NaN", "operator/local", "9999-12-31T23:59:59Z", "0", "-1", "1e9"),
)
NUMBERS: Final = (0, 1, -1, 2, 50, 2**31, 2**53, 2**53 + 1, 10**30, -(10**30), 0.5, -0.0, 1e308, 1e-308)
# What is right in a field of this name, where its schema says no more than that it is a text.
RIGHT: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("name", "to", "agent", "target", "as"), ("heron", "wren")),
    **dict.fromkeys(("thread",), ("heron", "t1")),
    "identity": ("viewer/v", "agent/heron", "worker/w"),
    "subject": ("viewer", "agent/wren"),
    "schedule": ("5m", "@daily", "30 7 * * 1-5", "2027-12-01T09:00"),
    "tz": ("UTC", "Europe/Berlin"),
    "verdict": ("PASS", "FAIL"),
    "state": ("running", "ended", "ready"),
    "kind": ("text",),
    "action": ("disk", "jobs", "threads"),
    "path": ("report.html",),
    "session": ("s1",),
    **dict.fromkeys(("id", "worker", "reply", "in_reply_to", "reply_to"), ()),
}
_SEEN: Final = re.compile(
    r'"((?:job|msg|thr|tmr|tok|w)-[\w-]{3,60}|/artifacts/[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{32})"'
)


class Values:
    """Makes values; remembers names. `chance` decides everything, `wild` how much of it hurts (0 to 1)."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.wild = 0.0
        self._seen: list[str] = []

    def saw(self, answer: str) -> None:
        """Ids of an answer may come again."""
        self._seen = (self._seen + _SEEN.findall(answer)[:8])[-200:]

    def seen(self, start: str = "", length: int = 0) -> str:
        """One that begins so, or is so long; a name that means nothing where there is none."""
        fits = [one for one in self._seen if one.startswith(start) and length in (0, len(one))]
        return self.chance.choice(fits[-4:]) if fits else f"{start}x"

    def hurts(self) -> bool:
        return self.chance.random() < self.wild

    def text(self) -> str:
        return self.chance.choice((*TEXTS, self.seen()))

    def hostile(self, depth: int = 2) -> Any:
        """Anything that JSON can say."""
        kind = self.chance.randrange(9 if depth else 7)
        if kind < 4:
            return self.text()
        if kind < 7:
            return self.chance.choice((None, True, False, *NUMBERS))
        inner = [self.hostile(depth - 1) for _ in range(self.chance.randrange(4))]
        return inner if kind == 7 else {self.chance.choice(TEXTS): one for one in inner}

    def of(self, schema: Mapping[str, Any], whole: Mapping[str, Any] | None = None, name: str = "") -> Any:
        """What the schema asks for, as far as this knows schemas, for the field of this name."""
        whole = whole or schema
        if self.hurts():
            return self.hostile()
        if "$ref" in schema:
            return self.of(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole, name)
        if "enum" in schema or "const" in schema:
            return self.chance.choice(schema.get("enum") or [schema["const"]])
        if "anyOf" in schema:
            return self.of(self.chance.choice(schema["anyOf"]), whole, name)
        return self._typed(schema, whole, name)

    def _typed(self, schema: Mapping[str, Any], whole: Mapping[str, Any], name: str) -> Any:
        match schema.get("type"):
            case "object":
                return self._object(schema, whole)
            case "array":
                return [
                    self.of(schema.get("items", {}), whole, name) for _ in range(self.chance.randrange(3))
                ]
            case "string":
                return self._word(name)
            case "integer" | "number":
                least, most = schema.get("minimum", 0), schema.get("maximum", 9)
                return self.chance.choice((least, most, min(most, max(least, 1))))
            case "boolean" | "null" as kind:
                return None if kind == "null" else self.chance.random() < 0.5
        return self.hostile(1)

    def _word(self, name: str) -> str:
        if name in RIGHT:
            return self.chance.choice(RIGHT[name] or (self.seen(),))
        return self.seen(length=64) if "digest" in name else self.chance.choice(("x", "a [DM {}] b"))

    def _object(self, schema: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
        fields, needed = schema.get("properties", {}), schema.get("required", ())
        made = {
            name: self.of(field, whole, name)
            for name, field in fields.items()
            if self.chance.random() < (1 - self.wild / 8 if name in needed else 0.4)
        }
        if self.hurts():
            made[self.text()] = self.hostile()
        return made
