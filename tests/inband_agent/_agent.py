"""The reference agent as a real process, and what it said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from messaging.container import ContainerOutput, Framed, FrameReader
from tests.patience import PATIENCE_S, until

ROOT = Path(__file__).resolve().parents[2]
START = {"prompt": "hello", "groupFolder": "family", "chatJid": "tg:1", "isMain": False}
# A fresh interpreter on a machine under load.


@dataclass
class Agent:
    """One container's worth of directories. `start` runs the agent in them."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.input.mkdir(parents=True)

    @property
    def input(self) -> Path:
        return self.root / "ipc" / "input"

    @property
    def log(self) -> str:
        return (self.root / "stderr").read_text(errors="replace")

    def argv(self, *words: str) -> list[str]:
        places = [f"--{name}={self.root / name}" for name in ("ipc", "state", "group")]
        return [sys.executable, "-P", "-m", "inband_agent", *places, *words]

    def script(self, *turns: dict[str, Any]) -> str:
        file = self.root / "script.json"
        file.write_text(json.dumps({"turns": turns}))
        return f"--script={file}"

    def start(self, start: dict[str, Any] | str, *words: str) -> Agent:
        stdin = start if isinstance(start, str) else json.dumps(start)
        (self.root / "stdin").write_text(stdin)
        with (
            (self.root / "stdin").open() as given,
            (self.root / "stdout").open("wb") as output,
            (self.root / "stderr").open("wb") as log,
        ):
            self.process = subprocess.Popen(
                self.argv(*words),
                stdin=given,
                stdout=output,
                stderr=log,
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": str(ROOT)} | self.environment,
            )
        return self

    def tell(self, name: str, text: str) -> None:
        staged = self.input / f"{name}.tmp"
        staged.write_text(json.dumps({"type": "message", "text": text}))
        staged.rename(self.input / name)

    def close(self) -> None:
        (self.input / "_close").touch()

    @property
    def outputs(self) -> list[ContainerOutput]:
        reader = FrameReader()
        found = reader.feed((self.root / "stdout").read_bytes())
        return [one.output for one in found if isinstance(one, Framed)]

    def until(self, true: Callable[[list[ContainerOutput]], object]) -> list[ContainerOutput]:
        until(lambda: true(self.outputs), lambda: (self.outputs, self.log))
        return self.outputs

    def idle(self) -> list[ContainerOutput]:
        return self.until(lambda found: found and found[-1].is_idle)

    def ended(self) -> int:
        assert self.process
        try:
            return self.process.wait(PATIENCE_S)
        finally:
            self.process.kill()
            self.process.wait()
