"""The pages of docs/ that are made from tables: `python scripts/docs.py` writes them, `--check` compares.

Each page says at its top what it is made from. A page that is out of date fails the check.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import click

from exec_daemon.calls.registry import registry
from exec_daemon.ops import ALLOWLIST
from inband.cli import COMMANDS, box
from inband.setting import Setting
from inband.settings_table import SETTINGS
from messaging import ERRORS
from messaging.op_formats import markdown
from messaging.op_formats import markdown_table as table
from messaging.sinks.variables import OURS, VARIABLES
from scripts.requirements import Area, areas, citations

DOCS: Final = Path(__file__).resolve().parent.parent / "docs"


SETTINGS_TEXT: Final = (
    "Defaults, then `box.toml`, then environment variables, then flags; the last one wins. The file is",
    "`$BOX_CONFIG`, else `$XDG_CONFIG_HOME/inband/box.toml`. `box config show` prints what is in force and",
    "where each value comes from; `box config check` names file, line and key of anything that is wrong.",
)


def settings_page() -> Iterator[str]:
    yield "# Settings"
    yield ""
    yield from SETTINGS_TEXT
    yield ""
    rows = ((f"`{row.name}`", f"`{variable(row)}`", f"`{default(row)}`", row.purpose) for row in SETTINGS)
    yield from table(("setting", "variable", "default", "for"), rows)


def variable(row: Setting) -> str:
    return row.variable if row.key else "-"


def default(row: Setting) -> str:
    return json.dumps(row.default) if row.key else "{}"


def ops_page() -> Iterator[str]:
    yield "# Ops"
    yield ""
    yield "The allowlist, as `tools.list`, `GET /ops` and `python -m exec_daemon --list-ops` show it."
    yield "An op that is not here cannot be called."
    yield ""
    yield from markdown(registry(ALLOWLIST).infos)


def errors_page() -> Iterator[str]:
    yield "# Error codes"
    yield ""
    yield "Each refused or failed call ends with `{code, message, retryable, details}`; other endpoints put"
    yield "the same into an RFC 9457 problem document."
    yield ""
    rows = [(f"`{code}`", row.http_status, RETRY[row.retry], row.meaning) for code, row in ERRORS.items()]
    yield from table(("code", "HTTP", "try again", "meaning"), rows)


VARIABLES_TEXT: Final = (
    "What a tool on `messaging.sinks.run_tool` reads from its environment; [job events](messaging.md) says",
    "what for. Each has a second spelling, `RECIPE_` in place of `BOX_`; both set and different is an error.",
)


def variables_page() -> Iterator[str]:
    yield "# Variables of tools"
    yield ""
    yield from VARIABLES_TEXT
    yield ""
    rows = ((f"`{OURS}{name}`", json.dumps(row.default), row.purpose) for name, row in VARIABLES.items())
    yield from table(("variable", "default", "for"), rows)


RETRY: Final = {"never": "no", "always": "yes", "read-only": "if the op is read-only"}


def commands_page() -> Iterator[str]:
    yield "# Commands"
    yield ""
    yield "`box --help`, and the help of each command. In a checkout the command is `./box`."
    yield ""
    context = click.Context(box, info_name="box", max_content_width=100, terminal_width=100)
    for name in COMMANDS:
        command = box.get_command(context, name)
        assert command is not None
        yield from command_help(command, context, name)


def command_help(command: click.Command, parent: click.Context, name: str) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent, max_content_width=100, terminal_width=100)
    yield f"## {context.command_path}"
    yield ""
    yield "```text"
    yield command.get_help(context)
    yield "```"
    yield ""
    if isinstance(command, click.Group):
        for inner, subcommand in command.commands.items():
            yield from command_help(subcommand, context, inner)


REQUIREMENTS_TEXT: Final = (
    "What each part has to do, and the files of tests that show it: `# O-16` beside a test names the line",
    "that it shows. `.venv/bin/python scripts/requirements.py O-16` prints each test of a line. The check",
    "fails for one that no test cites, unless it says here what is not built yet, or which page keeps it.",
)


def requirements_page() -> Iterator[str]:
    yield "# Requirements"
    yield ""
    yield from REQUIREMENTS_TEXT
    yield ""
    cited = citations()
    for area in areas():
        if area.page == "requirements.md":
            yield from one_area(area, cited)


ATTACKS_TEXT: Final = (
    "What is tried against programs of this kind, or goes wrong with them, and what comes of it here. Each",
    "row has tests that fail without its answer: `.venv/bin/python scripts/requirements.py D001` prints",
    "them. Who tries it, and what does not stop them, is the [security model](security.md).",
)


def attacks_page() -> Iterator[str]:
    yield "# Attacks and failures"
    yield ""
    yield from ATTACKS_TEXT
    yield ""
    cited = citations()
    attacks = (one for area in areas() if area.page == "attacks.md" for one in area.requirements)
    rows = sorted((one.number, one.tried, one.text, shown_by(cited.get(one.number, ()))) for one in attacks)
    yield from table(("number", "what is tried, or fails", "what comes of it", "shown by"), rows)


def one_area(area: Area, cited: Mapping[str, list[str]]) -> Iterator[str]:
    yield f"## {area.letter}: {area.title}"
    yield ""
    rows = ((one.number, one.text, shown_by(cited.get(one.number, ()))) for one in area.requirements)
    yield from table(("number", "what", "shown by"), rows)
    if area.tables:
        yield from table(("cited as", "the table"), area.tables.items())
    later = [(one.number, one.later) for one in area.requirements if one.later]
    kept = [
        (one.number, f"[kept]({one.record.removeprefix('docs/')})") for one in area.requirements if one.record
    ]
    if later or kept:
        yield from table(("number", "not built, or not for a test"), [*later, *kept])


def shown_by(tests: Iterable[str]) -> str:
    """The files of the tests, each once: they change less often than the tests' names."""
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    return ", ".join(f"`{file}`" for file in files) or "-"


PAGES: Final[Mapping[str, Callable[[], Iterator[str]]]] = {
    "settings.md": settings_page,
    "ops.md": ops_page,
    "errors.md": errors_page,
    "commands.md": commands_page,
    "variables.md": variables_page,
    "requirements.md": requirements_page,
    "attacks.md": attacks_page,
}


def page(name: str) -> str:
    lines = [*PAGES[name](), "<!-- made by scripts/docs.py; edit the tables in the code instead -->"]
    return "\n".join(line.rstrip() for line in "\n".join(lines).split("\n")) + "\n"


def stale() -> list[str]:
    return [n for n in PAGES if not (DOCS / n).exists() or (DOCS / n).read_text(encoding="utf-8") != page(n)]


def main(arguments: list[str]) -> int:
    out_of_date = stale()
    if arguments == ["--check"]:
        for name in out_of_date:
            print(f"docs/{name} is out of date: .venv/bin/python scripts/docs.py writes it", file=sys.stderr)
        return 1 if out_of_date else 0
    for name in out_of_date:
        (DOCS / name).write_text(page(name), encoding="utf-8")
        print(f"wrote docs/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
