"""Help as a person reads it."""

from __future__ import annotations

import click
import pytest

from inband.cli import COMMANDS, box


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_told_in_one_whole_sentence(name: str) -> None:
    command = box.get_command(click.Context(box), name)
    assert command is not None
    assert command.get_short_help_str(60).endswith(".")
    assert not command.get_short_help_str(60).endswith("...")
