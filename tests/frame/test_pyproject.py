"""The lists that pyproject.toml and requirements/ hold twice say the same."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PURE = PROJECT["tool"]["importlinter"]["contracts"][1]["source_modules"]


def without_wildcard(pattern: str) -> str:
    return pattern.removesuffix("/*.py").removesuffix("/*").removesuffix(".py")


def test_the_core_that_is_kept_pure_is_the_core_whose_every_branch_is_covered() -> None:
    covered = [without_wildcard(pattern) for pattern in PROJECT["tool"]["coverage"]["run"]["include"]]
    # `messaging/*.py` leaves out the folders below, some of which do I/O; a pure one has a line of its own.
    whole = [path for path in covered if path.rpartition("/")[0] not in covered]
    assert whole == [module.replace(".", "/") for module in PURE]


def test_an_installation_asks_for_the_packages_that_a_checkout_locks() -> None:
    wanted = [re.split(r"[><=]", line)[0] for line in PROJECT["project"]["dependencies"]]
    locked = [line for line in (ROOT / "requirements" / "run.in").read_text().split("\n") if line]
    assert wanted == [line for line in locked if not line.startswith("#")]


def test_every_locked_package_has_a_hash_and_a_shared_one_has_one_version() -> None:
    pins = {}
    for name in ("run", "test"):
        blocks = re.split(r"\n(?=[a-z])", (ROOT / "requirements" / f"{name}.txt").read_text())[1:]
        assert [block for block in blocks if "--hash=sha256:" not in block] == []
        pins[name] = dict(re.match(r"([\w.-]+)==([\w.]+)", block).groups() for block in blocks)  # type: ignore[union-attr,misc]
    shared = pins["run"].keys() & pins["test"].keys()
    assert [name for name in shared if pins["run"][name] != pins["test"][name]] == []


def test_every_console_script_leads_to_a_function() -> None:
    for target in PROJECT["project"]["scripts"].values():
        module, function = target.split(":")
        assert callable(getattr(importlib.import_module(module), function))
