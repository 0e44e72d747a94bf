"""Where the case files are, and how their lines are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[1] / "cases"


def json_lines(file: Path) -> list[dict[str, Any]]:
    """The objects of a JSON Lines file; only LF ends a line, since U+2028 may stand in a string."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
