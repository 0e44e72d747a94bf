"""What the daemon raises when it cannot start or go on.

    DaemonError
    ├── PortTaken           something else listens on the port
    ├── AddressRefused      an address that may not, or cannot, be listened on
    ├── HomeUnusable        the state directory cannot be written or is open to others
    ├── CertificateUnusable a certificate or key of ours is damaged
    └── SandboxLacking      something that `sandbox.require` demands is not here

Each message says the way out; `subject` is the port, address or path that it is about. What the store
raises has its own root, `StoreError`.
"""

from __future__ import annotations


class DaemonError(Exception):
    """Root of what the daemon raises."""

    def __init__(self, message: str, subject: str) -> None:
        super().__init__(message)
        self.subject = subject


class PortTaken(DaemonError):
    """Something else listens on the port."""


class AddressRefused(DaemonError):
    """The address may not, or cannot, be listened on."""


class HomeUnusable(DaemonError):
    """The state directory cannot be used."""


class RuleUnusable(DaemonError):
    """A rule of `box.toml` speaks of what does not exist."""


class CertificateUnusable(DaemonError):
    """A certificate or key of ours is damaged."""


class SandboxLacking(DaemonError):
    """What the settings demand around programs cannot be had on this machine."""
