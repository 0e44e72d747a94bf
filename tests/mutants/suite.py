"""The tests that judge a mutant, called as plain functions: collecting them with pytest would take longer.

Only in a process of its own: whoever imports the test modules has imported the scanner.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import product
from typing import Any

import pytest

MODULES = (
    "tests.harvester.test_scanner",
    "tests.harvester.test_scanner_cases",
    "tests.harvester.test_scanner_alone",
    "tests.harvester.test_scanner_json",
    "tests.harvester.test_scanner_skipping",
    "tests.harvester.test_scanner_at_once",
    "tests.harvester.test_scanner_floods",
    "tests.harvester.test_scanner_memory",
    "tests.harvester.test_scanner_prompt",
    "tests.harvester.test_scanner_corners",
    "tests.harvester.test_scanner_dead",
    "tests.harvester.test_scanner_early",
    "tests.harvester.test_scanner_tags",
    "tests.harvester.test_scanner_starts",
    "tests.harvester.test_scanner_verdicts",
    "tests.harvester.test_scanner_shell",
    "tests.harvester.test_scanner_leaps",
    "tests.harvester.test_scanner_watches",
    "tests.harvester.test_forms",
    "tests.harvester.test_parse",
    "tests.oracle.test_agreement",
)


@dataclass(frozen=True, slots=True)
class Test:
    """One function with one set of its parameters. `name` tells it from all others."""

    __test__ = False

    name: str
    run: Callable[[], object]


def tests() -> Iterator[Test]:
    """Those of all modules that need no fixture."""
    for module in MODULES:
        for name, function in vars(import_module(module)).items():
            if name.startswith("test_") and callable(function):
                yield from _parametrized(f"{module.rpartition('.')[2]}::{name}", function)


def _parametrized(name: str, function: Callable[..., object]) -> Iterator[Test]:
    marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
    sets = [[_arguments(mark.args[0], values) for values in mark.args[1]] for mark in marks]
    given = {argument for one in sets for argument in one[0]} if all(sets) else set()
    if _is_hypothesis(function) or set(inspect.signature(function).parameters) == given:
        for number, chosen in enumerate(product(*sets)):
            arguments = {key: value for one in chosen for key, value in one.items()}
            yield Test(f"{name}[{number}]", partial(function, **arguments))


def _is_hypothesis(function: Callable[..., object]) -> bool:
    return hasattr(function, "hypothesis")


def _arguments(names: str | tuple[str, ...], values: Any) -> dict[str, Any]:
    keys = [key.strip() for key in names.split(",")] if isinstance(names, str) else list(names)
    row = values.values if isinstance(values, type(pytest.param())) else values
    return dict(zip(keys, row if len(keys) > 1 or row is not values else (values,), strict=True))
