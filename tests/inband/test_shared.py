"""How commands print: columns in the cells of a terminal."""

from inband.cli.shared import table


def test_columns_stand_under_each_other_whatever_is_in_them() -> None:
    lines = list(table([("heron", 1), ("千鳥", 2), ("é", 3), ("e\u0301", 4)], ("AGENT", "N")))
    assert lines == ["AGENT  N", "heron  1", "千鳥   2", "é      3", "e\u0301      4"]
