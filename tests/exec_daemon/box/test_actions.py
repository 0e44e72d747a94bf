"""The table of the 27 reads."""

from __future__ import annotations

from exec_daemon.box import ACTIONS, BY_NAME
from patterns import vocabulary


def test_there_are_nineteen_reads_without_and_eight_with_an_argument() -> None:  # O-40
    plain = [action for action in ACTIONS if action.argument is None]
    keyed = [action for action in ACTIONS if action.argument is not None]
    assert (len(plain), len(keyed), len(BY_NAME)) == (19, 8, 27)


def test_the_vocabulary_of_the_harvester_names_the_same_reads_with_the_same_arguments() -> None:  # O-40, O-53
    ours = {action.name: action.argument and action.argument.name for action in ACTIONS}
    assert ours == {name: action.argument for name, action in vocabulary().box_actions.items()}
    assert list(ours) == list(vocabulary().box_actions)


def test_every_read_says_in_a_line_what_it_shows() -> None:
    assert all(0 < len(action.summary) < 70 for action in ACTIONS)


def test_every_example_is_an_argument_that_its_type_accepts() -> None:
    import re

    kinds = [action.argument for action in ACTIONS if action.argument]
    assert all(re.fullmatch(kind.pattern, kind.example) for kind in kinds)
