"""What can be wrong with certificates: keys that others can read, expiry, revocations that are lost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from exec_daemon.home import Home
from inband.finding import Finding, Grade
from inband.settings import Settings
from messaging.moment import iso

_SUBJECT: Final = "certificate"
# An expiring certificate is said early enough for a person to act in working hours.
_NOTICE: Final = timedelta(days=14)


def examine(settings: Settings) -> Iterator[Finding]:
    """Nothing before the first start: there is nothing yet."""
    home = Home(settings.home)
    if not home.ca_cert.exists():
        return
    ours = Path(settings["tls.certificate"] or home.server_cert).expanduser()
    key = Path(settings["tls.key"] or home.server_key).expanduser()
    yield from _expiry(ours, "the daemon's", "restart box up: it renews its own")
    yield from map(_open_key, filter(_is_open, (home.ca_key, key)))
    yield from _issued(home)


def _expiry(file: Path, whose: str, mend: str) -> Iterator[Finding]:
    from cryptography import x509

    try:
        expires = x509.load_pem_x509_certificate(file.read_bytes()).not_valid_after_utc
    except FileNotFoundError:
        return
    except (OSError, ValueError) as broken:
        yield Finding(Grade.FAIL, _SUBJECT, f"{file}: {broken}", f"put {file} right, or remove it")
        return
    soon = expires - datetime.now(UTC) <= _NOTICE
    grade = Grade.WARN if soon else Grade.OK
    yield Finding(grade, _SUBJECT, f"{whose} is valid until {expires:%Y-%m-%d}", mend if soon else "")


def _is_open(key: Path) -> bool:
    try:
        return bool(key.stat().st_mode & 0o077)
    except OSError:
        return False


def _open_key(key: Path) -> Finding:
    return Finding(Grade.FAIL, _SUBJECT, f"{key} can be read by others", f"chmod 600 '{key}'")


def _issued(home: Home) -> Iterator[Finding]:
    """Those that are neither revoked nor expired, and the next of them to end."""
    from exec_daemon.certificates.authority import Authority
    from exec_daemon.errors import DaemonError

    try:
        authority = Authority(home)
        authority.check_crl()
    except DaemonError as broken:
        yield Finding(Grade.FAIL, _SUBJECT, str(broken), "restore the file from a backup")
        return
    now, notice = iso(datetime.now(UTC)), iso(datetime.now(UTC) + _NOTICE)
    live = [one for one in authority.issued() if one.revoked_at is None and one.expires_at > now]
    for one in live:
        if one.expires_at <= notice:
            text = f"that of {one.identity} ends {one.expires_at[:10]}"
            yield Finding(Grade.WARN, _SUBJECT, text, "box cert renew FILE, where its files are")
    if live:
        yield Finding(
            Grade.OK, _SUBJECT, f"{len(live)} of clients, {len(authority.issued()) - len(live)} ended"
        )
