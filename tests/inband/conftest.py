"""`box` as a person runs it: as a process, against a daemon that `box up` started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from inband.cli import run
from tests.patience import PATIENCE_S, until


@dataclass(frozen=True)
class Box:
    """The command with a state directory of its own; no setting of the person who runs the tests applies."""

    home: Path
    variables: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("BOX_")}
        config = {"XDG_CONFIG_HOME": str(self.home.parent / "no-config"), "BOX_HOME": str(self.home)}
        return {**clean, **config, **self.variables}

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "inband", *words]

    def run(self, *words: str, stdin: str | bytes = b"") -> subprocess.CompletedProcess[str]:
        text = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            self.argv(*words),
            input=text,
            env=self.environment(),
            capture_output=True,
            timeout=60,
            check=False,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in err, err
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    def json(self, *words: str, stdin: str | bytes = b"") -> Any:
        done = self.run(*words, "--json", stdin=stdin)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """`box up`; returns when the daemon answers."""
        argv, log = self.argv("up", "--port", "0", *words), self.home.parent / f"{self.home.name}.log"
        with log.open("wb") as sink:
            process = subprocess.Popen(argv, env=self.environment(), stdout=sink, stderr=sink)
        until(lambda: (self.home / "daemon.json").exists() or process.poll() is not None, log.read_text)
        assert process.poll() is None, log.read_text()
        return process


class Quick(Box):
    """The command in the process of the tests, where it starts faster: for what does not turn on its own."""

    def run(self, *words: str, stdin: str | bytes = b"") -> subprocess.CompletedProcess[str]:
        environment = {**dict.fromkeys(os.environ), **self.environment()}
        with CliRunner(env=environment).isolation(stdin) as (out, err, _):
            code = run(list(words))
        said, told = out.getvalue().decode(), err.getvalue().decode()
        assert "internal fault" not in told, told
        return subprocess.CompletedProcess(self.argv(*words), code, said, told)


def stop(process: subprocess.Popen[bytes]) -> int:
    process.terminate()
    return process.wait(PATIENCE_S)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    """No daemon runs."""
    return Box(tmp_path / "state")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A daemon and a watcher run, the agents heron and falke are known, heron answers in thread `ops`."""
    box = Box(tmp_path_factory.mktemp("running") / "state", {"BOX_RATES_WRITES_PER_MINUTE": "0"})
    process = box.start()
    try:
        asked = Quick(box.home, box.variables)
        for name in ("heron", "falke"):
            asked.json("agent", "add", name)
        asked.json("thread", "create", "ops", "--agent", "heron")
        yield box
    finally:
        assert stop(process) == 0


@pytest.fixture
def quick(running: Box) -> Quick:
    """The same daemon, asked from the process of the tests."""
    return Quick(running.home, running.variables)
