"""The daemon's HTTP API as methods: what the watcher, the command and any program of ours ask with."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import httpx2

from harvester.client.administration import Administration
from harvester.client.certificates import Certificates
from harvester.client.failures import refusal
from harvester.client.permissions import Permissions
from harvester.client.retry import RetryPolicy
from harvester.client.stream import follow
from harvester.client.timers import Timers
from harvester.client.tls import ClientCertificate
from harvester.client.wire import Answer, Request, Wire, given, segment
from harvester.client.workers import Workers
from harvester.errors import ProtocolError, Refused
from messaging import CallRequest, Job, Message, OpInfo, Result, Thread
from messaging.artifacts import sha256_of
from messaging.tracing import HEADER, traceparent

# Over the daemon's own limits for an op (20 s), so that its typed TIMEOUT arrives before ours.
TIMEOUT_S = 60.0
# A long poll is answered after its wait plus the time for one read of the store.
_POLL_SLACK_S = 10.0


class Replies(NamedTuple):
    """Replies of all threads in store order, and the position up to which they were looked for."""

    messages: tuple[Message, ...]
    position: int


class Posted(NamedTuple):
    """A message of the store; `replayed` when an earlier append with the same key had made it."""

    message: Message
    replayed: bool


class DaemonClient(Permissions, Timers, Workers, Certificates, Administration):
    """A synchronous client, usable from several threads; close it or use it as a context manager.

    `base_url` is `https://HOST:PORT`, or `unix:PATH` for a socket of this machine. `token` is a bearer token;
    without one the daemon knows the caller by its `certificate` or, on the socket, by its user. `ca_file` is
    the only CA that is believed, `timeout_s` the longest wait for an answer. Each method raises `ClientError`
    (see `harvester.errors`); a call that was refused or failed is a `Result` and raises nothing.
    """

    def __init__(
        self,
        base_url: str,
        token: str | None,
        ca_file: str | Path,
        timeout_s: float = TIMEOUT_S,
        *,
        certificate: ClientCertificate | None = None,
        retry: RetryPolicy | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        policy = retry or RetryPolicy()
        self._wire = Wire(
            base_url,
            token,
            ca_file,
            timeout_s=timeout_s,
            retry=policy,
            certificate=certificate,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._wire.close()

    @property
    def url(self) -> str:
        """Where the daemon is."""
        return self._wire.url

    # Calls and ops

    def call(self, request: CallRequest, retry: RetryPolicy | None = None) -> Result:
        """Run one call. With a call id it is repeated as `retry` says, without one it is sent once.

        The result of a dry run holds `{"would": {op, args, side_effecting}}`.
        """
        repeatable = request.call.call_id is not None or request.dry_run
        headers = given({HEADER: traceparent()})
        ask = Request(
            method="POST", path="/exec", repeatable=repeatable, body=request.to_json(), headers=headers
        )
        answer = self._wire.ask(ask, retry)
        if answer.status == HTTPStatus.UNAUTHORIZED:
            raise refusal(answer.body, self.url)
        return self._result(request, answer)

    def ops(self) -> list[OpInfo]:
        """The registry; `allowed` is for this client's identity."""
        with self._wire.reading("/ops"):
            return [OpInfo.from_json(row) for row in self._wire.get("/ops")["ops"]]

    def op(self, name: str) -> OpInfo:
        """One op of the registry; raises `Refused` with UNKNOWN_OP."""
        with self._wire.reading("/ops"):
            return OpInfo.from_json(self._wire.get(f"/ops/{segment(name)}"))

    # Jobs

    def jobs(self, state: str | None = None, limit: int = 50) -> list[Job]:
        """The newest jobs that this identity may see."""
        with self._wire.reading("/jobs"):
            query = given({"limit": limit, "state": state})
            return [Job.from_json(row) for row in self._wire.get("/jobs", query)["jobs"]]

    def job(self, job_id: str) -> Job:
        """One job; raises `Refused` with NOT_FOUND."""
        with self._wire.reading("/jobs"):
            return Job.from_json(self._wire.get(f"/jobs/{segment(job_id)}"))

    def job_events(self, job_id: str, after: int = -1, wait_s: float = 0.0) -> list[dict[str, Any]]:
        """The steps of a job behind number `after`, each as `JobEvent.to_json` writes it.

        Of a job that runs the next one is waited for, up to `wait_s` seconds.
        """
        query = given({"after": after if after >= 0 else None, "wait": wait_s or None})
        with self._wire.reading("/jobs"):
            path = f"/jobs/{segment(job_id)}/events"
            return list(self._wire.get(path, query, read_s=wait_s + _POLL_SLACK_S)["events"])

    def expect_job(self, job_id: str | None = None) -> dict[str, Any]:
        """A job that will run elsewhere: `{job_id, url, secret}` for the program that tells its events."""
        with self._wire.reading("/callback"):
            return self._wire.post("/callback", given({"job_id": job_id}))

    def cancel(self, job_id: str) -> Job:
        """Cancel a running job. Cancelling twice is cancelling once."""
        with self._wire.reading("/jobs"):
            return Job.from_json(self._wire.post(f"/jobs/{segment(job_id)}/cancel", {}, repeatable=True))

    def artifact(self, sha256: str) -> bytes:
        """What a job has kept under this hash, compared with it (M-84)."""
        ask = Request(method="GET", path=f"/artifacts/{segment(sha256)}", repeatable=True)
        try:
            with closing(self._wire.open(ask)) as response:
                content = response.read()
        except httpx2.RequestError as failure:
            raise self._wire.typed(failure) from failure
        if sha256_of(content) != sha256:
            raise ProtocolError(f"{self.url} sent other content than artifact {sha256[:64]}", url=self.url)
        return content

    # Threads

    def threads(self, agent: str | None = None) -> list[Thread]:
        """The threads that this identity may see."""
        with self._wire.reading("/threads"):
            rows = self._wire.get("/threads", given({"agent": agent}))["threads"]
            return [Thread.from_json(row) for row in rows]

    def thread(self, thread: str) -> Thread:
        """One thread; raises `Refused` with NOT_FOUND."""
        with self._wire.reading("/threads"):
            return Thread.from_json(self._wire.get(f"/threads/{segment(thread)}"))

    def create_thread(
        self,
        id: str | None = None,  # noqa: A002 - the API's own word for it
        *,
        title: str = "",
        agent: str | None = None,
    ) -> Thread:
        """A new thread; the daemon gives the id if none is given."""
        wanted = {"id": id, "title": title or None, "agent": agent}
        with self._wire.reading("/threads"):
            return Thread.from_json(self._wire.post("/threads", given(wanted)))

    def message(self, message: str) -> Message:
        """One message, wherever it stands."""
        with self._wire.reading("/messages"):
            return Message.from_json(self._wire.get(f"/messages/{segment(message)}")["message"])

    def messages(self, thread: str, after: int = 0, limit: int = 200) -> list[Message]:
        """Messages with a sequence number above `after`, in order, at most `limit`."""
        path = f"/threads/{segment(thread)}/messages"
        with self._wire.reading(path):
            rows = self._wire.get(path, {"after": after, "limit": limit})["messages"]
            return [Message.from_json(row) for row in rows]

    def post_message(
        self,
        thread: str,
        body: str,
        *,
        kind: str | None = None,
        in_reply_to: str | None = None,
        as_agent: str | None = None,
        key: str | None = None,
    ) -> Posted:
        """Append a message; with a `key` it happens once however often it is asked.

        Who the author is follows from the token; `as_agent` records a reply that this agent wrote elsewhere.
        """
        content = given({"body": body, "kind": kind, "in_reply_to": in_reply_to, "as": as_agent})
        path = f"/threads/{segment(thread)}/messages"
        headers = given({"Idempotency-Key": key})
        repeatable = key is not None
        answer = self._wire.want(
            Request(method="POST", path=path, repeatable=repeatable, body=content, headers=headers)
        )
        with self._wire.reading(path):
            return Posted(Message.from_json(answer.body), answer.status == HTTPStatus.OK)

    def stream(self, thread: str, after: int = 0) -> Generator[Message, None, None]:
        """Messages above `after` as they come, over drops and restarts."""
        return follow(self._wire, segment(thread), after)

    # For the watcher

    def replies(self, after: int, wait_s: float = 0.0, limit: int = 100) -> Replies:
        """Replies of all threads behind position `after`; waits up to `wait_s` for the first."""
        with self._wire.reading("/replies"):
            query = {"after": after, "wait": wait_s, "limit": limit}
            body = self._wire.get("/replies", query, read_s=wait_s + _POLL_SLACK_S)
            found = tuple(Message.from_json(row["message"]) for row in body["replies"])
            return Replies(found, int(body["position"]))

    def cursor(self, name: str) -> int:
        """How far the watcher of this name has got; 0 at the very start."""
        with self._wire.reading("/cursors"):
            return int(self._wire.get(f"/cursors/{segment(name)}")["position"])

    def set_cursor(self, name: str, position: int) -> None:
        """Remember how far the watcher has got."""
        body = {"position": position}
        path = f"/cursors/{segment(name)}"
        self._wire.want(Request(method="PUT", path=path, repeatable=True, body=body))

    def report(self, found: Mapping[str, Any]) -> None:
        """Have counted, for the metrics, what was harvested: `{directives, skipped}` of `Tally.take`."""
        self._wire.post("/harvests", found)

    def _result(self, request: CallRequest, answer: Answer) -> Result:
        """A refusal before the journal may be a bare problem document; it is a result all the same."""
        if answer.status >= 400 and "ok" not in answer.body:
            refused = refusal(answer.body, self.url)
            if isinstance(refused, Refused):
                return Result(op=request.call.op, call_id=request.call.call_id, error=refused.error)
        with self._wire.reading("/exec"):
            if "would" in answer.body:
                return Result(op=request.call.op, data={"would": answer.body["would"]})
            # What fails before the op is read names none.
            return Result.from_json(answer.body | {"op": answer.body["op"] or request.call.op})
