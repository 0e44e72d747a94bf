"""What a sink raises.

SinkError
├── TransportError    the environment names no sink that can be made; a usage error (M-21, M-28, M-30)
├── SinkBroken        the place cannot take events: the reader has left, the disk is full, …
├── Undelivered       the other side did not take an event, as often as it was tried (M-40)
└── SinkClosed        misuse: an event after `close()`
"""

from __future__ import annotations

from messaging.errors import MessagingError


class SinkError(MessagingError):
    """Root of what a sink raises."""


class TransportError(SinkError):
    """The environment asks for what cannot be. `variable` is the name to look at."""

    def __init__(self, variable: str, problem: str) -> None:
        super().__init__(f"{variable}: {problem}")
        self.variable = variable


class SinkBroken(SinkError):
    """The place where events go cannot take them."""


class Undelivered(SinkError):
    """An event was not taken. `attempts` says how often it was tried, `reason` what the last one met.

    `refused`: the other side will not take it later either.
    """

    def __init__(self, key: str, attempts: int, reason: str, *, refused: bool = False) -> None:
        super().__init__(f"event {key} was not delivered after {attempts} attempts: {reason}")
        self.key = key
        self.attempts = attempts
        self.reason = reason
        self.refused = refused


class SinkClosed(SinkError):
    """Misuse: an event after `close()`."""
