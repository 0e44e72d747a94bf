"""`python -m exec_daemon --list-ops`: the ops of this daemon, the same list as `tools.list` (O-51)."""

from __future__ import annotations

import argparse
import sys


def list_ops() -> bytes:
    """The list as `tools.list` has it under `ops`, byte for byte, and a line break."""
    from exec_daemon.api.answers import dump
    from exec_daemon.calls.registry import registry
    from exec_daemon.ops import ALLOWLIST

    return dump([info.to_json() for info in registry(ALLOWLIST).infos]) + b"\n"


def main(argv: list[str] | None = None) -> int:
    """Prints the list; there is nothing else to run here."""
    parser = argparse.ArgumentParser(prog="python -m exec_daemon", description="Runs nothing: `box up` does.")
    parser.add_argument("--list-ops", action="store_true", required=True, help="print every op as JSON")
    parser.parse_args(argv)
    sys.stdout.buffer.write(list_ops())
    return 0


if __name__ == "__main__":
    sys.exit(main())
