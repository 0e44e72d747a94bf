"""Which sink an environment asks for (M-20, M-21, M-24, M-27, M-28, M-30 to M-36, M-69)."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from messaging import JOB_ID
from messaging.sinks import (
    SINKS,
    CallbackSink,
    EventsSink,
    FileSink,
    NatsSink,
    ResultSink,
    SpoolingSink,
    TransportError,
    transport,
)

URL = "http://127.0.0.1:9/cb"


@pytest.mark.parametrize("prefix", ["BOX_", "RECIPE_"])
async def test_each_name_selects_its_sink(prefix: str, tmp_path: Path) -> None:  # M-20, M-28
    more = {
        "EVENTS_PATH": str(tmp_path / "e"),
        "CALLBACK_URL": URL,
        "NATS_URL": "nats://x",
        "NATS_SUBJECT": "s",
    }
    wanted = {
        "stdout": ResultSink,
        "events": EventsSink,
        "file": FileSink,
        "callback": CallbackSink,
        "nats": NatsSink,
    }
    assert set(wanted) == set(SINKS)
    for name, kind in wanted.items():
        environment = {prefix + key: value for key, value in ({"TRANSPORT": name} | more).items()}
        selected = transport(environment)
        assert isinstance(selected.direct, kind)
        await selected.sink.close()


def test_without_a_name_it_is_stdout_and_the_id_is_random() -> None:  # M-20, M-27
    one, other = transport({}), transport({})
    assert (one.name, type(one.sink)) == ("stdout", ResultSink)
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", one.job_id)
    assert JOB_ID.fullmatch(one.job_id)
    assert one.job_id != other.job_id


REFUSED: dict[str, tuple[Mapping[str, str], str]] = {
    "unknown name": (
        {"BOX_TRANSPORT": "smoke"},
        "BOX_TRANSPORT: 'smoke' is none of stdout, events, file, callback, nats",
    ),
    "unknown name, upstream": ({"RECIPE_TRANSPORT": "x"}, "RECIPE_TRANSPORT: 'x' is none of"),
    "job id": ({"BOX_JOB_ID": "a.b"}, "BOX_JOB_ID"),
    "two values": ({"BOX_JOB_ID": "a", "RECIPE_JOB_ID": "b"}, "BOX_JOB_ID: differs from RECIPE_JOB_ID"),
    "no URL": ({"RECIPE_TRANSPORT": "callback"}, "BOX_CALLBACK_URL: is not set"),
    "no http": ({"BOX_TRANSPORT": "callback", "BOX_CALLBACK_URL": "ftp://a/"}, "BOX_CALLBACK_URL: only http"),
    "other host": (
        {"BOX_TRANSPORT": "callback", "RECIPE_CALLBACK_URL": URL, "BOX_CALLBACK_ALLOWED_HOSTS": "a"},
        "RECIPE_CALLBACK_URL: the host 127.0.0.1:9 is not among the allowed ones: a",
    ),
    "no CA": (
        {"BOX_TRANSPORT": "callback", "BOX_CALLBACK_URL": URL, "BOX_CALLBACK_CA": "/no"},
        "no file /no",
    ),
    "webhooks": (
        {"BOX_TRANSPORT": "callback", "BOX_CALLBACK_URL": URL, "BOX_CALLBACK_WEBHOOKS": "1"},
        "needs",
    ),
    "webhooks?": (
        {"BOX_TRANSPORT": "callback", "BOX_CALLBACK_URL": URL, "BOX_CALLBACK_WEBHOOKS": "y"},
        "1 or 0",
    ),
    "no server": ({"BOX_TRANSPORT": "nats"}, "BOX_NATS_URL: is not set"),
    "no broker": ({"BOX_TRANSPORT": "nats", "BOX_NATS_URL": "http://a"}, "BOX_NATS_URL: must be the URL"),
    "no port": ({"BOX_TRANSPORT": "nats", "BOX_NATS_URL": "nats://a:x"}, "BOX_NATS_URL: must be the URL"),
    "wildcard": (
        {"BOX_TRANSPORT": "nats", "BOX_NATS_URL": "nats://a", "BOX_NATS_SUBJECT": "jobs.>"},
        "BOX_NATS_SUBJECT: must be words",
    ),
    "stream": (
        {"BOX_TRANSPORT": "nats", "BOX_NATS_URL": "nats://a", "RECIPE_NATS_STREAM": "a.b"},
        "RECIPE_NATS_STREAM: must be of",
    ),
    "no subject": (
        {"RECIPE_TRANSPORT": "nats", "RECIPE_NATS_URL": "nats://x"},
        "BOX_NATS_SUBJECT: is not set",
    ),
    "no folder": (
        {"BOX_TRANSPORT": "file", "BOX_EVENTS_PATH": "/no/such/folder/e"},
        "BOX_EVENTS_PATH: .*cannot be",
    ),
}


@pytest.mark.parametrize(("environment", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_before_any_work(
    environment: Mapping[str, str], message: str
) -> None:  # M-21, M-30
    with pytest.raises(TransportError, match=message):
        transport(environment)


def test_without_the_extra_nats_is_refused_before_any_work() -> None:  # M-30
    program = (
        "import sys; sys.modules['nats'] = None\n"
        "from messaging.sinks import TransportError, transport\n"
        "try: transport({'BOX_TRANSPORT': 'nats', 'BOX_NATS_URL': 'nats://x'})\n"
        "except TransportError as wrong: print(wrong)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout == "BOX_TRANSPORT: nats needs the extra of that name: inband[nats]\n"


def test_the_same_value_twice_is_no_contradiction() -> None:  # M-28
    assert transport({"BOX_JOB_ID": "a", "RECIPE_JOB_ID": "a"}).job_id == "a"


def test_a_blank_value_is_none_at_all() -> None:  # M-28
    named = {"BOX_TRANSPORT": "events", "RECIPE_TRANSPORT": " ", "BOX_JOB_ID": "", "RECIPE_JOB_ID": "a"}
    selected = transport(named)
    assert (selected.name, selected.job_id) == ("events", "a")


def test_the_file_has_upstreams_default() -> None:  # M-24
    from messaging.sinks import VARIABLES

    assert VARIABLES["EVENTS_PATH"].default == "/tmp/recipe-events.ndjson"


async def test_a_spool_is_put_around_the_sink(tmp_path: Path) -> None:  # M-43
    selected = transport({"BOX_TRANSPORT": "callback", "BOX_CALLBACK_URL": URL, "BOX_SPOOL": str(tmp_path)})
    assert isinstance(selected.sink, SpoolingSink)
    assert isinstance(selected.direct, CallbackSink)
    await selected.sink.close()
