"""docs/api.md is a test: each request in it is sent, and each answer has the shape that is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema

from exec_daemon.access.identity import Role
from exec_daemon.api.app import EVERY_ROW, OPEN_ROWS, ROWS
from exec_daemon.api.openapi.document import document
from exec_daemon.worker_template import WorkerRuntime, WorkerTemplate
from exec_daemon.workers.rules import WorkerRules

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
DESCRIBED = document(EVERY_ROW)
JSON = {"content-type": "application/json"}
CLIENTS = {"OPERATOR": "operator", "HARVESTER": "harvester", "HERON": "agent/heron"}


class Block(NamedTuple):
    """One fenced HTTP message."""

    first: str
    headers: dict[str, str]
    body: str


def blocks() -> list[Block]:
    found = []
    for text in re.findall(r"```http\n(.*?)```", PAGE, re.DOTALL):
        head, _, body = text.partition("\n\n")
        first, *fields = head.strip().split("\n")
        found.append(Block(first, dict(field.split(": ", 1) for field in fields), body.strip()))
    return found


def shape(value: Any) -> Any:
    """Keys and types; of a list its first entry, since the page shows no more."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value[:1]]
    return (
        "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__
    )


def shortened(real: Any, shown: Any) -> Any:
    """Only what the page shows, where it says by `…` that there is more."""
    if not isinstance(real, dict) or not isinstance(shown, dict):
        return real
    if "…" not in shown:
        return {key: shortened(value, shown.get(key)) for key, value in real.items()}
    return {key: shortened(real[key], shown[key]) for key in shown if key != "…"} | {"…": "…"}


def check_described(method: str, path: str, answer: Any, body: Any) -> None:
    """The answer is one that `/openapi.json` describes for this endpoint and status."""
    bare = path.partition("?")[0]
    at = next(row.path for row in EVERY_ROW if row.method == method and fits(row.path, bare))
    answers = DESCRIBED["paths"][at][method.lower()]["responses"]
    content = answers.get(str(answer.status_code), answers["default"])["content"]
    media = answer.headers["content-type"].partition(";")[0]
    schema = content[media]["schema"]
    jsonschema.validate(
        body if media.endswith("json") and "ndjson" not in media else answer.text,
        schema | {"components": DESCRIBED["components"]},
    )


def fits(row_path: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", row_path), path) is not None


def ids(shown: Any, real: Any) -> Iterator[tuple[str, str]]:
    """The ids of the page and those that stand for them in this run."""
    if isinstance(shown, dict):
        for key in shown.keys() & real.keys():
            if key in ("id", "job_id", "serial", "digest") and shown[key] and shown[key] != real[key]:
                yield shown[key], real[key]
            yield from ids(shown[key], real[key])
    elif isinstance(shown, list) and shown and real:
        yield from ids(shown[0], real[0])


def sse_fields(text: str) -> list[str]:
    return [line.partition(":")[0] for line in text.split("\n")]


def streamed(client: Any, method: str, path: str, shown: str, **sent: Any) -> str:
    """As many lines of the stream as the page shows."""
    with client.stream(method, path, **sent) as answer:
        lines = [line for line, _ in zip(answer.iter_lines(), shown.split("\n"), strict=False)]
    return "\n".join(lines)


def test_each_example_of_the_page_is_answered_as_it_says(start_daemon: Callable[..., Any]) -> None:
    coder = WorkerTemplate(name="coder", runtime=WorkerRuntime.TMUX)
    running, known = start_daemon(workers=WorkerRules(templates={"coder": coder})), dict[str, str]()
    (running.home / "outbox" / "report.txt").write_text("All good.\n")
    messages = blocks()
    for asked, said in zip(messages[::2], messages[1::2], strict=True):
        method, path = asked.first.split(" ")
        body, fields = asked.body, dict(asked.headers)
        for shown, real in known.items():
            path, body = path.replace(shown, real), body.replace(shown, real)
        who = fields.pop("Authorization", "").removeprefix("Bearer ")
        client = running.client(CLIENTS[who]) if who else running.client("operator")
        if said.headers.get("Content-Type") == "text/event-stream":
            assert sse_fields(
                streamed(client, method, path, said.body, headers=fields, content=body or None)
            ) == sse_fields(said.body)
            continue
        answer = client.request(method, path, headers=JSON | fields, content=body or None)
        assert f"{answer.status_code} {answer.reason_phrase}" == said.first, (asked.first, answer.text)
        if said.body.endswith("…"):  # the page shows the lines that matter
            assert set(said.body.split("\n")[:-1]) <= set(answer.text.split("\n"))
            continue
        if said.headers.get("Content-Type") == "text/plain":
            assert answer.text.strip() == said.body
            assert (
                said.headers.items() <= {name.title(): text for name, text in answer.headers.items()}.items()
            )
            continue
        shown_body = json.loads(said.body)
        real_body = answer.json()
        known.update(ids(shown_body, real_body))
        assert shape(shortened(real_body, shown_body)) == shape(shown_body), asked.first
        check_described(method, path, answer, real_body)


def test_the_table_of_the_page_is_the_table_of_the_api() -> None:  # O-80
    def allowed(roles: frozenset[Role]) -> str:
        return "" if roles == frozenset(Role) else f" ({', '.join(sorted(roles))})"

    rows = re.findall(r"^\| `(\S+ \S+)` \| .*?(?: (\([a-z, ]+\)))? \|$", PAGE, re.MULTILINE)
    written = {endpoint: f" {roles}" if roles else "" for endpoint, roles in rows}
    real = {f"{row.method} {row.path}": allowed(row.roles) for row in ROWS}
    assert written == real | {f"{row.method} {row.path}": "" for row in OPEN_ROWS}


def test_the_page_has_an_example_for_every_endpoint() -> None:  # O-80
    asked = [block.first.split(" ") for block in blocks()[::2]]
    for row in EVERY_ROW:
        pattern = re.sub(r"\{\w+\}", "[^/]+", row.path) + r"(\?.*)?"
        assert any(method == row.method and re.fullmatch(pattern, path) for method, path in asked), row
