"""What the front door raises, all under `FrontDoorError`.

`SettingsError`: a settings file or variable that is not right. `InputError`: a file or an argument that
cannot be used. `NotStartedError`: no daemon has ever run on this state directory. Each message names the
place and the way out; `exit_code` is what `box` ends with.
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of `box`."""

    OK = 0
    FAILED = 1
    USAGE = 2
    DENIED = 3
    UNREACHABLE = 4
    TIMED_OUT = 124
    INTERRUPTED = 130


class FrontDoorError(Exception):
    """Root. `exit_code` is what the command ends with."""

    exit_code = Exit.FAILED


class SettingsError(FrontDoorError):
    """A setting that is not right."""

    exit_code = Exit.USAGE


class InputError(FrontDoorError):
    """A file or an argument that cannot be used as it is."""

    exit_code = Exit.USAGE


class NotStartedError(FrontDoorError):
    """Nothing to talk to: no daemon has made its tokens here yet."""

    exit_code = Exit.UNREACHABLE
