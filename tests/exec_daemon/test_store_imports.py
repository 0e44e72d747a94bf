"""Importing the daemon's package or its store is cheap: what they need is loaded when it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import exec_daemon
from exec_daemon import store

ROOT = Path(__file__).parents[2]
HEAVY = ("sqlite3", "starlette", "uvicorn", "httpx2", "pydantic")


@pytest.mark.parametrize("package", ["exec_daemon", "exec_daemon.store"])
def test_importing_the_package_loads_nothing_heavy(package: str) -> None:
    program = f"import sys, {package}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("package", [exec_daemon, store])
def test_each_public_name_is_there(package: object) -> None:
    for name in package.__all__:  # type: ignore[attr-defined]
        assert getattr(package, name) is not None


@pytest.mark.parametrize("package", [exec_daemon, store])
def test_other_names_are_not(package: object) -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing  # type: ignore[attr-defined]  # noqa: B018
