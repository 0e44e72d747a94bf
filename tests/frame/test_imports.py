"""What loading a package costs: its public names, and no framework, database or network module."""

from __future__ import annotations

import subprocess
import sys

import pytest

PACKAGES = ("patterns", "messaging", "prompt_envelope", "harvester", "exec_daemon", "inband_agent", "inband")
HEAVY = {"starlette", "uvicorn", "httpx2", "sqlite3", "ssl", "asyncio", "cryptography", "psutil", "click"}


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_loads_no_framework_database_or_network_module(package: str) -> None:
    program = f"import sys, {package}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert HEAVY & set(loaded.stdout.split()) == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_of_a_package_can_be_had(package: str) -> None:
    module = __import__(package)
    assert [name for name in getattr(module, "__all__", ()) if not hasattr(module, name)] == []
