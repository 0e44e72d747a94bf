"""Python calls are read without Python: what is one, and what is refused."""

import pytest

from harvester.dialects.literals import LiteralError, parse_calls


@pytest.mark.parametrize(
    "text", ["", "f()", "[f()] x", "[f()", "[f(a=1]", "[f(a=__import__('os'))]", "[f(a=$)]"]
)
def test_anything_else_is_refused(text):
    with pytest.raises(LiteralError):
        parse_calls(text)


def test_names_may_have_dots_and_dashes():
    assert [call.name for call in parse_calls("[a.b-c(), _d()]")] == ["a.b-c", "_d"]
