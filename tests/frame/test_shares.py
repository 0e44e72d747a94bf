"""All the tests run in two shares; some of them, or any with an option, run one after the other."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S, until
from tests.shares import SHARES, Share, row, turn, unit

ROOT = Path(__file__).resolve().parents[2]
PROCESSORS = os.sched_getaffinity(0)
NOTE = """
import os, pytest, time
from pathlib import Path

SEEN = Path(os.environ["SEEN"])

@pytest.mark.parametrize("number", range(4))
def test_that_is_noted(number):
    with SEEN.open("a") as file:
        file.write(f"{os.environ.get('PYTEST_XDIST_WORKER', 'alone')} {Path(__file__).stem}\\n")
    time.sleep(0.05)
"""
ENDLESS = """
import os, pytest, time
from pathlib import Path

@pytest.fixture
def given():
    yield
    Path(os.environ["SEEN"]).with_name("down").touch()

def test_that_never_ends(given):
    Path(os.environ["SEEN"]).with_name("up").touch()
    time.sleep(600)
"""
REAL, FREE = (
    ("integration/test_one.py", "integration/test_two.py"),
    ("patterns/test_a.py", "oracle/test_b.py"),
)


class Checkout:
    """Some tests of either share, with our settings."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.seen = folder / "checkout", folder / "seen"
        (self.folder / "tests").mkdir(parents=True)
        for name in ("pyproject.toml", "tests/conftest.py", "tests/shares.py"):
            shutil.copy(ROOT / name, self.folder / name)
        for name in (*REAL, *FREE):
            self.test(name, NOTE)

    def test(self, name: str, text: str) -> None:
        path = self.folder / "tests" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def start(self, *options: str, around: Sequence[str] = (), **variables: str) -> subprocess.Popen[str]:
        strange = ("PYTEST_", "COV_", "BOX_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(strange)}
        return subprocess.Popen(
            [*around, sys.executable, "-m", "pytest", *options],
            cwd=self.folder,
            env=kept | {"SEEN": str(self.seen)} | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *options: str, around: Sequence[str] = (), **variables: str) -> str:
        with self.start(*options, around=around, **variables) as process:
            said, _ = process.communicate(timeout=2 * PATIENCE_S)
        assert process.returncode == 0, said
        assert "16 passed" in said.splitlines()[-1], said
        return said

    def workers(self, *files: str) -> set[str]:
        """The workers that ran these files."""
        stems = {Path(file).stem for file in files}
        rows = [line.split() for line in self.seen.read_text().splitlines()]
        assert len(rows) == 16
        return {worker for worker, stem in rows if stem in stems}


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


several = pytest.mark.skipif(len(PROCESSORS) < 2, reason="this machine has one processor")


@several
def test_all_the_tests_are_shared_out_and_what_is_real_is_in_one_share(checkout: Checkout) -> None:
    assert "2 workers [16 items]" in checkout.run()
    assert len(checkout.workers(*REAL)) == 1
    assert len(checkout.workers(*REAL, *FREE)) == 2


def test_on_one_processor_they_run_one_after_the_other(checkout: Checkout) -> None:
    checkout.run(around=("taskset", "--cpu-list", str(min(PROCESSORS))))
    assert checkout.workers(*REAL, *FREE) == {"alone"}


@pytest.mark.parametrize("options", [("-x",), ("-p", "no:xdist"), ("tests",)])
def test_with_any_option_they_run_one_after_the_other(checkout: Checkout, options: tuple[str, ...]) -> None:
    checkout.run(*options)
    assert checkout.workers(*REAL, *FREE) == {"alone"}


def test_an_option_in_the_environment_is_one_too(checkout: Checkout) -> None:
    checkout.run(PYTEST_ADDOPTS="--maxfail=1")
    assert checkout.workers(*REAL, *FREE) == {"alone"}


@several
def test_ctrl_c_ends_the_shares_and_what_they_had_begun_is_taken_down(checkout: Checkout) -> None:
    checkout.test("integration/test_one.py", ENDLESS)
    with checkout.start() as process:
        until(checkout.seen.with_name("up").exists)
        os.killpg(process.pid, signal.SIGINT)
        said, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, said
    assert checkout.seen.with_name("down").exists(), said


def test_each_line_of_the_table_counts_for_a_file() -> None:
    files = [str(file.relative_to(ROOT)) for file in (ROOT / "tests").rglob("test_*.py")]
    assert set(map(row, files)) == set(SHARES)


def test_what_is_real_is_one_unit_that_is_begun_first() -> None:
    named = ["tests/integration/test_kill.py::test_one[a::b]", "tests/new/test_new.py::test_two"]
    assert [unit(name) for name in named] == [Share.REAL.value] * 2
    free = unit("tests/oracle/test_oracle.py::test_three")
    assert (free, turn(Share.REAL.value) < turn(free)) == ("tests/oracle/test_oracle.py", True)
