"""An op as everyone sees it: the row behind `tools.list`, `GET /ops`, `--list-ops` and the envelope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from typing import Any

from messaging.canonical import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class OpInfo:
    """One op of the registry. `args_schema` is JSON Schema (2020-12) of the arguments object.

    `example` is an arguments object that the op accepts; `actions` is set for `box.exec` only: its 27
    actions, each with the type of its argument or None (O-53). `allowed` is for the asker; None where
    nobody asked. `approval` says that a person approves each call. `digest` changes with
    name, summary, schema, actions and flags, so that a client can pin the op that it has looked at.
    """

    name: str
    side_effecting: bool
    summary: str
    args_schema: Mapping[str, Any]
    example: Mapping[str, Any] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    actions: tuple[tuple[str, str | None], ...] = ()
    allowed: bool | None = None
    approval: bool = False
    digest: str = ""

    def __post_init__(self) -> None:
        """What has no digest is given its own; a document that was read keeps the one it came with."""
        if not self.digest:
            object.__setattr__(self, "digest", self._own_digest())

    def _own_digest(self) -> str:
        flags = {"side_effecting": self.side_effecting, "approval": self.approval}
        return digest(self.name, self.summary, dict(self.args_schema), self.actions, flags)

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
            "digest": self.digest,
        }
        if self.approval:
            body["approval"] = True
        if self.actions:
            body["actions"] = [{"action": name, "arg": arg} for name, arg in self.actions]
        return body | ({} if self.allowed is None else {"allowed": self.allowed})

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> OpInfo:
        """The inverse of `to_json`; raises KeyError. An op without its flag counts as side-effecting."""
        return cls(
            name=body["op"],
            side_effecting=body.get("side_effecting", True),
            summary=body["summary"],
            args_schema=body["args_schema"],
            example=body["example"],
            aliases=tuple(body["aliases"]),
            actions=tuple((row["action"], row["arg"]) for row in body.get("actions", ())),
            allowed=body.get("allowed"),
            approval=body.get("approval", False),
            digest=body.get("digest", ""),
        )


def catalogue(infos: Iterable[OpInfo]) -> str:
    """One digest over all ops: it changes when one comes, goes or changes."""
    return _of_digests(tuple(map(_its_digest, infos)))


_its_digest = attrgetter("digest")


@lru_cache(maxsize=8)
def _of_digests(digests: tuple[str, ...]) -> str:
    return digest(list(digests))
