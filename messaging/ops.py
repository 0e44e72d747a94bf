"""An op as everyone sees it: the row behind `tools.list`, `GET /ops`, `--list-ops` and the envelope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class OpInfo:
    """One op of the registry. `args_schema` is JSON Schema (2020-12) of the arguments object.

    `example` is an arguments object that the op accepts; `actions` is set for `box.exec` only: its 27
    actions, each with the type of its argument or None (O-53). `allowed` is for the asker; None where
    nobody asked.
    """

    name: str
    side_effecting: bool
    summary: str
    args_schema: Mapping[str, Any]
    example: Mapping[str, Any] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    actions: tuple[tuple[str, str | None], ...] = ()
    allowed: bool | None = None

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the arguments that a call must have."""
        return tuple(self.args_schema.get("required", ()))

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of all arguments, in the order of the schema."""
        return tuple(self.args_schema.get("properties", ()))

    def to_json(self) -> dict[str, Any]:
        """The document of `GET /ops/{op}`."""
        body: dict[str, Any] = {
            "op": self.name,
            "side_effecting": self.side_effecting,
            "summary": self.summary,
            "args_schema": dict(self.args_schema),
            "example": dict(self.example),
            "aliases": list(self.aliases),
        }
        if self.actions:
            body["actions"] = [{"action": name, "arg": arg} for name, arg in self.actions]
        return body | ({} if self.allowed is None else {"allowed": self.allowed})

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> OpInfo:
        """The inverse of `to_json`; raises KeyError when a key is missing."""
        return cls(
            name=body["op"],
            side_effecting=body["side_effecting"],
            summary=body["summary"],
            args_schema=body["args_schema"],
            example=body["example"],
            aliases=tuple(body["aliases"]),
            actions=tuple((row["action"], row["arg"]) for row in body.get("actions", ())),
            allowed=body.get("allowed"),
        )
