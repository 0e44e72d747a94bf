"""Runs the tests against a mutant, in a forked process whose scanner is the mutated one.

A child imports the scanner and its tests anew; everything else is loaded once, in the parent.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import json
import os
import resource
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from time import process_time
from types import ModuleType
from typing import Any

import hypothesis

from tests.mutants.made import Mutant

PACKAGE = "harvester.scanner"
_ANEW = ("harvester", "tests.harvester", "tests.oracle", "tests.mutants.suite", "tests.fuzz", "bench")
NO_PROGRAM, HANGS = "does not import", "hangs"
# Each test takes a fraction of this; a mutant that loops for ever takes all of it.
_MOST_S = 5
_MOST_BYTES = 4 << 30


@dataclass(frozen=True, slots=True)
class Timed:
    """A test and the time that it takes on the scanner as it is."""

    name: str
    seconds: float


class _Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a text."""

    def __init__(self, mutant: Mutant) -> None:
        self._name = PACKAGE if mutant.module == "__init__" else f"{PACKAGE}.{mutant.module}"
        self._text = mutant.text

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if fullname == self._name else None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._text, self._name, "exec"), vars(module))


def timed() -> list[Timed]:
    """All tests on the scanner as it is, the quickest first. RuntimeError names one that fails."""
    told = _forked(_time_all)
    if not isinstance(told, list):
        raise RuntimeError(f"the tests have to pass on the scanner as it is: {told}")  # noqa: TRY004 - no type is wrong
    return sorted((Timed(*row) for row in told), key=lambda one: one.seconds)


def killer(mutant: Mutant, order: Sequence[str]) -> str | None:
    """The first test in this order that fails on a mutant, or what else ended it; None if it survives."""

    def run() -> str | None:
        _forget()
        _limit_time()
        sys.meta_path.insert(0, _Mutated(mutant))
        try:
            __import__(PACKAGE)
        except BaseException:  # noqa: BLE001 - it may raise anything at all
            return NO_PROGRAM
        return _first_failing(order)

    told = _forked(run)
    return None if told is None else str(told)


def _forget() -> None:
    for name in [name for name in sys.modules if name.startswith(_ANEW)]:
        del sys.modules[name]


def _forked(run: Callable[[], Any]) -> Any:
    """What `run` gives in a process of its own, as JSON; that it hangs or dies is `HANGS`."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _quiet()
        told = json.dumps(run())
        os.write(write, told.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read().decode()
    os.waitpid(child, 0)
    return json.loads(told) if told else HANGS


def _quiet() -> None:
    """Nothing is printed, Hypothesis makes nothing small, and memory and time have an end."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile(
        "mutants", derandomize=True, deadline=None, database=None, phases=phases
    )
    hypothesis.settings.load_profile("mutants")


def _limit_time() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(process_time()) + _MOST_S, resource.RLIM_INFINITY))


def _time_all() -> list[tuple[str, float]] | str:
    from tests.mutants.suite import tests

    rows = []
    for test in tests():
        began = process_time()
        try:
            test.run()
        except Exception as error:  # noqa: BLE001 - whatever it is, the test fails
            return f"{test.name}: {error!r}"[:500]
        rows.append((test.name, process_time() - began))
    return rows


def _first_failing(order: Iterable[str]) -> str | None:
    try:
        from tests.mutants.suite import tests

        found = {test.name: test.run for test in tests()}
    except Exception:  # noqa: BLE001 - the test modules scan while they are imported
        return "import of the tests"
    for name in order:
        # From here on, not from the start: all tests together take longer than any one of them.
        _limit_time()
        try:
            found[name]()
        except BaseException:  # noqa: BLE001 - whatever it is, the test fails
            return name
    return None
