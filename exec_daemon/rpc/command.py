"""What a command is, and what it comes to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from exec_daemon.rpc.payloads import Payload
from exec_daemon.rpc.runtime import Runtime
from messaging.rpc import RpcError


@dataclass(frozen=True, slots=True)
class Done:
    """The result, and what happens once it is given: nothing that follows from it may come before it."""

    result: Mapping[str, Any]
    then: tuple[Callable[[], object], ...] = ()


Answer = Done | RpcError
Run = Callable[[Runtime, Any], Awaitable[Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """`writes`: it changes something, so it happens once (J-13) and needs the grant."""

    payload: type[Payload]
    run: Run
    writes: bool = True
