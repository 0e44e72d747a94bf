"""The ops of this daemon by name: lookup, validation and the list that everybody sees.

`tools.list`, `GET /ops` and `python -m exec_daemon --list-ops` all show `Registry.infos` (O-50, O-51).
Adding an op is one file and its place in `exec_daemon.ops.ALLOWLIST`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from exec_daemon.calls.op import Arguments, Op
from messaging import CallError, ErrorCode, OpInfo, digest, error
from messaging.near import did_you_mean, near
from messaging.normalise import Names, names_for, normalise
from patterns import vocabulary


def _info(op: Op) -> OpInfo:
    aliases = vocabulary().op_aliases
    info = OpInfo(
        name=op.name,
        side_effecting=op.side_effecting,
        summary=op.summary,
        args_schema=_schema(op.arguments),
        example=op.example,
        aliases=tuple(sorted(alias for alias, name in aliases.items() if name == op.name)),
        actions=op.actions,
        approval=op.approval,
    )
    return replace(info, digest=digest(info.digest, op.definition)) if op.definition else info


def _schema(model: type[Arguments]) -> dict[str, Any]:
    """JSON Schema without the titles that pydantic makes of class and field names."""
    schema = model.model_json_schema()
    properties = {
        name: {key: value for key, value in field.items() if key != "title"}
        for name, field in schema.get("properties", {}).items()
    }
    kept = {key: value for key, value in schema.items() if key not in ("title", "description")}
    return kept | {"properties": properties}


@dataclass(frozen=True, slots=True)
class Registry:
    """Ops by canonical name, in the order of the allowlist. Build it with `registry()`."""

    ops: Mapping[str, Op]
    infos: tuple[OpInfo, ...]
    names: Names

    @property
    def grantable(self) -> list[str]:
        """What a grant may name: our ops, and those that the vocabulary knows and this daemon has not."""
        return list(dict.fromkeys((*self.ops, *vocabulary().known_ops)))

    def normalise(self, op: str, args: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Op and arguments under their canonical names (O-20)."""
        return normalise(op, args, self.names)

    def find(self, name: str) -> Op | None:
        """The op of this name in any spelling.

        A call whose arguments contradict each other is not normalised (GRAMMAR 5.2): its op still is.
        """
        meaning = self.names.meaning(name)
        return self.ops.get(meaning.op if meaning else name)

    def info(self, name: str) -> OpInfo:
        """What everybody sees of the op of this canonical name."""
        return next(info for info in self.infos if info.name == name)

    def unknown(self, name: str) -> CallError:
        """UNKNOWN_OP with near matches (O-13)."""
        known = [*self.ops, *(alias for info in self.infos for alias in info.aliases)]
        close = near(name, known)
        text = f"There is no op {name[:64]!r}.{did_you_mean(close)} tools.list names all ops."
        return error(ErrorCode.UNKNOWN_OP, text, details={"op": name[:64], "suggestions": close})


def registry(allowlist: tuple[Op, ...]) -> Registry:
    """The registry of `allowlist`; raises ValueError where ops contradict each other or themselves."""
    ops = {op.name: op for op in allowlist}
    if len(ops) != len(allowlist):
        raise ValueError("two ops of the allowlist have the same name")
    if any(op.at_once and op.side_effecting for op in allowlist):
        raise ValueError("an op that changes something does not run at once")
    infos = tuple(_info(op) for op in allowlist)
    return Registry(ops, infos, names_for(infos))


def _problem(op: Op, entry: Mapping[str, Any]) -> dict[str, Any]:
    """One wrong argument: its path, what is wrong, and what may have been meant."""
    path = ".".join(str(part) for part in entry["loc"]) or "arguments"
    problem: dict[str, Any] = {"argument": path[:128], "problem": entry["msg"]}
    if entry["type"] == "extra_forbidden":
        problem["problem"] = "unknown argument"
        problem["suggestions"] = near(path, op.arguments.model_fields)
    elif entry["type"] == "missing":
        problem["problem"] = "missing"
    return problem


def _sentence(problem: Mapping[str, Any]) -> str:
    return f"{problem['argument']}: {problem['problem']}.{did_you_mean(problem.get('suggestions', ()))}"


def wrong_arguments(op: Op, problems: list[dict[str, Any]]) -> CallError:
    """INVALID_ARGS that names each wrong argument and shows what the op takes."""
    schema = _schema(op.arguments)
    takes = ", ".join(
        name if name in schema.get("required", ()) else f"{name}?" for name in schema["properties"]
    )
    text = (
        f"{' '.join(_sentence(problem) for problem in problems)} {op.name} takes {takes or 'no arguments'}."
    )
    details = {"problems": problems, "args_schema": schema, "example": dict(op.example)}
    return error(ErrorCode.INVALID_ARGS, text, details=details)


def validate(op: Op, args: Mapping[str, Any]) -> Arguments | CallError:
    """The op's own arguments, or INVALID_ARGS; no I/O, before anything runs (O-30)."""
    try:
        parsed = op.arguments.model_validate(dict(args))
    except ValidationError as wrong:
        shown = wrong.errors(include_url=False, include_context=False, include_input=False)[:16]
        return wrong_arguments(op, [_problem(op, entry) for entry in shown])
    return op.check(parsed) or parsed
