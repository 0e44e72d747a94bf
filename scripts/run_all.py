"""Run the programs of a folder, one after the other: `run_all.py FOLDER [NAME [ARG…]]`.

Without a name all of them run; with a name only that one, with the arguments. It is what `./box bench`,
`./box fuzz` and `./box soak` are. Files that begin with an underscore are parts, not programs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def programs(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.glob("*.py")) if not path.name.startswith("_")}


def run(path: Path, arguments: list[str]) -> int:
    print(f"== {path}", flush=True)
    # Isolated: a program may bear the name of a package (`messaging`), which its own folder would hide.
    return subprocess.run([sys.executable, "-I", path, *arguments], check=False).returncode


def main(folder: Path, name: str | None = None, *arguments: str) -> int:
    found = programs(folder)
    if name is None:
        return max((run(path, []) for path in found.values()), default=0)
    if name not in found:
        print(f"no {name!r} in {folder}; there are: {' '.join(found) or 'none'}", file=sys.stderr)
        return 2
    return run(found[name], list(arguments))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
