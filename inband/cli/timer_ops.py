"""Ops, called as anybody calls them; what is refused is an error of the command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harvester import DaemonClient
from harvester.errors import Refused
from messaging import Call, CallRequest


def call_op(client: DaemonClient, op: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """The result; raises `Refused`. Arguments that are None are left out."""
    given = {name: value for name, value in args.items() if value is not None}
    result = client.call(CallRequest(call=Call(op, given)))
    if result.error is not None:
        raise Refused(result.error, url=client.url)
    return dict(result.data)
