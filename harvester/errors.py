"""What `harvester` raises. Text that is no call is an event and a failed call is a result; neither is here.

HarvesterError
├── ScannerClosed         a scanner or reader was used after close()
├── UnknownDialect        a dialect was asked for that the table does not have
└── ClientError           the daemon could not be asked
    ├── Unavailable       nobody answers, or not in time; trying again later may help
    ├── BadCertificate    somebody answers whom our CA file does not vouch for
    ├── Unauthenticated   the daemon does not take the token
    ├── Refused           the daemon said no to a request that is not a call; it has a code
    └── ProtocolError     the answer is not what the API promises
"""

from __future__ import annotations

from messaging import CallError


class HarvesterError(Exception):
    """Root of what this package raises."""


class ScannerClosed(HarvesterError):
    """`feed()` or `close()` after `close()`: the caller's mistake."""


class UnknownDialect(HarvesterError, ValueError):
    """No dialect has the `name`; `known` are those that there are."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(f"no dialect {name!r}; there are {', '.join(known)}")
        self.name = name
        self.known = known


class ClientError(HarvesterError):
    """The daemon at `url` could not be asked. The message says the way out."""

    def __init__(self, message: str, *, url: str) -> None:
        super().__init__(message)
        self.url = url


class Unavailable(ClientError):
    """No connection, or no answer in time."""


class BadCertificate(ClientError):
    """TLS verification failed. `ca_file` is the file that was believed."""

    def __init__(self, message: str, *, url: str, ca_file: str) -> None:
        super().__init__(message, url=url)
        self.ca_file = ca_file


class Unauthenticated(ClientError):
    """No token, or one that is unknown, expired or revoked."""


class Refused(ClientError):
    """A problem document (RFC 9457) came back. `error` holds its code, message and details."""

    def __init__(self, error: CallError, *, url: str) -> None:
        super().__init__(f"{error.code}: {error.message}", url=url)
        self.error = error


class ProtocolError(ClientError):
    """What answers at `url` does not speak our API, or another version of it."""
