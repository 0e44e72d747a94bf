"""The reference tool as a process, against a real web server (M-14, M-15, M-88)."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from messaging import ArtifactRef, EventType, JobEvent
from messaging.artifact_stores import LocalStore, S3Store
from messaging.sources import read_lines, run_child
from messaging.tool_exit import STAGES
from tests.integration._s3_server import CREDENTIALS, s3_server
from tests.messaging._events import TS
from tests.messaging._pages import Pages, Served, moved

ROOT = Path(__file__).resolve().parents[2]
TOOL = [sys.executable, "-m", "page_extract"]

SOUP = Served(
    b"<html><head><title>Soup &amp; bread</title><style>p {}</style></head><body><nav>Home</nav>"
    b"<h1>Soup</h1><p>Boil  <b>water</b>.<ul><li>Salt<li>Leek</ul><script>alert(1)</script></body></html>"
)
PAGES: Mapping[str, Served] = {
    "/soup": SOUP,
    "/latin": Served(b"<p>caf\xe9", headers={"content-type": "text/html; charset=iso-8859-1"}),
    "/bare": Served(b"<p>hello", headers={"content-type": "text/html"}),
    "/notes.txt": Served(b"one\n\ntwo\n", headers={"content-type": "text/plain; charset=utf-8"}),
    "/empty": Served(b"<title>App</title><div id=root></div><script>run()</script>"),
    "/broken": Served(status=500),
    "/picture": Served(b"\x89PNG", headers={"content-type": "image/png"}),
    "/film.mp4": Served(b"film"),
    "/inside": moved("http://10.0.0.5/admin"),
    "/long": Served(b"<title>Long</title>" + (b"<p>" + b"word " * 10) * 6_000),
}


def environment(pages: Pages, **more: str) -> dict[str, str]:
    given = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'examples'}", "BOX_JOB_ID": "job-1"}
    return given | {"BOX_TRANSPORT": "events", "PAGE_PRIVATE_HOSTS": pages.authority} | more


def run(pages: Pages, *arguments: str, **more: str) -> tuple[int, list[JobEvent], str]:
    done = subprocess.run(
        [*TOOL, *arguments], env=environment(pages, **more), capture_output=True, check=False, timeout=60
    )
    return done.returncode, list(read_lines(done.stdout)), done.stderr.decode()


def told(events: list[JobEvent]) -> list[str]:
    """The type of each event, with what it is about: `progress extract`, `failed blocked_url`."""
    named = {EventType.PROGRESS: "stage", EventType.FAILED: "code"}
    return [
        " ".join(filter(None, (str(one.type), one.payload.get(named.get(one.type, ""))))) for one in events
    ]


@pytest.fixture(scope="module")
def pages() -> Any:
    with Pages(PAGES) as serving:
        yield serving


READ = ["accepted", "progress classify", "progress extract"]


@pytest.mark.parametrize(
    ("path", "exit_code", "events"),
    [
        ("/soup", 0, [*READ, "progress format", "succeeded"]),
        ("/bare", 0, [*READ, "warning", "warning", "progress format", "succeeded"]),
        ("/notes.txt", 0, [*READ, "progress format", "succeeded"]),
        ("/inside", 3, [*READ, "failed blocked_url"]),
        ("/broken", 4, [*READ, "failed extraction"]),
        ("/missing", 4, [*READ, "failed extraction"]),
        ("/picture", 4, [*READ, "failed extraction"]),
        ("/film.mp4", 4, [*READ, "failed extraction"]),
        ("/empty", 5, [*READ, "progress format", "failed formatting"]),
    ],
)
def test_each_page_has_its_sequence_and_exit_code(
    pages: Pages, path: str, exit_code: int, events: list[str]
) -> None:
    # M-14, M-15, M-88
    code, seen, said = run(pages, pages.url + path)
    assert (code, told(seen)) == (exit_code, events)
    assert [one.seq for one in seen] == list(range(len(seen)))
    assert {str(one.payload["stage"]) for one in seen if "stage" in one.payload} <= set(STAGES)
    assert bool(said) is bool(exit_code)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/", "http://169.254.169.254/latest/meta-data", "file:///etc/passwd"]
)
def test_a_blocked_url_is_not_fetched(pages: Pages, url: str) -> None:  # M-88
    code, seen, _ = run(pages, url)
    assert (code, told(seen)) == (3, ["accepted", "failed blocked_url"])


@pytest.mark.parametrize("arguments", [[], ["http://a.example/", "http://b.example/"]])
def test_without_a_url_nothing_is_accepted(pages: Pages, arguments: list[str]) -> None:  # M-12, M-88
    code, seen, said = run(pages, *arguments)
    assert (code, told(seen), said) == (2, ["failed usage"], "usage: page_extract URL\n")


def test_the_result_is_the_text_of_the_page(pages: Pages) -> None:  # M-88
    _, seen, _ = run(pages, pages.url + "/soup")
    assert seen[-1].payload["result"] == {
        "url": pages.url + "/soup",
        "title": "Soup & bread",
        "markdown": "# Soup\n\nBoil water.\n\n- Salt\n\n- Leek\n",
        "words": 5,
    }


def test_the_encoding_that_the_server_names_is_used(pages: Pages) -> None:
    _, seen, _ = run(pages, pages.url + "/latin")
    assert seen[-1].payload["result"]["markdown"] == "café\n"


def test_on_stdout_stands_the_result_alone(pages: Pages) -> None:
    done = subprocess.run(
        [*TOOL, pages.url + "/soup"],
        env=environment(pages, BOX_TRANSPORT=""),
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["title"] == "Soup & bread"


async def test_the_page_and_a_long_result_are_kept_as_artifacts(pages: Pages, tmp_path: Path) -> None:
    # M-81, M-89
    _, seen, _ = await asyncio.to_thread(run, pages, pages.url + "/long", BOX_ARTIFACTS=str(tmp_path))
    page, whole = seen[-1].payload["artifacts"]
    assert all("artifacts" not in one.payload for one in seen[:-1])
    assert seen[-1].payload["result"] == {"artifact": whole}
    store = LocalStore(tmp_path)
    assert await store.get(ArtifactRef.from_json(page)) == PAGES["/long"].content
    assert json.loads(await store.get(ArtifactRef.from_json(whole)))["words"] == 60_000


async def test_a_parent_mints_uploads_follows_the_tool_and_reads_what_it_kept(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    # M-82, M-84, M-85: the whole way without docker (M-86), and the tool has no credentials
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with s3_server() as server:
        parent = S3Store(server.bucket)
        uploads = [await parent.mint("job-1", number) for number in range(2)]
        slots = json.dumps([{"url": upload.url, "uri": upload.uri} for upload in uploads])
        done = await run_child(
            [*TOOL, pages.url + "/soup"],
            "job-1",
            environment=environment(pages, BOX_UPLOADS=slots),
            clock=lambda: TS,
        )
        (document,) = done.end.event.payload["artifacts"]
        ref = ArtifactRef.from_json(document)
        assert (ref.uri, await parent.get(ref)) == (uploads[0].uri, SOUP.content)
    everything = b"".join(event.encode() for event in done.events) + done.log_tail
    assert b"Signature" not in everything
