"""What a setting is: one row of `inband.settings_table`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from exec_daemon.access.grant_rules import Wrong


@dataclass(frozen=True, slots=True)
class Setting:
    """One row. `section` and `key` place it in `box.toml`; an empty section is the top level.

    `bounds` are the least and the greatest value of a number, `of` is what a table holds, and `problem` says
    what else is wrong with a value.
    """

    section: str
    key: str
    kind: type
    default: Any
    purpose: str
    environment: str = ""
    bounds: tuple[float, float] | None = None
    of: type = str
    problem: Callable[[Any], str | Wrong | None] = lambda _value: None

    @property
    def name(self) -> str:
        """`section.key`, as `box config show` and flags name it."""
        return f"{self.section}.{self.key}" if self.section else self.key

    @property
    def variable(self) -> str:
        """The environment variable that overrides the file."""
        return self.environment or "BOX_" + self.name.replace(".", "_").upper()

    def allows(self, number: Any) -> bool:
        """Is the number within the bounds? NaN never is."""
        return self.bounds is None or self.bounds[0] <= number <= self.bounds[1]
