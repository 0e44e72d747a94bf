"""A layer that is said to hold is tried: in a process around which there is none, none is believed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import json, sys
from exec_daemon.programs.nursery import trial
layers = {"landlock": "as it says", "seccomp": "as it says", "limits": "as it says"}
trial.hold(layers, sys.argv[1])
print(json.dumps(sorted(layers)))
"""


@pytest.mark.parametrize("network", ["none", "all"])
def test_what_lets_something_through_does_not_count(network: str) -> None:  # D045
    done = subprocess.run([sys.executable, "-c", PROGRAM, network], cwd=ROOT, capture_output=True, check=True)
    assert json.loads(done.stdout) == ["limits"]
