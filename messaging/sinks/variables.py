"""The environment variables of a tool: one table, for reading, for messages and for docs/messaging.md.

Each has two spellings, `BOX_<NAME>` and `RECIPE_<NAME>` (M-28). Both set and different is an error: one of
them is what somebody forgot. A blank value is not set: compose files pass on variables that nobody gave.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from messaging.sinks.errors import TransportError

OURS: Final = "BOX_"
UPSTREAM: Final = "RECIPE_"


@dataclass(frozen=True, slots=True)
class Variable:
    """One row. An empty default means: not set."""

    default: str
    purpose: str


VARIABLES: Final[Mapping[str, Variable]] = MappingProxyType(
    {
        "TRANSPORT": Variable("stdout", "where events go: stdout, events, file, callback or nats"),
        "JOB_ID": Variable("", "the job's id; a random UUID without it"),
        "EVENTS_PATH": Variable("/tmp/recipe-events.ndjson", "file that `file` appends to"),  # noqa: S108 - M-24
        "CALLBACK_URL": Variable("", "where `callback` posts; required for it"),
        "CALLBACK_SECRET": Variable("", "secret of the HMAC-SHA256 signature"),
        "CALLBACK_ALLOWED_HOSTS": Variable("", "comma list of hosts, or host:port, that the URL may name"),
        "CALLBACK_MAX_RETRIES": Variable("3", "attempts for each event, the first one included"),
        "CALLBACK_CA": Variable("", "CA file that vouches for the receiver's certificate"),
        "CALLBACK_WEBHOOKS": Variable("", "1 adds the headers of Standard Webhooks; needs the secret"),
        "NATS_URL": Variable("", "server that `nats` publishes to; required for it"),
        "NATS_SUBJECT": Variable("", "another subject than jobs.<job_id>.events"),
        "NATS_STREAM": Variable("JOBS", "JetStream stream of the events; made when there is none"),
        "ARTIFACTS": Variable("", "folder for artifacts: what is too large for an event, or no JSON"),
        "UPLOADS": Variable("", 'or pre-signed PUT URLs for them: [{"url": "https://…", "uri": "s3://…"}]'),
        "SPOOL": Variable(
            "", "folder for events that could not be delivered; they wait in memory without it"
        ),
    }
)


class Variables:
    """Reads the table's rows from an environment."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def spelled(self, name: str) -> str:
        """The spelling that is in use, for messages; ours where none is."""
        theirs = self._given(UPSTREAM + name) and not self._given(OURS + name)
        return (UPSTREAM if theirs else OURS) + name

    def __getitem__(self, name: str) -> str:
        """The value or the default; raises `TransportError` for two values."""
        ours, theirs = self._given(OURS + name), self._given(UPSTREAM + name)
        if ours and theirs and ours != theirs:
            raise TransportError(OURS + name, f"differs from {UPSTREAM}{name}; set one of them")
        return ours or theirs or VARIABLES[name].default

    def required(self, name: str) -> str:
        """The value; raises `TransportError` without one."""
        value = self[name]
        if not value:
            raise TransportError(self.spelled(name), f"is not set; {VARIABLES[name].purpose}")
        return value

    def _given(self, spelling: str) -> str:
        return self._environment.get(spelling, "").strip()
