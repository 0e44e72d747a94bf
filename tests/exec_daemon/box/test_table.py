"""A reading as a person reads it."""

from __future__ import annotations

import pytest

from exec_daemon.box import ACTIONS, Action, BoxContext, read
from exec_daemon.box.table import lines_of_reading

HEAD = {"action": "x", "host": "vm", "at": "2026-12-01T09:00:00.000Z"}


def lines(data: dict[str, object], **more: object) -> list[str]:
    return list(lines_of_reading({**HEAD, "data": data, **more}))


def test_values_stand_in_a_column_and_lists_of_objects_in_a_table() -> None:
    assert lines(
        {
            "available": True,
            "load": {"1m": 0.5, "15m": 1},
            "up": True,
            "nothing": None,
            "names": ["a", "b"],
            "mounts": [{"mount": "/", "size_bytes": 1536}, {"mount": "/home", "size_bytes": 10, "more": 1}],
        }
    ) == [
        "x on vm, 2026-12-01T09:00:00.000Z",
        "load.1m   0.5",
        "load.15m  1",
        "up        yes",
        "nothing   -",
        "names     a, b",
        "",
        "mounts",
        "  mount  size     more",
        "  /      1.5 KiB  -",
        "  /home  10 B     1",
    ]


def test_what_a_row_is_called_by_stands_first() -> None:
    assert lines({"rows": [{"cpu": 1, "pid": 2, "name": "x"}]})[3] == "  name  pid  cpu"


def test_lines_stand_as_they_are_and_cells_stay_on_one_line() -> None:
    shown = lines({"lines": ["one line", "  two"], "rows": [{"text": "a\nb" + "x" * 100}]})
    assert shown[2:5] == ["lines", "  one line", "    two"]
    assert shown[-1].startswith("  a bxxx")
    assert shown[-1].endswith("…")


def test_what_is_missing_or_cut_is_said() -> None:
    assert lines({"available": False}, notes=["no tmux"], truncated=True)[1:] == [
        "not available here",
        "",
        "note: no tmux",
        "",
        "There was more than is shown.",
    ]


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (1024, "1.0 KiB"), (5 << 40, "5.0 TiB"), (1 << 70, "1048576.0 PiB")]
)
def test_sizes_are_in_binary_units(count: int, text: str) -> None:
    assert lines({"size_bytes": count})[1] == f"size  {text}"


@pytest.mark.parametrize("action", [a for a in ACTIONS if a.argument is None], ids=lambda action: action.name)
def test_every_real_reading_has_a_table(action: Action, context: BoxContext) -> None:
    shown = list(lines_of_reading(read(action.name, None, context)))
    assert shown[0].startswith(f"{action.name} on ")
    assert not any("\n" in line for line in shown)
