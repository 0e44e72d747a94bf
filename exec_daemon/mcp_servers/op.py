"""An approved tool of an MCP server as an `Op` like our own: the same decision, journal and listing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pydantic import ConfigDict

from exec_daemon.box.hygiene import clean_tree
from exec_daemon.calls.op import Arguments, Ended, Op, OpContext, Success
from exec_daemon.mcp_servers.pins import Pin
from exec_daemon.mcp_servers.spec import McpSpec
from messaging import CallError, ErrorCode, error

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from exec_daemon.mcp_servers.link import Link

# Beyond the server's own limit: to connect first.
_MORE_S: Final = 20.0


def mcp_op(spec: McpSpec, pin: Pin, link: Link | None) -> Op:
    """The op; without a link only to be looked at.

    What it changes is elsewhere: after a crash nobody knows, and it is never called again.
    """

    async def run(args: Arguments, _: OpContext) -> Ended:
        from exec_daemon.mcp_servers.link import LinkDown

        assert link is not None, "an op that is called has a link"
        try:
            answer = await link.call(pin, dict(args.model_extra or {}))
        except LinkDown as down:
            return error(ErrorCode.UNAVAILABLE, f"The server {spec.name} cannot be asked now: {down}")
        return _changed(spec, pin) if answer is None else await asyncio.to_thread(_ended, answer)

    return Op(
        name=spec.op_name(pin.tool),
        summary=_first_line(pin.description) or f"{pin.tool} of the MCP server {spec.name}.",
        side_effecting=not pin.read_only or pin.tool in spec.side_effecting,
        arguments=_arguments(pin.schema),
        example=_example(pin.schema),
        definition=pin.sha256,
        run=run,
        check=_checker(pin.schema),
        effects_inside=False,
        time_limit_s=spec.time_limit_s + _MORE_S,
    )


def _first_line(text: str) -> str:
    return " ".join(text.strip().partition("\n")[0].split())[:300]


def _arguments(pinned: Mapping[str, Any]) -> type[Arguments]:
    """A model that takes any object: the schema is the server's, and `_checker` holds calls to it."""

    class Remote(Arguments):
        model_config = ConfigDict(strict=True, extra="allow", frozen=True)

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return dict(pinned)

    return Remote


_SAMPLES: Final[Mapping[str, Any]] = {
    "string": "text",
    "integer": 1,
    "number": 1,
    "boolean": True,
    "array": [],
    "object": {},
}


def _example(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A value for each required argument, from what the schema says of it."""
    shapes = schema.get("properties", {})
    return {name: _sample(shapes.get(name, {})) for name in schema.get("required", ())}


def _sample(shape: Mapping[str, Any]) -> Any:
    given = [shape[key] for key in ("const", "default") if key in shape]
    listed = [*given, *shape.get("examples", ()), *shape.get("enum", ())]
    return listed[0] if listed else _SAMPLES.get(str(shape.get("type")), "text")


def _checker(pinned: Mapping[str, Any]) -> Any:
    def check(args: Arguments) -> CallError | None:
        from exec_daemon.mcp_servers.schema import first_wrong

        try:
            wrong = first_wrong(pinned, args.model_extra or {})
        except TimeoutError:
            text = "The tool's schema cannot be held against these arguments in time; try shorter ones."
            return error(ErrorCode.INVALID_ARGS, text)
        if wrong is None:
            return None
        problem = {"argument": wrong[0], "problem": wrong[1]}
        text = f"{problem['argument']}: {problem['problem']}."
        return error(
            ErrorCode.INVALID_ARGS, text, details={"problems": [problem], "args_schema": dict(pinned)}
        )

    return check


def _changed(spec: McpSpec, pin: Pin) -> CallError:
    text = (
        f"The server {spec.name} no longer offers {pin.tool} as it was approved. "
        f"An operator looks at it with `box mcp review {spec.name}`."
    )
    return error(ErrorCode.NOT_FOUND, text)


def _ended(answer: CallToolResult) -> Ended:
    """What the tool says is as untrusted as any text: cleaned here, made inert where it is shown.

    A tool that ran and says that it failed is a result; a call error is for what did not run.
    """
    texts = [part.text for part in answer.content if part.type == "text"]
    others = [part.type for part in answer.content if part.type != "text"]
    data: dict[str, Any] = {"text": "\n".join(texts)} if answer.structured_content is None else {}
    if answer.structured_content is not None:
        data["result"] = answer.structured_content
    data |= {"left_out": others} if others else {}
    return Success(clean_tree(data | ({"is_error": True} if answer.is_error else {})))
