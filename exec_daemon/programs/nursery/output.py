"""What a program prints on one stream: all of it as long as it is short, else beginning and end.

The whole of a long one goes into memory that can be passed on as a descriptor, up to a limit, so that a
program that prints for an hour costs no more than one that prints for a second.
"""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from typing import Final

from exec_daemon.programs.order import Printed

# O-32: what a result shows of one stream.
MOST_SHOWN_BYTES: Final = 64 * 1024
HALF_BYTES: Final = MOST_SHOWN_BYTES // 2
_BLOCK_BYTES: Final = 64 * 1024
# So many blocks at a time: the other stream, the clock and the daemon want to be looked at too.
_BLOCKS: Final = 16


class Stream:
    """A pipe. `whole` is a descriptor of what was printed, or None while it is short.

    `writer` stays open here as long as the program runs. Nothing but output is then ever ready to be read: a
    program that ends, or closes what it has been given, does not wake who waits for it once more.
    """

    __slots__ = ("_most_whole_bytes", "_shown", "reader", "size", "whole", "writer")

    def __init__(self, most_whole_bytes: int) -> None:
        self.reader, self.writer = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.reader, False)
        self.size = 0
        self.whole: int | None = None
        self._most_whole_bytes = most_whole_bytes
        self._shown = b""

    @property
    def printed(self) -> Printed:
        """What there was so far."""
        return Printed(self.size, self.whole is not None, self._shown)

    def drain(self) -> None:
        """Reads what there is."""
        with suppress(BlockingIOError):
            for _ in range(_BLOCKS):
                self._keep(os.read(self.reader, _BLOCK_BYTES))

    def close(self) -> None:
        """Closes all descriptors."""
        os.close(self.reader)
        os.close(self.writer)
        if self.whole is not None:
            os.close(self.whole)

    def _keep(self, block: bytes) -> None:
        if self.whole is None and self.size + len(block) > MOST_SHOWN_BYTES:
            self._most_whole_bytes = min(self._most_whole_bytes, _most_file_bytes())
            self.whole = os.memfd_create("output", os.MFD_CLOEXEC)
            os.write(self.whole, self._shown[: self._most_whole_bytes])
        if self.whole is not None:
            room = self._most_whole_bytes - self.size
            os.write(self.whole, block[: max(0, room)])
        self.size += len(block)
        self._shown += block
        if self.whole is not None:
            self._shown = self._shown[-HALF_BYTES:]


def pair(most_whole_bytes: int) -> tuple[Stream, Stream]:
    """For standard output and standard error. Raises OSError, and then there is neither."""
    out = Stream(most_whole_bytes)
    try:
        return out, Stream(most_whole_bytes)
    except OSError:
        out.close()
        raise


def _most_file_bytes() -> int:
    """What programs may write into a file holds for us as well, and for memory that is one."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return 2**63 if limit == resource.RLIM_INFINITY else limit
