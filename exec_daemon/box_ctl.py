"""`box-ctl ACTION [ARG]`: the 27 reads as a program, without a daemon.

Prints a table for a person, one JSON document with `--json`. The store is read where `BOX_HOME` has one;
whoever may read its file sees all of it. Exit code 0 ok, 1 failed, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from exec_daemon.box import ACTIONS, BY_NAME, Action, BoxContext, BoxError, StoreFacts, read
from exec_daemon.box.errors import failure
from exec_daemon.box.table import lines_of_reading
from exec_daemon.home import default_root
from exec_daemon.store import StoreError
from messaging import CallError, ErrorCode, secret_values

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130

_USAGE_CODES: Final = frozenset({ErrorCode.UNKNOWN_ACTION, ErrorCode.INVALID_ARGS})
_EXAMPLES: Final = """
examples:
  box-ctl disk
  box-ctl logs nginx
  box-ctl processes --json
  box-ctl repo gateway --repo gateway=/srv/gateway

exit codes: 0 ok, 1 failed, 2 wrong usage
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one read; returns the exit code."""
    options = _parser().parse_args(argv)
    try:
        return _run(options)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python would complain about the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _run(options: argparse.Namespace) -> int:
    try:
        with _context(options, os.environ) as context:
            document = read(options.action, options.arg, context)
    except BoxError as refused:
        return _refuse(refused.error, as_json=options.json)
    if options.json:
        print(_json(document))
    else:
        print("\n".join(lines_of_reading(document)))
    sys.stdout.flush()
    return OK


def _refuse(error: CallError, *, as_json: bool) -> int:
    if as_json:
        print(_json({"error": error.to_json()}))
    print(f"box-ctl: {error.message}", file=sys.stderr)
    return USAGE if error.code in _USAGE_CODES else FAILED


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False)


@contextmanager
def _context(options: argparse.Namespace, environment: Mapping[str, str]) -> Iterator[BoxContext]:
    """What the read may use: the state directory's log and address file, and its store if it is asked for."""
    home = _home(environment)
    with _facts(home / "store.db", BY_NAME.get(options.action)) as facts:
        yield BoxContext(
            facts=facts,
            repos=dict(options.repo),
            log_dir=home,
            daemon_file=home / "daemon.json",
            secrets=secret_values(environment),
        )


def _home(environment: Mapping[str, str]) -> Path:
    named = environment.get("BOX_HOME")
    return Path(named).expanduser() if named else default_root(environment)


@contextmanager
def _facts(database: Path, action: Action | None) -> Iterator[StoreFacts | None]:
    """The facts of the store, opened only for a read that needs them."""
    if action is None or not action.needs_store or not database.exists():
        yield None
        return
    from exec_daemon.store_on_disk import facts_on_disk

    try:
        with facts_on_disk(database) as facts:
            yield facts
    except (StoreError, OSError) as fault:
        raise failure(ErrorCode.UNAVAILABLE, str(fault)) from fault


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="box-ctl",
        description="Look at this machine: 27 reads, nothing is changed.",
        epilog=f"actions:\n{_list_of_actions()}\n{_EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("action", metavar="ACTION", help="one of the actions below")
    parser.add_argument("arg", metavar="ARG", nargs="?", help="its argument, where it takes one")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument(
        "--repo",
        metavar="KEY=PATH",
        action="append",
        type=_repo,
        default=[],
        help="a checkout that repos and repo may look at; may be repeated",
    )
    return parser


def _list_of_actions() -> str:
    width = max(len(action.example) for action in ACTIONS)
    return "\n".join(f"  {action.example.ljust(width)}  {action.summary}" for action in ACTIONS)


def _repo(text: str) -> tuple[str, Path]:
    """`KEY=PATH`; raises ValueError, which argparse turns into a usage error."""
    key, found, path = text.partition("=")
    if not (key and found and path):
        raise ValueError(text)
    return key, Path(path).absolute()


if __name__ == "__main__":
    sys.exit(main())
