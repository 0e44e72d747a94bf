"""docs/dialects.md: every dialect has its row, and the example of a new family works as written."""

import re
from pathlib import Path

from harvester.dialects import DIALECTS

PAGE = (Path(__file__).parents[3] / "docs" / "dialects.md").read_text(encoding="utf-8")


def test_every_dialect_is_in_the_table():
    section = PAGE.split("## The table")[1].split("## ")[0]
    assert set(re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE)) == set(DIALECTS)


def test_the_example_of_a_new_family_works_as_written():
    section = PAGE.split("## A new family")[1]
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", section, re.DOTALL):
        exec(block, names)
    assert "EXAMPLE" in names
