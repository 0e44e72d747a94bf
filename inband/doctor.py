"""What can be wrong with an installation, each with the mend. Checks only look; nothing is changed."""

from __future__ import annotations

import os
import shutil
import ssl
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from harvester.errors import HarvesterError
from inband import examine_certificates, examine_extras, examine_programs, examine_store
from inband.compose import client_for, daemon_settings, daemon_url
from inband.errors import FrontDoorError
from inband.finding import Finding, Grade
from inband.settings import Settings, unknown_variables

# Programs that reads or workers use, with what is missing without them. Debian's package has the same name.
_PROGRAMS: Final = {"git": "box.exec repos and repo", "tmux": "box.exec tmux and worker panes"}
_LEAST_FREE_BYTES: Final = 256 << 20


def examine(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """All checks in order; each finding comes as soon as it is known."""
    yield _python()
    yield from _settings(settings, environment)
    yield from _state(settings.home)
    yield from examine_store.examine(settings)
    yield from examine_certificates.examine(settings)
    yield from _daemon(settings)
    yield from map(_program, _PROGRAMS)
    yield from _sandbox(settings)
    yield from examine_extras.examine(settings)


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding(Grade.OK, "python", f"{version}, {ssl.OPENSSL_VERSION}")


def _settings(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    where = str(settings.file) if settings.file.exists() else "defaults (no file)"
    yield Finding(Grade.OK, "settings", where)
    for name in unknown_variables(environment):
        yield Finding(
            Grade.WARN, "settings", f"${name} is no setting of ours", f"unset {name}; box config show"
        )
    for name, path in settings["repos"].items():
        if not (Path(path).expanduser() / ".git").exists():
            yield Finding(
                Grade.WARN, "settings", f"repos.{name}: {path} is no git checkout", "correct the path"
            )


def _state(home: Path) -> Iterator[Finding]:
    if not home.exists():
        yield Finding(Grade.WARN, "state", f"{home} is not there yet", "box up makes it")
        return
    mode = home.stat().st_mode & 0o077
    if mode:
        yield Finding(Grade.FAIL, "state", f"{home} is open to others", f"chmod 700 '{home}'")
    elif not os.access(home, os.W_OK):
        yield Finding(
            Grade.FAIL, "state", f"{home} cannot be written", "own it, or choose another with --home"
        )
    else:
        yield Finding(Grade.OK, "state", str(home))
    free = shutil.disk_usage(home).free
    if free < _LEAST_FREE_BYTES:
        yield Finding(Grade.WARN, "state", f"{free >> 20} MiB left on its disk", "free some space")


def _daemon(settings: Settings) -> Iterator[Finding]:
    try:
        with client_for(settings, "operator") as client:
            client.ready()
            count, around = len(client.ops()), client.condition()["programs"]
    except (HarvesterError, FrontDoorError) as fault:
        yield Finding(Grade.FAIL, "daemon", str(fault), "box up")
        return
    yield Finding(Grade.OK, "daemon", f"answers at {daemon_url(settings)}, {count} ops")
    yield _around(around)


def _around(around: Mapping[str, Any]) -> Finding:
    """What the daemon has around its programs. What follows below is what this shell would give them."""
    if "problem" in around:
        return Finding(
            Grade.FAIL, "daemon", f"it can run no programs: {around['problem']}", "box config check"
        )
    held = ", ".join(f"{layer}: {how}" for layer, how in around["layers"].items())
    return Finding(Grade.OK, "daemon", f"its programs' trees end by {around['trees']}, {held}")


def _sandbox(settings: Settings) -> Iterator[Finding]:
    theirs = daemon_settings(settings)
    for fault in examine_programs.faulty_ops(theirs):
        yield Finding(Grade.WARN, "ops", fault, f"correct it in {settings.file}; docs/operator-ops.md")
    for fault in examine_programs.faulty_gates(theirs):
        yield Finding(Grade.WARN, "gates", fault, f"correct it in {settings.file}; docs/timers.md")
    found = examine_programs.standing(theirs)
    if isinstance(found, str):
        yield Finding(Grade.FAIL, "programs", found, f"correct [sandbox] in {settings.file}")
        return
    yield Finding(Grade.OK, "programs", str(found))
    for lack in found.lacks:
        yield Finding(Grade.WARN, "programs", lack, "docs/security.md says what each layer is for")


def _program(name: str) -> Finding:
    if shutil.which(name):
        return Finding(Grade.OK, name, "installed")
    return Finding(Grade.WARN, name, f"missing: {_PROGRAMS[name]} will say so", f"sudo apt install {name}")
