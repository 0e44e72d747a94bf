"""One file from an agent, from its directory to its effect (T-38 to T-42).

    rename into our claims ─▶ read ─▶ ledger ─▶ decide ─▶ write the plan down ─▶ daemon ─▶ settle ─▶ remove

Whoever dies in between begins again at the claim. The daemon is asked under the same key then, so what has
happened does not happen twice.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass
from typing import Any, Final

from harvester.container.authorise import Known, authorise
from harvester.container.calls import Errand, errand, schedule_problem, task_name
from harvester.container.desk import Desk, Words
from harvester.container.groups import Group, Source
from harvester.container.ledger import DONE, Entry, FileKey, Ledger
from harvester.errors import Refused
from messaging import CallError, ErrorCode, digest, error
from messaging.container import (
    ChatMessage,
    RefreshGroups,
    RegisterGroup,
    ScheduleTask,
    TaskOperation,
    WireError,
    read_task,
)
from messaging.container.names import MESSAGES
from messaging.ipc import Folder, NotPlainError
from messaging.strict_json import StrictJsonError, load_object

_log: Final = logging.getLogger(__name__)


class Later(Exception):
    """The daemon cannot do it now; the file stays claimed and comes first the next time."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """What came of a file; `mutated`: the snapshots are out of date."""

    refused: CallError | None = None
    mutated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """Deals with claimed files. `known` is asked anew for each, since the one before may have changed it."""

    desk: Desk
    ledger: Ledger

    def deal(self, claims: Folder, key: FileKey, source: Source, at_ms: int) -> Dealt:
        """The file `key.name` of `claims`; raises `Later`, and `ClientError` where the daemon is away."""
        try:
            content = claims.read(key.name)
        except NotPlainError as wrong:
            return self._refuse(key, at_ms, error(ErrorCode.INVALID_REQUEST, f"The file: {wrong}."))
        key = FileKey(key.lane, key.folder, shown(key.name), hashlib.sha256(content).hexdigest())
        entry = self.ledger.claim(key, at_ms)
        if entry.outcome is not None:  # we died before it was removed
            return Dealt()
        try:
            asked = _read(key.folder, content)
        except WireError as wrong:
            return self._settle(key, error(ErrorCode.INVALID_ARGS, f"{wrong}."))
        try:
            return self._do(key, entry, source, asked)
        except Refused as no:  # too large, say: the daemon's word on this file, and no reason to stop
            if no.error.retryable:
                raise Later(no.error.message) from None
            return self._settle(key, no.error)

    def known(self) -> Known:
        """The groups and the timers of this instant."""
        return Known(groups=self.ledger.groups(), tasks=self.desk.tasks())

    def _do(self, key: FileKey, entry: Entry, source: Source, asked: ChatMessage | TaskOperation) -> Dealt:
        if entry.plan is not None:
            return self._run(key, source, Errand.from_json(json.loads(entry.plan)))
        known = self._enough(asked)
        problem = schedule_problem(asked)
        refused = error(ErrorCode.INVALID_ARGS, f"{problem}.") if problem else authorise(source, asked, known)
        if refused:
            return self._settle(key, refused)
        if isinstance(asked, RefreshGroups | RegisterGroup):
            return self._on_groups(key, asked)
        if isinstance(asked, ChatMessage) and _is_own(asked, source, known):
            lane = self.ledger.lane(key.lane)
            self.desk.record(Words(source.agent, asked.text, _call_id(key), lane.thread if lane else ""))
            return self._settle(key)
        return self._errand(key, entry, source, asked, known)

    def _enough(self, asked: object) -> Known:
        """A chat message does not need the timers, and messages are most of what comes."""
        return Known(groups=self.ledger.groups()) if isinstance(asked, ChatMessage) else self.known()

    def _errand(
        self, key: FileKey, entry: Entry, source: Source, asked: ChatMessage | TaskOperation, known: Known
    ) -> Dealt:
        name = task_name(asked, key.name, entry.at_ms, key.sha256) if isinstance(asked, ScheduleTask) else ""
        plan = errand(source, asked, known, name)
        if plan is None:
            return self._settle(key, error(ErrorCode.NOT_FOUND, "No group is registered for this chat."))
        self.ledger.plan(key, json.dumps(plan.to_json()))
        return self._run(key, source, plan)

    def _run(self, key: FileKey, source: Source, plan: Errand) -> Dealt:
        result = self.desk.run(source.agent, plan, _call_id(key))
        if result.error is not None and result.error.retryable:
            raise Later(result.error.message)
        return self._settle(key, result.error, mutated=plan.call.op.startswith("cron."))

    def _on_groups(self, key: FileKey, asked: RefreshGroups | RegisterGroup) -> Dealt:
        if isinstance(asked, RegisterGroup):
            before = self.ledger.groups().of_jid(asked.jid)
            group = _group(asked, before)
            self.desk.welcome(group.agent)
            self.ledger.put_group(group)
        return self._settle(key, mutated=True)

    def _settle(self, key: FileKey, refused: CallError | None = None, *, mutated: bool = False) -> Dealt:
        self.ledger.settle(key, str(refused.code) if refused else DONE, refused.message if refused else "")
        if refused:
            _log.warning("%s/%s/%s: %s: %s", key.lane, key.folder, key.name, refused.code, refused.message)
        return Dealt(refused, mutated and refused is None)

    def _refuse(self, key: FileKey, at_ms: int, refused: CallError) -> Dealt:
        """What cannot be read has no content to be known by."""
        key = FileKey(key.lane, key.folder, shown(key.name), "")
        self.ledger.claim(key, at_ms)
        return self._settle(key, refused)


def shown(name: str) -> str:
    """A file's name as text: bytes that are no UTF-8, and control codes, are escaped."""
    return name if name.isascii() and name.isprintable() else ascii(name)[1:-1]


def _read(folder: str, content: bytes) -> ChatMessage | TaskOperation:
    try:
        document: Any = load_object(content.decode("utf-8"))
    except (UnicodeDecodeError, StrictJsonError) as wrong:
        raise WireError(f"no JSON object: {wrong}") from None
    return ChatMessage.from_json(document) if folder == MESSAGES else read_task(document)


def _is_own(asked: ChatMessage, source: Source, known: Known) -> bool:
    group = known.groups.of_jid(asked.chat_jid)
    return group is not None and group.folder == source.folder


def _group(asked: RegisterGroup, before: Group | None) -> Group:
    """No file makes a group main, and none takes it away (T-54)."""
    return Group(
        jid=asked.jid,
        folder=asked.folder,
        name=asked.name,
        trigger=asked.trigger,
        is_main=before.is_main if before else False,
        requires_trigger=True if asked.requires_trigger is None else asked.requires_trigger,
        container_config=asked.container_config or {},
    )


def _call_id(key: FileKey) -> str:
    return f"ipc:{digest('ipc', [key.lane, key.folder, key.name, key.sha256])}"
