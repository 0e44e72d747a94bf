"""Follow-ups: the files of `input/`, in their order, and the sentinel that ends the session."""

from __future__ import annotations

import contextlib
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from messaging.container import FollowUp, WireError
from messaging.container.names import CLOSE
from messaging.ipc import Changes, Folder, NotPlainError
from messaging.strict_json import StrictJsonError, load_object

_log: Final = logging.getLogger(__name__)
# Where a file goes that is no follow-up, so that it is looked at once (T-30).
_ERRORS: Final = "errors"
_FOREVER_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Taken:
    """Follow-ups that go into one turn, and the names of their files."""

    names: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


class Inbox:
    """The directory at `path`. A file is removed when it is taken, and only then.

    `is_alone`: is there nobody left who would hear an answer?
    """

    def __init__(self, path: Path, changes: Changes, is_alone: Callable[[], bool] = lambda: False) -> None:
        self._is_alone = is_alone
        self._folder = Folder.at(path, create=True)
        self._changes = changes
        changes.watch(self._folder.fileno())
        # T-26: it meant a session that is over.
        self.is_closed()

    def is_closed(self) -> bool:
        """Is the session to end? The sentinel is removed, and only the sentinel (T-28)."""
        if not self._folder.has(CLOSE):
            return False
        self._folder.clear(CLOSE)
        return True

    def take(self) -> Taken:
        """What waits now; what is no follow-up is put away."""
        found = [(name, text) for name in self._folder.names() if (text := self._text(name)) is not None]
        return Taken(tuple(name for name, _ in found), tuple(text for _, text in found))

    def wait(self) -> Taken | None:
        """The next follow-ups; None when the session is to end. What waits then is left for the next one."""
        while not (self.is_closed() or self._is_alone()):
            taken = self.take()
            if taken.names:
                return taken
            self._changes.wait(_FOREVER_S)
        return None

    def _text(self, name: str) -> str | None:
        try:
            content = self._folder.read(name)
            text = FollowUp.from_json(load_object(content.decode("utf-8"))).text
            self._folder.remove(name)
            return text
        except FileNotFoundError:
            return None
        except (NotPlainError, OSError, UnicodeDecodeError, StrictJsonError, WireError) as wrong:
            _log.warning("input %s is no follow-up: %s", ascii(name), wrong)
            self._put_away(name)
            return None

    def _put_away(self, name: str) -> None:
        try:
            with self._folder.child(_ERRORS, create=True) as errors:
                self._folder.move(name, errors, name)
        except OSError:  # something of that name is there already, or in the directory's place
            with contextlib.suppress(OSError):
                self._folder.move(name, self._folder, f"{secrets.token_hex(8)}.bad")
