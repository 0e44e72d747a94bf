"""Which sink the environment asks for: one table (M-20 to M-22, M-26 to M-38, M-69).

    selected = transport(os.environ)
    job = JobEmitter(selected.job_id, selected.sink, clock=utc_now)

Everything is checked before any work begins; what is wrong raises `TransportError`, a usage error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final
from uuid import uuid4

from messaging.emitter import Sink
from messaging.events import JOB_ID
from messaging.sinks.backlog import BacklogSink
from messaging.sinks.errors import SinkBroken, TransportError
from messaging.sinks.file import FileSink
from messaging.sinks.lines import EventsSink, ResultSink
from messaging.sinks.retry import Retries
from messaging.sinks.target import allowed_hosts, check_names, check_server, check_target
from messaging.sinks.variables import UPSTREAM, Variables

_STDOUT: Final = 1
# Those whose other side may be away and come back.
_NETWORK: Final = frozenset({"callback", "nats"})
_DEFAULT_ATTEMPTS: Final = 3
# More attempts than this last for hours.
_MOST_ATTEMPTS: Final = 1000


@dataclass(frozen=True, slots=True)
class Selected:
    """What the environment asks for. `direct` is the sink without the spool or backlog around it."""

    name: str
    job_id: str
    sink: Sink
    direct: Sink


def transport(environment: Mapping[str, str], new_id: Callable[[], str] = lambda: str(uuid4())) -> Selected:
    """The sink of this environment, and the job's id; raises `TransportError`."""
    variables = Variables(environment)
    name = variables["TRANSPORT"]
    if name not in SINKS:
        allowed = ", ".join(SINKS)
        raise TransportError(variables.spelled("TRANSPORT"), f"{name!r} is none of {allowed}")
    job_id = _job_id(variables, new_id)
    direct = SINKS[name](variables, job_id)
    return Selected(name, job_id, _patient(name, direct, variables), direct)


def _job_id(variables: Variables, new_id: Callable[[], str]) -> str:
    given = variables["JOB_ID"] or new_id()
    if not JOB_ID.fullmatch(given):
        raise TransportError(variables.spelled("JOB_ID"), "1 to 128 of A-Z a-z 0-9 _ and - are taken")
    return given


def _patient(name: str, sink: Sink, variables: Variables) -> Sink:
    if not variables["SPOOL"]:
        return BacklogSink(sink) if name in _NETWORK else sink
    from messaging.sinks.spool import Spool, SpoolingSink

    return SpoolingSink(sink, Spool(Path(variables["SPOOL"])))


def _file(variables: Variables, _: str) -> Sink:
    try:
        return FileSink(Path(variables["EVENTS_PATH"]))
    except SinkBroken as broken:
        raise TransportError(variables.spelled("EVENTS_PATH"), str(broken)) from None


def _callback(variables: Variables, _: str) -> Sink:
    """httpx2 is loaded here, by whoever needs it."""
    from messaging.sinks.callback import Callback, CallbackSink

    url = variables.required("CALLBACK_URL")
    hosts = allowed_hosts(variables["CALLBACK_ALLOWED_HOSTS"])
    callback = Callback(
        url=check_target(url, hosts, variable=variables.spelled("CALLBACK_URL")),
        secret=variables["CALLBACK_SECRET"] or None,
        ca_file=_existing(variables, "CALLBACK_CA"),
        standard_webhooks=_webhooks(variables),
        retries=Retries(attempts=attempts(variables["CALLBACK_MAX_RETRIES"])),
    )
    return CallbackSink(callback)


def _existing(variables: Variables, name: str) -> Path | None:
    path = variables[name]
    if path and not Path(path).is_file():
        raise TransportError(variables.spelled(name), f"there is no file {path}")
    return Path(path) if path else None


def _webhooks(variables: Variables) -> bool:
    wanted = variables["CALLBACK_WEBHOOKS"]
    if wanted not in ("", "0", "1"):
        raise TransportError(variables.spelled("CALLBACK_WEBHOOKS"), "must be 1 or 0")
    if wanted == "1" and not variables["CALLBACK_SECRET"]:
        raise TransportError(variables.spelled("CALLBACK_WEBHOOKS"), "needs BOX_CALLBACK_SECRET")
    return wanted == "1"


def attempts(text: str) -> int:
    """M-38: a whole number from 1 on; whatever else stands there counts as 3."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    return min(number, _MOST_ATTEMPTS) or _DEFAULT_ATTEMPTS


def _nats(variables: Variables, job_id: str) -> Sink:
    from messaging.sinks.nats import NatsSink, NatsTarget
    from messaging.sinks.nats_connection import check_installed

    url = check_server(variables.required("NATS_URL"), variables.spelled("NATS_URL"))
    # M-69: whoever uses upstream's spelling gives the subject with it.
    upstream = variables.spelled("TRANSPORT").startswith(UPSTREAM)
    subject = variables.required("NATS_SUBJECT") if upstream else variables["NATS_SUBJECT"]
    stream = variables["NATS_STREAM"]
    check_names(subject, variables.spelled("NATS_SUBJECT"), stream, variables.spelled("NATS_STREAM"))
    check_installed()
    return NatsSink(NatsTarget(url=url, job_id=job_id, subject=subject or None, stream=stream))


SINKS: Final[Mapping[str, Callable[[Variables, str], Sink]]] = MappingProxyType(
    {
        "stdout": lambda _variables, _job_id: ResultSink(_STDOUT),
        "events": lambda _variables, _job_id: EventsSink(_STDOUT),
        "file": _file,
        "callback": _callback,
        "nats": _nats,
    }
)
