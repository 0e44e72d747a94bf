"""What must hold between the parts of the vocabulary; each rule yields (key, problem)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from patterns.document import nearest
from patterns.errors import PatternError
from patterns.spelling import OP_NAME, family, snake_case, spellings
from patterns.words import Vocabulary

# O-40: so many reads of box.exec take no argument, and so many take one.
ACTION_COUNTS = (19, 8)

Faults = Iterator[tuple[str, str]]


def _ops(words: Vocabulary) -> Faults:
    for name, op in words.known_ops.items():
        if not OP_NAME.fullmatch(name) or name != name.casefold():
            yield f"known_ops/{name}", "is no canonical op name"
        for argument in set(op.required) - set(op.arguments):
            yield f"known_ops/{name}/required", f"{argument!r} is no argument of the op"


def _aliases(words: Vocabulary) -> Faults:
    """One step, no chains (O 7.3): in no spelling may an alias be an op, an action or another op's alias."""
    taken = {spelled: name for name in words.known_ops for spelled in spellings(name)}
    taken |= {f"box.{action}": "box.exec with that action" for action in words.box_actions}
    means: dict[str, str] = {}
    for alias, target in words.op_aliases.items():
        key = f"op_aliases/{target}"
        if target not in words.known_ops:
            yield key, f"is no known op{nearest(target, words.known_ops)}"
        if not OP_NAME.fullmatch(alias):
            yield key, f"{alias!r} is no op name"
        if alias in words.never_aliased:
            yield key, f"{alias!r} must never be an alias"
        for spelled in spellings(alias):
            if spelled in taken:
                yield key, f"{alias!r} is already {taken[spelled]}"
            if means.setdefault(spelled, target) != target:
                yield key, f"{alias!r} already means {means[spelled]!r}"


def _synonyms(words: Vocabulary) -> Faults:
    for row, table in words.arg_synonyms.items():
        ops = [op for op in words.known_ops.values() if row in (op.name, family(op.name))]
        arguments = {argument for op in ops for argument in op.arguments}
        if not ops:
            yield f"arg_synonyms/{row}", f"is no known op or family{nearest(row, words.known_ops)}"
        for synonym, argument in table.items():
            key = f"arg_synonyms/{row}/{argument}"
            if argument not in arguments:
                yield key, f"is no argument there{nearest(argument, arguments)}"
            if synonym != snake_case(synonym):
                yield key, f"{synonym!r} is not in snake_case"
            if row in words.known_ops and synonym in arguments:
                yield key, f"{synonym!r} is itself an argument of {row}"


def _box_actions(words: Vocabulary) -> Faults:
    actions = words.box_actions.values()
    with_argument = sum(action.argument is not None for action in actions)
    counts = (len(actions) - with_argument, with_argument)
    if counts != ACTION_COUNTS:
        yield (
            "box_actions",
            "without and with an argument must be {} and {}, not {} and {}".format(*ACTION_COUNTS, *counts),
        )
    for action in actions:
        if action.argument in action.synonyms:
            yield f"box_actions/{action.name}/synonyms", f"{action.argument!r} is the argument itself"


def _folded(words: Vocabulary) -> Faults:
    """Texts are compared with these words after case-folding, so the words must be folded themselves."""
    groups = ("verdicts", "box_actions", "reasoning_tags", "inert_tags", "html_raw_tags", "html_block_tags")
    for group in (*groups, "call_fences", "shell_fences"):
        for word in getattr(words, group):
            if word != word.casefold():
                yield group, f"{word!r} must be in lower case"


def _marks(words: Vocabulary) -> Faults:
    for pair in words.quote_pairs:
        if any(len(mark) != 1 for mark in pair):
            yield "quote_pairs", f"{pair} must be two single characters"
    for option in words.curl_options:
        if not option.startswith("--") and (len(option) != 2 or option[0] != "-"):
            yield f"curl_options/{option}", "is no option of curl"


RULES: tuple[Callable[[Vocabulary], Faults], ...] = (
    _ops,
    _aliases,
    _synonyms,
    _box_actions,
    _folded,
    _marks,
)


def check(words: Vocabulary, file: str) -> None:
    """Raise `PatternError` for the first rule that `words` breaks."""
    for rule in RULES:
        for key, problem in rule(words):
            raise PatternError(file, key, problem)
