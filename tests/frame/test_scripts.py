"""The scripts behind ./box check and ./box bench, as a person types them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def script(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "scripts" / name, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_step_that_does_not_exist_is_a_usage_error_that_lists_the_steps() -> None:
    run = script("check.py", "linting")
    assert run.returncode == 2
    assert "no such step: linting. Steps: format lint types layers docs requirements core" in run.stderr


def test_all_programs_of_a_folder_run_and_the_worst_exit_code_wins(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("print('fine')")
    (tmp_path / "poor.py").write_text("raise SystemExit(3)")
    (tmp_path / "_part.py").write_text("raise SystemExit(9)")
    run = script("run_all.py", tmp_path)
    assert (run.returncode, "fine" in run.stdout) == (3, True)


def test_one_program_is_run_by_name_with_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "show.py").write_text("import sys; print(sys.argv[1:])")
    assert "['--size', '3']" in script("run_all.py", tmp_path, "show", "--size", "3").stdout


def test_an_unknown_program_is_a_usage_error_that_lists_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "scan.py").write_text("")
    run = script("run_all.py", tmp_path, "scam")
    assert run.returncode == 2
    assert "there are: scan" in run.stderr
