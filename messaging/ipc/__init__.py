"""Directories that two sides share, one of which may be hostile: the I/O below `messaging.container`.

`Folder` reads and writes files without ever following a link; `Changes` waits until something moves in one.
"""

from messaging.ipc.changes import Changes
from messaging.ipc.folder import Folder, NotPlainError

__all__ = ["Changes", "Folder", "NotPlainError"]
