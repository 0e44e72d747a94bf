"""Time zones by their IANA names (T-20). A name that nobody knows is an error and never silently UTC."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from messaging.near import did_you_mean, near

UTC_NAME: Final = "UTC"
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}")
# Beside the zones in their database; `right` counts leap seconds, which no clock here does.
_NOT_ZONES: Final = ("posix", "right", "posixrules", "localtime", "Factory")


class UnknownZoneError(ValueError):
    """The message says what is near, or how to get the zone data where there is none."""


@cache
def zone(name: str) -> ZoneInfo:
    """The zone; raises `UnknownZoneError`."""
    if _NAME.fullmatch(name) and name.partition("/")[0] not in _NOT_ZONES:
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, OSError, ValueError):  # a folder of the database is an OSError
            pass
    raise UnknownZoneError(_unknown(name))


def _unknown(name: str) -> str:
    known = available_timezones()
    if not known:
        return "this machine has no time zone data; install it: sudo apt install tzdata"
    cities = {known_name.rpartition("/")[2]: known_name for known_name in sorted(known)}
    written = name[:64]
    close = near(written, known) or [cities[city] for city in near(written, cities)]
    return f"there is no time zone {written!r}.{did_you_mean(close)} Write an IANA name like Europe/Berlin"


def host_zone(localtime: Path = Path("/etc/localtime")) -> str:
    """The name of this machine's zone: `$TZ`, else where `/etc/localtime` leads, else UTC."""
    written = os.environ.get("TZ", "").removeprefix(":")
    _, found, linked = os.path.realpath(localtime).partition("/zoneinfo/")
    for name in (written, linked if found else ""):
        try:
            return zone(name).key
        except UnknownZoneError:
            continue
    return UTC_NAME
