"""`needs(program)`: a test whose program is missing is skipped, and where nothing may be missing it fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = """
import pytest

@pytest.mark.needs("bwrap-that-nobody-has")
def test_absent(): pass

@pytest.mark.needs("python3")
def test_present(): pass
"""


@pytest.fixture
def outcome(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "conftest.py")
    (tmp_path / "test_sample.py").write_text(SAMPLE)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "-p", "no:cacheprovider", tmp_path],
        env=os.environ | {"BOX_REQUIRE_ALL": request.param},
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout


@pytest.mark.parametrize("outcome", ["0"], indirect=True)
def test_a_missing_program_skips_and_names_the_command_that_brings_it(outcome: str) -> None:
    assert "bwrap-that-nobody-has not installed: sudo apt install bwrap-that-nobody-has" in outcome
    assert "1 passed, 1 skipped" in outcome


@pytest.mark.parametrize("outcome", ["1"], indirect=True)
def test_a_missing_program_fails_where_all_are_required(outcome: str) -> None:
    assert "BOX_REQUIRE_ALL=1 allows no skip" in outcome
    assert "1 passed, 1 error" in outcome


def test_a_folder_whose_paths_are_too_long_for_sockets_is_named_before_anything_runs(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 20)
    folder.mkdir()
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/frame/test_needs.py"],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, f"TMPDIR is {folder}" in run.stderr + run.stdout) == (4, True), run.stderr
