"""What the operator has written down about who may do what, as `box.toml` has it (docs/grants.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from exec_daemon.access.approval import ApprovalPolicy
from exec_daemon.access.chain import ChainPolicy
from exec_daemon.access.grants import Grant


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """`grants` by role or identity; `approvals` says what waits for a person, and for how long, `chain`
    what may not follow on what.
    """

    grants: Mapping[str, Grant] = field(default_factory=lambda: MappingProxyType({}))
    approvals: ApprovalPolicy = field(default_factory=ApprovalPolicy)
    chain: ChainPolicy = field(default_factory=ChainPolicy)
