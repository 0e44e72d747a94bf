"""What a store raises.

    StoreError
    ├── StoreUnavailable     the disk or the file cannot serve now; callers answer UNAVAILABLE
    │   ├── StoreReadOnly    no permission to write, or a read-only file system
    │   ├── StoreFull        no space left
    │   └── StoreFailed      any other I/O fault
    ├── StoreRefused         the database cannot be opened as it stands; nothing was touched
    │   ├── StoreLocked      another daemon owns it
    │   │   └── StoreBusy    a backup is being put in place: it will be free soon
    │   ├── StoreCorrupt     it is damaged, or no database of ours
    │   └── StoreNewer       a newer version of the program wrote it
    ├── StoreClosed          misuse: the store was closed
    ├── Exists               the id or name is taken
    ├── NoSuchThread         a message for a thread that does not exist
    ├── NoSuchJob            an event or an end for a job that does not exist
    ├── JobEnded             an event for a job that has ended
    ├── Outdated             a change of a timer or worker that has changed meanwhile
    └── OverBudget           more workers than there may be

Each message says the way out. `subject` is the path, id or name that it is about.
"""

from __future__ import annotations


class StoreError(Exception):
    """Root of what a store raises."""

    def __init__(self, message: str, subject: str = "") -> None:
        super().__init__(message)
        self.subject = subject


class StoreUnavailable(StoreError):
    """The store cannot serve now; the same call may work later."""


class StoreReadOnly(StoreUnavailable):
    """The store may not be written."""


class StoreFull(StoreUnavailable):
    """No space is left on the store's device."""


class StoreFailed(StoreUnavailable):
    """The store met an I/O fault that has no name of its own."""


class StoreRefused(StoreError):
    """The database cannot be opened as it stands; nothing was touched."""


class StoreLocked(StoreRefused):
    """Another daemon owns the database."""


class StoreBusy(StoreLocked):
    """A backup is being put in place; soon it will be free."""


class StoreCorrupt(StoreRefused):
    """The file is damaged, or is no database of ours."""


class StoreNewer(StoreRefused):
    """A newer version of the program wrote the database."""


class StoreClosed(StoreError):
    """Misuse: the store was used after `close()`."""


class Exists(StoreError):
    """The id or name is taken."""


class NoSuchThread(StoreError):
    """The thread does not exist."""


class NoSuchJob(StoreError):
    """The job does not exist."""


class JobEnded(StoreError):
    """The job has ended; nothing can be added to it."""


class Outdated(StoreError):
    """The timer or worker is no longer as the change took it to be; nothing was changed."""


class OverBudget(StoreError):
    """More workers than there may be; none was started."""
