"""The port to a model: what was said so far in, the next words out. And a scripted one."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from messaging.container import FileNames, SessionUsage
from messaging.ipc import Folder
from messaging.strict_json import load_object

_MOST_SCRIPT_BYTES: Final = 1 << 20


class ModelError(Exception):
    """The model cannot answer; the message is for the host's log and never holds the token."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One entry of the conversation; `role` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, and what it cost."""

    text: str
    usage: SessionUsage = field(default_factory=SessionUsage)


class Model(Protocol):
    """Raises `ModelError`."""

    def reply(self, conversation: Sequence[Turn]) -> Reply:
        """The next words of the assistant."""
        ...


class ScriptedModel:
    """Says what its file does: `{"turns": [{"when"?, "say", "files"?, "pause_s"?, "fail"?, "exit"?}, …]}`.

    A turn has its go once: the first one whose `when` stands in what it is told, or that has none. In `say`,
    `{prompt}` stands for the last words of the user. `files` are written into the IPC directory, as an agent
    with tools would: `[{"in": "tasks", "document": {…}}]`. When no turn is left it repeats what it is told.
    """

    def __init__(self, turns: Sequence[Mapping[str, Any]], ipc: Path, names: FileNames) -> None:
        self._turns = list(turns)
        self._ipc = ipc
        self._names = names

    @classmethod
    def from_file(cls, file: Path, ipc: Path, names: FileNames) -> ScriptedModel:
        """Raises `ModelError` for a file that is no script."""
        try:
            with file.open("rb") as opened:
                document = load_object(opened.read(_MOST_SCRIPT_BYTES).decode("utf-8"))
            turns = document["turns"]
            if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
                raise ModelError(f"{file}: `turns` must be a list of objects")
        except (OSError, ValueError, KeyError) as broken:
            raise ModelError(f"{file}: is no script of a model: {broken}") from None
        return cls(turns, ipc, names)

    def reply(self, conversation: Sequence[Turn]) -> Reply:
        """The next turn of the script."""
        turn = self._next(conversation[-1].content)
        for file in turn.get("files", ()):
            self._write(file["in"], file["document"])
        time.sleep(turn.get("pause_s", 0))
        if "exit" in turn:  # as a process does that crashes: nothing is said, nothing cleaned up
            os._exit(int(turn["exit"]))
        if "fail" in turn:
            raise ModelError(str(turn["fail"]))
        said = str(turn.get("say", "")).replace("{prompt}", conversation[-1].content)
        return Reply(said, SessionUsage(input_tokens=len(conversation), output_tokens=len(said.split())))

    def _next(self, told: str) -> Mapping[str, Any]:
        """By what it is told, since a script cannot know in which order others speak."""
        fits = (at for at, turn in enumerate(self._turns) if str(turn.get("when", "")) in told)
        at = next(fits, None)
        return {"say": "{prompt}"} if at is None else self._turns.pop(at)

    def _write(self, directory: str, document: Any) -> None:
        with Folder.at(self._ipc / directory, create=True) as folder:
            folder.write(self._names.next(), json.dumps(document).encode())
