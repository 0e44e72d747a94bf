"""Settings: defaults, then `box.toml`, then `BOX_*` variables, then flags; the last one wins.

Raises `SettingsError` for anything that is not exactly right, with file, line, key and the nearest known
name: a typo in a settings file must never mean "use the default".
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from exec_daemon.access.grant_rules import Wrong
from exec_daemon.home import default_root, settings_file
from inband.errors import SettingsError
from inband.setting import Setting
from inband.settings_table import BY_NAME, SETTINGS
from messaging.sinks.variables import OURS, VARIABLES

_TRUE: Final = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}
# Variables that start with BOX_ and are no setting: read by the launcher, the tests, and tools.
_OTHER_VARIABLES: Final = frozenset(
    {"BOX_CHECKOUT", "BOX_CONFIG", "BOX_DEBUG", "BOX_REQUIRE_ALL", *(OURS + name for name in VARIABLES)}
)


@dataclass(frozen=True, slots=True)
class Value:
    """A setting's value and where it came from: `default`, a file path, or `$VARIABLE`."""

    value: Any
    origin: str


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings by name (`daemon.port`), each with its origin."""

    values: Mapping[str, Value]
    file: Path

    def __getitem__(self, name: str) -> Any:
        return self.values[name].value

    @property
    def home(self) -> Path:
        """The state directory."""
        return Path(self["home"]).expanduser().absolute()


def config_file(environment: Mapping[str, str]) -> Path:
    """`$BOX_CONFIG`, else `$XDG_CONFIG_HOME/inband/box.toml`."""
    return settings_file(environment)


def load(environment: Mapping[str, str], flags: Mapping[str, Any] | None = None) -> Settings:
    """Read everything. `flags` maps setting names to values; None means that the flag was not given."""
    path = config_file(environment)
    values = {name: Value(row.default, "default") for name, row in BY_NAME.items()}
    values.update(_from_file(path, required=bool(environment.get("BOX_CONFIG"))))
    values.update(_from_environment(environment))
    given = {name: flag for name, flag in (flags or {}).items() if flag is not None}
    values.update({name: Value(flag, "flag") for name, flag in given.items()})
    if not values["home"].value:
        values["home"] = Value(str(default_root(environment)), "default")
    return Settings(values, path)


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Value]]:
    for row in SETTINGS:
        text = environment.get(row.variable)
        if text is not None and row.key:
            yield row.name, Value(_converted(row, text), f"${row.variable}")


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """`BOX_*` variables that no setting reads: most likely a typo, so `box config check` names them."""
    known = {row.variable for row in SETTINGS if row.key} | _OTHER_VARIABLES
    return sorted(name for name in environment if name.startswith("BOX_") and name not in known)


def _converted(row: Setting, text: str) -> Any:
    """The text of a variable as the setting's type."""
    try:
        value = _read(row.kind, text)
    except (ValueError, KeyError):
        raise SettingsError(f"${row.variable}: {text!r} is not {_a(row)}") from None
    if not row.allows(value):
        raise SettingsError(f"${row.variable}: {text!r} is not {_a(row)}")
    if wrong := row.problem(value):
        raise SettingsError(f"${row.variable}: {wrong}")
    return value


def _read(kind: type, text: str) -> Any:
    if kind is bool:
        return _TRUE[text.lower()]
    return [part.strip() for part in text.split(",")] if kind is list else kind(text)


def _from_file(path: Path, *, required: bool) -> dict[str, Value]:
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        if required:
            raise SettingsError(f"{path}: no such file (named by $BOX_CONFIG)") from None
        return {}
    except (OSError, UnicodeDecodeError) as broken:
        raise SettingsError(f"{path}: cannot be read: {broken}") from None
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as broken:
        raise SettingsError(f"{path}: not TOML: {broken}") from None
    return {
        name: Value(_checked(path, text, name, value), str(path))
        for name, value in _rows(document, path, text)
    }


def _rows(document: Mapping[str, Any], path: Path, text: str) -> Iterator[tuple[str, Any]]:
    """Each `(name, value)` of the file; raises for a name that is not in the table."""
    for section, inside in document.items():
        if section in BY_NAME:
            yield section, inside
        elif not isinstance(inside, dict):
            raise _unknown(path, text, "", section)
        elif not any(row.section == section for row in SETTINGS):
            raise _unknown(path, text, section, "")
        else:
            yield from _section(section, inside, path, text)


def _section(section: str, inside: Mapping[str, Any], path: Path, text: str) -> Iterator[tuple[str, Any]]:
    for key, value in inside.items():
        if f"{section}.{key}" not in BY_NAME:
            raise _unknown(path, text, section, key)
        yield f"{section}.{key}", value


def _unknown(path: Path, text: str, section: str, key: str) -> SettingsError:
    wanted = f"{section}.{key}" if section and key else section or key
    known = sorted({row.section for row in SETTINGS if row.section}) if not key else list(BY_NAME)
    near = difflib.get_close_matches(wanted, known, 1, 0.5)
    hint = f"did you mean `{near[0]}`?" if near else "known ones: `box config show`"
    what = "setting" if key else "section"
    return SettingsError(f"{path}:{_line(text, section, key)}: unknown {what} `{wanted}`; {hint}")


def _line(text: str, section: str, key: str) -> int:
    """The line that sets `key` in `[section]`, counted from 1; the section's own line without a key."""
    inside, at = "", 1
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\s*([^\]]+?)\s*\]", line)
        inside = re.sub(r"[\"'\s]", "", header[1]) if header else inside
        if header and inside == section:
            at = number
        if key and inside == section and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", line):
            return number
    return at


def _line_of(text: str, row: Setting, wrong: str | Wrong) -> int:
    """The line that sets what is wrong inside a table of tables, as far as it is known."""
    if isinstance(wrong, str):
        return _line(text, row.section, row.key)
    return _line(text, f"{row.section}.{wrong.subject}", wrong.key)


def _checked(path: Path, text: str, name: str, value: Any) -> Any:
    row = BY_NAME[name]
    fits = isinstance(value, row.kind) and not (row.kind is int and isinstance(value, bool))
    if row.kind is float and isinstance(value, int) and not isinstance(value, bool):
        value, fits = float(value), True
    if fits and row.kind in (list, dict):
        inside = value if row.kind is list else value.values()
        fits = all(isinstance(item, row.of) for item in inside)
    if not fits or not row.allows(value):
        line = _line(text, row.section, row.key)
        raise SettingsError(f"{path}:{line}: `{name}` must be {_a(row)}, not {value!r}")
    if wrong := row.problem(value):
        raise SettingsError(f"{path}:{_line_of(text, row, wrong)}: `{name}`: {wrong}")
    return value


def _a(row: Setting) -> str:
    """What a setting takes, in words a person uses in a settings file."""
    within = f" from {row.bounds[0]:g} to {row.bounds[1]:.0f}" if row.bounds else ""
    return {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "a string",
        list: "a list of strings",
        dict: f"a table of {'strings' if row.of is str else 'tables'}",
    }[row.kind] + within
