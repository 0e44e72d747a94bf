"""A store whose writer is killed at any instant: content is whole or not there (M-83)."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from messaging.artifact_stores import sweep
from messaging.artifacts import sha256_of

ROOT = Path(__file__).resolve().parents[3]

# Says each hash when `keep` has returned: from then on it must be there.
WRITER = """
import sys
from io import BytesIO
from pathlib import Path
from messaging.artifact_stores import LocalStore
store = LocalStore(Path(sys.argv[1]))
for number in range(10**6):
    kept = store.keep(BytesIO(number.to_bytes(4, "big") * 65536))
    print(kept.sha256, flush=True)
"""


def killed_writer(folder: Path, after_s: float) -> list[str]:
    """The hashes that it had told when it was killed."""
    argv = [sys.executable, "-c", WRITER, str(folder)]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        told = [writer.stdout.readline().strip()]
        time.sleep(after_s)
        writer.kill()
        return told + [line.strip() for line in writer.stdout if line.endswith("\n")]


def test_each_file_is_what_its_name_says_and_nothing_told_is_missing(tmp_path: Path) -> None:  # M-83
    seeded = random.Random(83)
    told = {sha256 for _ in range(8) for sha256 in killed_writer(tmp_path, seeded.uniform(0.0, 0.05))}
    files = [path for path in (tmp_path / "sha256").rglob("*") if path.is_file()]
    assert [path.name for path in files if sha256_of(path.read_bytes()) != path.name] == []
    assert told <= {path.name for path in files}
    sweep(tmp_path)
    assert list((tmp_path / "incoming").iterdir()) == []
