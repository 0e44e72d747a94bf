"""The launcher, run for real with the system's pip, in small checkouts that need no network."""

from __future__ import annotations

import ast
import base64
import hashlib
import os
import pty
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

ROOT = Path(__file__).resolve().parents[2]
Process: TypeAlias = subprocess.Popen[str]
ECHO = "import sys, tiny; print(*sys.argv[1:]); sys.exit(len(sys.argv) - 1)\n"


def wheel(folder: Path, version: str) -> str:
    """Write a package of one empty module, and return its locked requirement."""
    facts = f"tiny-{version}.dist-info"
    files = {
        "tiny.py": b"",
        f"{facts}/METADATA": f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n".encode(),
        f"{facts}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{name},sha256={digest(content)},{len(content)}" for name, content in files.items()]
    record = f"{facts}/RECORD"
    files[record] = "\n".join([*rows, f"{record},,"]).encode()
    path = folder / f"tiny-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return f"tiny=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


class Checkout:
    """A checkout with the real launcher, a program that echoes its arguments, and one locked package."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder.parent / "home"
        self.temp = folder.parent / "temp"
        for made in (folder / "requirements", folder / "inband", folder / "wheels", self.home, self.temp):
            made.mkdir(parents=True)
        shutil.copy(ROOT / "box", folder / "box")
        (folder / "inband" / "__main__.py").write_text(ECHO)
        self.lock("run", wheel(folder / "wheels", "1.0"))
        self.lock("test", wheel(folder / "wheels", "1.0"))

    def lock(self, layer: str, requirement: str, index: str = "--no-index") -> None:
        text = f"{index}\n--find-links wheels\n{requirement}"
        (self.folder / "requirements" / f"{layer}.txt").write_text(text)

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        return kept | {"HOME": str(self.home), "TMPDIR": str(self.temp), "PIP_CONFIG_FILE": os.devnull} | more

    def start(self, *arguments: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> Process:
        return subprocess.Popen(
            [sys.executable, self.folder / "box", *arguments],
            cwd=cwd,
            env=self.environment(**(env or {})),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def box(self, *arguments: str, **environment: str) -> tuple[int, str, str]:
        process = self.start(*arguments, env=environment)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def stamp(self, layer: str = "run") -> Path:
        return self.folder / ".venv" / f"box-{layer}.stamp"

    def installed(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob(".venv/lib/*/site-packages/tiny-*"))


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "a path with spaces" / "checkout")


def test_a_first_run_sets_up_and_runs_the_command_with_its_arguments_output_and_exit_code(
    checkout: Checkout,
) -> None:
    code, out, err = checkout.box("call", "two words")
    assert (code, out) == (2, "call two words\n")
    assert "installing the program" in err


def test_a_second_run_sets_nothing_up_and_says_nothing(checkout: Checkout) -> None:
    checkout.box()
    before = checkout.stamp().stat().st_mtime_ns
    code, out, err = checkout.box("up")
    assert (code, out, err) == (1, "up\n", "")
    assert checkout.stamp().stat().st_mtime_ns == before


def test_nothing_outside_the_checkout_is_written(checkout: Checkout) -> None:
    checkout.box()
    # pip asks a rustc on PATH for its version, and rustup's makes this folder in a home that has none
    assert [path.name for path in checkout.home.iterdir() if path.name != ".rustup"] == []
    assert list(checkout.temp.iterdir()) == []


def test_two_at_once_both_run_their_command(checkout: Checkout) -> None:
    first, second = checkout.start("one"), checkout.start("two")
    assert first.communicate(timeout=120)[0] == "one\n"
    assert second.communicate(timeout=120)[0] == "two\n"
    assert (first.returncode, second.returncode) == (1, 1)


@pytest.mark.parametrize("delay_s", [random.Random(seed).uniform(0.02, 1.5) for seed in range(6)])
def test_a_set_up_killed_at_any_instant_is_made_good_by_the_next_run(
    checkout: Checkout, delay_s: float
) -> None:
    killed = checkout.start("never")
    try:
        killed.communicate(timeout=delay_s)
    except subprocess.TimeoutExpired:
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
    assert checkout.box("again")[:2] == (1, "again\n")


def test_a_lock_that_changed_throws_the_old_packages_away(checkout: Checkout) -> None:
    checkout.box()
    checkout.lock("run", wheel(checkout.folder / "wheels", "2.0"))
    assert checkout.box("up")[1] == "up\n"
    assert checkout.installed() == ["tiny-2.0.dist-info"]


def test_a_layer_whose_installation_was_begun_and_not_finished_is_made_afresh(checkout: Checkout) -> None:
    checkout.box()
    (checkout.folder / "tests").mkdir()
    checkout.stamp("test").with_suffix(".stamp.draft").touch()
    leftover = checkout.folder / ".venv" / "leftover"
    leftover.touch()
    checkout.box("test")
    assert not leftover.exists()
    assert checkout.stamp("test").exists()


def test_a_checkout_that_was_moved_runs_its_own_code_without_a_new_set_up(
    checkout: Checkout, tmp_path: Path
) -> None:
    checkout.box()
    moved = tmp_path / "moved"
    checkout.folder.rename(moved)
    (moved / "inband" / "__main__.py").write_text("import inband; print(inband.__path__[0])")
    checkout.folder = moved
    assert checkout.box() == (0, checkout_help() + f"{moved}/inband\n", "")


def checkout_help() -> str:
    return "In this checkout:\n\n"


def test_a_checkout_command_is_offered_where_its_folder_exists_and_passed_on_where_not(
    checkout: Checkout,
) -> None:
    assert checkout.box("bench")[1] == "bench\n"
    (checkout.folder / "bench").mkdir()
    assert "./box bench" in checkout.box("--help")[1]


def test_a_package_that_differs_from_its_lock_is_refused_and_leaves_no_stamp(checkout: Checkout) -> None:
    checkout.lock("run", "tiny==1.0 --hash=sha256:" + "0" * 64)
    code, out, err = checkout.box("up")
    assert (code, out) == (1, "")
    assert "differs from the one that was locked" in err
    assert not checkout.stamp().exists()


def test_an_index_that_cannot_be_reached_is_named_as_the_cause(checkout: Checkout) -> None:
    absent = "absent==1.0 --hash=sha256:" + "0" * 64
    checkout.lock("run", absent, index="--index-url http://127.0.0.1:9/simple")
    code, _, err = checkout.box("up", PIP_RETRIES="0")
    assert code == 1
    assert "the package index cannot be reached" in err
    assert "Mend it: connect to the network" in err


def test_a_python_without_pip_is_told_the_command_that_brings_it(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['pip'] = None\n")
    code, _, err = checkout.box("up", PYTHONPATH=str(tmp_path))
    assert code == 1
    assert "has no pip.\n     Mend it: sudo apt install python3-pip" in err
    assert "Traceback" not in err


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_checkout_that_cannot_be_written_says_so_and_names_a_way_out(open_folder: Path) -> None:
    folder = open_folder / "read only"
    folder.mkdir()
    shutil.copy(ROOT / "box", folder / "box")
    shutil.copytree(ROOT / "requirements", folder / "requirements")
    folder.chmod(0o555)
    run = subprocess.run(
        ["python3", folder / "box", "up"],
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
        user=65534 if os.getuid() == 0 else None,  # root may write anywhere: ask as nobody
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert "is not yours to write" in run.stderr
    assert "Mend it: clone to a folder of your own" in run.stderr


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    (tmp_path / "tiny.py").write_text("raise SystemExit('code of a stranger')\n")
    return tmp_path


def test_the_current_folder_brings_no_code_in(checkout: Checkout, stranger: Path) -> None:
    assert checkout.start("up", cwd=stranger).communicate(timeout=120)[0] == "up\n"


def test_pythonpath_brings_no_code_in(checkout: Checkout, stranger: Path) -> None:
    assert checkout.box("up", PYTHONPATH=str(stranger))[1] == "up\n"


@pytest.fixture
def silent_index() -> Iterator[str]:
    """A package index that takes a connection and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/simple"


def read_until(terminal: int, sign: bytes) -> bytes:
    shown = b""
    while sign not in shown:
        shown += os.read(terminal, 1000)
    return shown


def test_on_a_terminal_the_set_up_shows_a_moving_line_and_ctrl_c_ends_it_with_130(
    checkout: Checkout, silent_index: str
) -> None:
    checkout.lock("run", "absent==1.0 --hash=sha256:" + "0" * 64, index=f"--index-url {silent_index}")
    child, terminal = pty.fork()
    if child == 0:
        os.execve(
            sys.executable, [sys.executable, str(checkout.folder / "box"), "up"], checkout.environment()
        )
    moving = read_until(terminal, b"of 1 packages")
    assert "⠙ installing the program into .venv (once)".encode() in moving
    os.write(terminal, b"\x03")
    shown = read_until(terminal, b"begins the set-up again\r\n")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130
    assert b"Traceback" not in shown
    os.close(terminal)


def test_the_launcher_parses_on_the_old_python_that_it_turns_away() -> None:
    ast.parse((ROOT / "box").read_text(), feature_version=(3, 7))
