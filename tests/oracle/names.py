"""GRAMMAR 5: op and argument names, from the tables of O 7.1 to 7.4, typed in anew."""

from __future__ import annotations

import re
from typing import Any

_PLAIN = tuple(
    (
        "health info cpu memory disk network ports processes services tmux "
        "agents workers jobs timers threads queue usage errors repos"
    ).split()
)
# action -> its own synonyms of `arg`
_WITH_ARG = {
    "job": "job_id job",
    "thread": "thread_id thread",
    "agent": "agent name",
    "worker": "worker_id worker name",
    "timer": "timer_id timer name",
    "process": "pid process",
    "logs": "unit service name",
    "repo": "key repo name",
}
BOX_ACTIONS = {**dict.fromkeys(_PLAIN, ""), **_WITH_ARG}
BARE_OPS = frozenset({"tools.list", "dm.read", "cron.list", *("box." + action for action in _PLAIN)})

_ALIASES = {
    "dm.send": "dm msg message message.send send send_message say notify tell",
    "dm.read": "dm.list inbox messages",
    "box.exec": "box boxctl box-ctl box.ctl box.run box.read",
    "tools.list": "tools tool.list ops ops.list list-ops list_ops capabilities help",
    "swarm.spawn": "swarm spawn worker.spawn agent.spawn spawn_agent",
    "swarm.send": "worker.send steer follow_up",
    "swarm.stop": "swarm.kill worker.stop worker.kill",
    "cron.create": "cron cron.add timer timer.create schedule schedule_task remind",
    "cron.list": "timers timer.list list_tasks",
    "cron.update": "timer.update update_task",
    "cron.pause": "timer.pause pause_task",
    "cron.resume": "timer.resume resume_task",
    "cron.cancel": "cron.delete cron.rm cron.remove timer.cancel cancel_task",
    "job.get": "job.status job.show",
    "job.cancel": "job.stop job.abort jobs.cancel",
    "artifact.put": "artifact upload attach",
}
_ID = "task_id timer_id timer job_id job name"
# op or family -> canonical argument -> synonyms
_SYNONYMS: dict[str, dict[str, str]] = {
    "dm.send": {
        "to": "recipient target agent user dest destination channel chat_jid jid",
        "text": "message body content msg prompt",
        "thread": "thread_id conversation",
        "reply_to": "in_reply_to message_id",
        "priority": "prio urgency",
    },
    "box.exec": {
        "action": "cmd command verb name do read op",
        "arg": "argument value param id target "
        "job_id thread_id agent worker_id timer_id pid unit service repo",
    },
    "tools.list": {"filter": "match prefix q query", "verbose": "detail full"},
    "swarm.spawn": {
        "prompt": "task goal text message instructions",
        "agent": "adapter cli engine runner",
        "name": "worker worker_id title",
        "cwd": "dir workdir working_folder path",
        "count": "n num workers",
        "timeout_s": "timeout ttl deadline",
    },
    "cron.create": {
        "schedule": "cron every at expr expression schedule_value",
        "schedule_type": "kind type",
        "prompt": "text message task goal",
        "name": "title label task_id id",
        "tz": "timezone",
        "target": "to agent target_jid",
        "script": "gate precheck",
        "context_mode": "context",
    },
    "cron.update": {
        "id": _ID.removesuffix(" name"),
        "schedule": "cron every at expr expression schedule_value",
        "schedule_type": "kind type",
        "prompt": "text message task goal",
        "tz": "timezone",
        "target": "to agent target_jid",
        "context_mode": "context",
    },
    "cron": {"id": _ID, "reason": "why message"},
    "job": {"id": _ID, "reason": "why message"},
    "artifact.put": {"path": "file filename", "content_type": "mime type"},
}


def normal(op: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Op and arguments by their canonical names, as written where they do not resolve or do not agree."""
    resolved, action = _resolve(op)
    if resolved is None:
        return op, arguments
    rows = _rows(resolved, action)
    found = {"action": action} if action else {}
    for key, value in arguments.items():
        name = rows.get(key) or rows.get(_snake(key)) or key
        if name in found and not _same(found[name], value):
            return op, arguments
        found[name] = value
    return resolved, found


def _same(one: Any, other: Any) -> bool:
    """Are two JSON values equal? In Python `True == 1`."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _resolve(op: str) -> tuple[str | None, str]:
    folded = op.casefold()
    dotted = re.sub("[_-]", ".", folded).removeprefix("functions.")
    for name in (op, folded, dotted):
        if name in _ALIASES:
            return name, ""
    aliases = {re.sub("[_-]", ".", alias): name for name, row in _ALIASES.items() for alias in row.split()}
    if dotted in aliases:
        return aliases[dotted], ""
    action = dotted.removeprefix("box.")
    return ("box.exec", action) if dotted.startswith("box.") and action in BOX_ACTIONS else (None, "")


def _rows(op: str, action: str) -> dict[str, str]:
    """Each name that an argument of the op may have -> its canonical name."""
    table = _SYNONYMS.get(op) or _SYNONYMS.get(op.partition(".")[0]) or {}
    rows = {synonym: name for name, row in table.items() for synonym in row.split()}
    rows |= dict.fromkeys(BOX_ACTIONS.get(action, "").split(), "arg")
    return rows | {name: name for name in table}


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).replace("-", "_").lower()
