"""`python -m exec_daemon --list-ops`: the ops of this daemon, the same list as `tools.list` (O-51)."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path


def list_ops() -> bytes:
    """The list as `tools.list` has it under `ops`, byte for byte, and a line break."""
    from exec_daemon.api.answers import dump
    from exec_daemon.calls.registry import registry
    from exec_daemon.home import Home, default_root
    from exec_daemon.mcp_servers import at_start
    from exec_daemon.operator_ops.box_toml import written_ops
    from exec_daemon.programs_at_start import listed

    home = Home(Path(os.environ.get("BOX_HOME") or default_root(os.environ)))
    remote = at_start.listed(os.environ, home)
    ops = registry((*listed(written_ops(os.environ)).ops.values(), *remote))
    return dump([info.to_json() for info in ops.infos]) + b"\n"


def main(argv: list[str] | None = None) -> int:
    """Prints the list; there is nothing else to run here."""
    parser = argparse.ArgumentParser(prog="python -m exec_daemon", description="Runs nothing: `box up` does.")
    parser.add_argument("--list-ops", action="store_true", required=True, help="print every op as JSON")
    parser.parse_args(argv)
    from exec_daemon.errors import DaemonError

    try:
        sys.stdout.buffer.write(list_ops())
    except DaemonError as wrong:
        sys.stderr.write(f"{wrong}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
