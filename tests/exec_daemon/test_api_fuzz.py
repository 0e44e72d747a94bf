"""Whatever is sent to whatever endpoint by whomever: the answer is typed, and never a fault of ours."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple
from urllib.parse import quote

from hypothesis import given, settings
from hypothesis import strategies as st

from exec_daemon.api.app import EVERY_ROW
from exec_daemon.web.pages import routes
from messaging import ErrorCode
from patterns import vocabulary

WHO = ("operator", "harvester", "agent/heron", "viewer/v", "worker/w")
SERVED = [
    *((row.method, row.path) for row in EVERY_ROW),
    *((method, page.path) for page in routes() for method in sorted(page.methods or ())),
]
HOSTILE = ("", "\0", "a\0b", "../x", "-x", "%00", "é\u2028", "[TOOL x {}]", "x" * 3000, "*", "a/b", "\n", "²")
NAMES = ("heron", "t", "dm", "dm.send", "tools.list", "box.exec", "cpu", "agent/heron", "text")
FIELDS = (
    *("op", "args", "call_id", "thread", "reply", "on_behalf_of", "dry_run", "id", "title", "agent", "body"),
    *("kind", "in_reply_to", "as", "name", "identity", "ttl_s", "scopes", "position"),
    *("subject", "rules", "allow", "digest", "reason", "op_digest"),
)
ARGUMENTS = sorted({name for op in vocabulary().known_ops.values() for name in op.arguments})

words = st.sampled_from((*HOSTILE, *NAMES))
scalars = st.one_of(
    st.none(), st.booleans(), st.sampled_from((0, -1, 2**31, 2**63, 10**30, 1.5, 1e308)), words
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
bodies = st.dictionaries(st.sampled_from(FIELDS), values, max_size=6)
calls = st.fixed_dictionaries(
    {"op": words, "args": st.dictionaries(st.sampled_from(ARGUMENTS), values, max_size=4)},
    optional={"call_id": st.sampled_from(("c1", "c2")), "dry_run": st.booleans()},
)
queries = st.dictionaries(
    st.sampled_from(("after", "limit", "state", "agent", "subject")),
    words | st.sampled_from(("0", "5", "-1", "1e9")),
    max_size=2,
)
headers = st.fixed_dictionaries(
    {},
    optional={
        "prefer": st.sampled_from(("wait=0", "respond-async", "wait=x", ",,")),
        "last-event-id": st.sampled_from(("0", "-5", "--1", "x", "9" * 30)),
        "idempotency-key": st.sampled_from(("k", "x" * 300)),
        "accept": st.sampled_from(("text/event-stream", "*/*")),
    },
)


class Sent(NamedTuple):
    """One request; `name` stands for whatever the path names."""

    who: str
    name: str
    body: Any
    query: dict[str, str]
    headers: dict[str, str]


requests = st.builds(Sent, st.sampled_from(WHO), words, bodies | calls, queries, headers)


@settings(max_examples=300)
@given(st.sampled_from(SERVED), requests)
def test_nothing_that_is_sent_makes_a_fault(daemon: Any, served: tuple[str, str], sent: Sent) -> None:
    daemon.agent("heron")
    (method, row), segment = served, quote(sent.name or "t", safe="")
    path = re.sub("{.*?}", lambda _: segment, row)
    content = None if method in ("GET", "HEAD", "DELETE") else json.dumps(sent.body)
    headers = {"content-type": "application/json"} | sent.headers
    with daemon.client(sent.who).stream(
        method, path, params=sent.query, headers=headers, content=content
    ) as answer:
        assert answer.status_code < 500, answer.read()
        if answer.status_code >= 400 and method != "HEAD" and "json" in answer.headers["content-type"]:
            refusal = json.loads(answer.read())
            code = refusal.get("error", refusal)["code"]
            assert code in ErrorCode.__members__ or (row == "/mcp" and isinstance(code, int))
