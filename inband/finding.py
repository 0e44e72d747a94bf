"""One line of what `box doctor` finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How bad it is: `fail` stops the main job, `warn` takes something away."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """`mend` is what to do, empty when all is well."""

    grade: Grade
    subject: str
    found: str
    mend: str = ""

    def to_json(self) -> dict[str, str]:
        """All fields as strings."""
        return {"grade": str(self.grade), "subject": self.subject, "found": self.found, "mend": self.mend}
