"""What every command needs: settings, a connected client, and one way to print."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unicodedata import combining, east_asian_width

import click

from harvester import DaemonClient
from inband import settings as settings_module
from inband.compose import client_for
from inband.settings import Settings
from messaging import spelled, strip_terminal

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")


def settings_of(ctx: click.Context, **flags: Any) -> Settings:
    """The settings of this run: file, environment, `--home` and the command's own flags."""
    return settings_module.load(os.environ, {"home": (ctx.obj or {}).get("home"), **flags})


@contextmanager
def connected(ctx: click.Context, identity: str = "operator") -> Iterator[DaemonClient]:
    """A client of the daemon that speaks as `identity` (or with the token that is configured)."""
    with client_for(settings_of(ctx), identity) as client:
        yield client


def show(document: Any, human: Callable[[], Iterable[str]], *, as_json: bool, failed: bool = False) -> None:
    """One JSON document, or the lines for a person; what others wrote loses its terminal codes.

    A failure is a message, so a person gets it on stderr; a program gets its document in any case.
    """
    if as_json:
        click.echo(json_text(document, indent=2))
        return
    for line in human():
        click.echo(harmless(line), err=failed)


# The styles that click writes for us: bold, dim, underline, colours, and their end.
_STYLES: Final = re.compile("(\x1b\\[(?:[0124]|[39][0-7])m)")


def harmless(line: str) -> str:
    """A line for a terminal: our own styles stay (not where NO_COLOR is set), all other codes go."""
    pieces = _STYLES.split(line)
    if os.environ.get("NO_COLOR"):
        del pieces[1::2]
        return strip_terminal("".join(pieces))
    return "".join(piece if at % 2 else strip_terminal(piece) for at, piece in enumerate(pieces))


def json_text(document: Any, indent: int | None = None) -> str:
    """JSON that a person may have on the screen: what it escapes is the same when it is read."""
    return spelled(json.dumps(document, ensure_ascii=False, indent=indent))


def table(rows: Sequence[Sequence[object]], header: Sequence[str]) -> Iterator[str]:
    """Left-aligned columns, two blanks apart; the last one is not padded."""
    cells = [[_cell(value) for value in row] for row in (header, *rows)]
    widths = [max(_width(row[column]) for row in cells) for column in range(len(header))]
    for row in cells:
        padded = [text + " " * (width - _width(text)) for text, width in zip(row, widths, strict=True)]
        yield "  ".join(padded).rstrip()


def _width(text: str) -> int:
    """Cells of a terminal: two for wide characters (Unicode TR 11), none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _cell(value: object) -> str:
    return "-" if value is None else " ".join(strip_terminal(str(value)).split())


def json_argument(text: str | None, what: str) -> dict[str, Any]:
    """A JSON object that was given on the command line; `-` reads standard input."""
    from messaging import StrictJsonError, load_object

    if text is None:
        return {}
    try:
        return load_object(sys.stdin.read() if text == "-" else text)
    except StrictJsonError as broken:
        raise click.BadParameter(f"{what} must be one JSON object: {broken}") from None


def read_text(path: str, most_bytes: int) -> str:
    """The text of a file, or of standard input for `-`; an error names the file and what is wrong."""
    from inband.errors import InputError

    try:
        raw = sys.stdin.buffer.read(most_bytes + 1) if path == "-" else _head(Path(path), most_bytes + 1)
    except OSError as broken:
        raise InputError(f"{path}: cannot be read: {broken.strerror}") from None
    if len(raw) > most_bytes:
        raise InputError(f"{path}: larger than {most_bytes:,} bytes, more than is read")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as broken:
        raise InputError(f"{path}: not UTF-8 text (byte {broken.start})") from None


def _head(path: Path, most_bytes: int) -> bytes:
    with path.open("rb") as file:
        return file.read(most_bytes)
