"""Values that are quickly made are what dataclasses are."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Any

import pytest

from messaging.quick import quickly_made


@quickly_made
@dataclass(frozen=True, slots=True)
class Quick:
    a: int
    b: str = "b"
    c: list[int] = field(default_factory=list)
    d: Any = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True)
class Plain:
    a: int
    b: str = "b"
    c: list[int] = field(default_factory=list)
    d: Any = field(default=None, kw_only=True, compare=False)


@pytest.mark.parametrize(
    ("args", "named"), [((1,), {}), ((1, "x", [2]), {"d": 3}), ((), {"a": 1, "c": [4]}), ((1,), {"b": "y"})]
)
def test_it_has_the_fields_that_a_dataclass_would_have(args: tuple[Any, ...], named: dict[str, Any]) -> None:
    assert asdict(Quick(*args, **named)) == asdict(Plain(*args, **named))
    assert repr(Quick(*args, **named)) == repr(Plain(*args, **named)).replace("Plain", "Quick")


@pytest.mark.parametrize(
    ("args", "named"), [((), {}), ((1, 2, 3, 4), {}), ((1,), {"a": 1}), ((1,), {"unknown": 1})]
)
def test_it_takes_the_arguments_that_a_dataclass_would_take(
    args: tuple[Any, ...], named: dict[str, Any]
) -> None:
    for made in (Quick, Plain):
        with pytest.raises(TypeError):
            made(*args, **named)
    assert str(inspect.signature(Quick)) == str(inspect.signature(Plain))


def test_it_is_frozen_once_it_is_made() -> None:
    quick = Quick(1)
    assert type(quick) is Quick
    with pytest.raises(FrozenInstanceError):
        quick.a = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del quick.a
    with pytest.raises((AttributeError, TypeError)):
        quick.other = 2  # type: ignore[attr-defined]


def test_defaults_that_are_made_are_made_for_each() -> None:
    assert Quick(1).c is not Quick(1).c


def test_it_is_equal_hashed_copied_and_replaced_as_a_dataclass_is() -> None:
    quick = Quick(1, c=[2], d=5)
    assert quick == Quick(1, c=[2])
    assert quick != Quick(2, c=[2])
    assert replace(quick, a=7) == Quick(7, c=[2])
    assert copy.deepcopy(quick) == pickle.loads(pickle.dumps(quick)) == quick
    with pytest.raises(TypeError, match="unhashable"):
        hash(quick)
    assert [one.name for one in fields(quick)] == ["a", "b", "c", "d"]


def test_a_dataclass_may_be_made_from_it() -> None:
    @dataclass(frozen=True, slots=True)
    class More(Quick):
        e: int = 0

    more = More(1, e=2)
    assert type(more) is More
    assert (more.a, more.b, more.e) == (1, "b", 2)
    assert replace(more, a=7) == More(7, e=2)


def test_what_does_more_than_to_fill_its_fields_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Counted:
        a: int
        b: int = field(init=False, default=0)

    @dataclass(frozen=True, slots=True)
    class After:
        a: int

        def __post_init__(self) -> None:
            """Something."""

    for cls in (Counted, After):
        with pytest.raises(TypeError, match="does more"):
            quickly_made(cls)
