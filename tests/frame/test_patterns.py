"""Regular expressions of ours mean the same in every Python that we support."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("patterns", "messaging", "prompt_envelope", "harvester", "exec_daemon", "inband_agent", "inband")

# `(?:ab?c)*+` takes a half iteration along before Python 3.11.5, and Debian 12 has 3.11.2. Atomic groups,
# `(?>(?:ab?c)*)`, are the same and right in all; a possessive repeat of one character is right as well.
POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{\d+,?\d*\})\+")


def test_no_pattern_repeats_a_group_possessively() -> None:
    sources = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    assert [path.name for path in sources if POSSESSIVE_GROUP.search(path.read_text(encoding="utf-8"))] == []
