"""What CI checks before it runs the tests: `./box check`, or only the steps named: `./box check lint types`.

Stops at the first step that fails and says which one it was and how to run it alone.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import NamedTuple


class Step(NamedTuple):
    """One tool to run on the whole checkout; `mend` is the command that repairs what it finds, if one can."""

    argv: tuple[str, ...]
    mend: str | None = None


PYTHON = sys.executable
LAYERS = "import sys; from importlinter.cli import lint_imports_command as main; sys.exit(main())"

# The tests of what is pure; the coverage list in pyproject.toml says which modules these are.
CORE_TESTS = (
    "tests/patterns",
    "tests/messaging",
    "tests/prompt_envelope",
    "tests/harvester",
    "tests/exec_daemon/test_authors.py",
    "tests/exec_daemon/test_chain.py",
    "tests/exec_daemon/test_decide.py",
    "tests/exec_daemon/test_grants.py",
    "tests/exec_daemon/test_identity.py",
    "tests/exec_daemon/test_rates.py",
    "tests/exec_daemon/test_registry.py",
    "tests/exec_daemon/test_standing.py",
)

STEPS = {
    "format": Step((PYTHON, "-m", "ruff", "format", "--check", "--quiet", "."), ".venv/bin/ruff format ."),
    "lint": Step((PYTHON, "-m", "ruff", "check", "--quiet", "."), ".venv/bin/ruff check --fix ."),
    "types": Step((PYTHON, "-m", "mypy", "--no-error-summary", "--num-workers=2")),
    "layers": Step((PYTHON, "-c", LAYERS, "--no-cache", "--no-logo")),
    "docs": Step((PYTHON, "scripts/docs.py", "--check"), ".venv/bin/python scripts/docs.py"),
    "requirements": Step((PYTHON, "scripts/requirements.py", "--check")),
    # The gate that holds the pure core at 100 %. Its own tests must reach it: `./box test` runs all the rest.
    # They share nothing, so each processor takes some.
    "core": Step(
        (
            *(PYTHON, "-m", "pytest", *CORE_TESTS, "--numprocesses=logical", "--dist=worksteal"),
            *("--cov", "--cov-report=term-missing:skip-covered"),
        )
    ),
}


def unknown(names: list[str]) -> list[str]:
    return [name for name in names if name not in STEPS]


def run(name: str) -> bool:
    print(f"== {name}", flush=True)
    started = time.monotonic()
    passed = subprocess.run(STEPS[name].argv, check=False).returncode == 0
    if passed:
        print(f"   ok, {time.monotonic() - started:.1f} s", flush=True)
    return passed


def failure(name: str) -> str:
    mend = STEPS[name].mend
    return f"check failed at: {name}. Alone: ./box check {name}" + (f". Repair: {mend}" if mend else "")


def main(names: list[str]) -> int:
    if unknown(names):
        print(f"no such step: {' '.join(unknown(names))}. Steps: {' '.join(STEPS)}", file=sys.stderr)
        return 2
    for name in names or STEPS:
        if not run(name):
            print(failure(name), file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
