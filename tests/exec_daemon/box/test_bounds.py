"""Readings are cut to 64 KiB, from their less telling end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from exec_daemon.box.bounds import MOST_DATA_BYTES, MOST_STRING_CHARS, clip, fit, size_bytes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=50).map(lambda text: text * 200),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=5), inner, max_size=8),
    max_leaves=60,
)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=8), st.integers(1, 60))
def test_any_data_fits_afterwards(data: dict[str, object], copies: int) -> None:
    small, _ = fit({"rows": [data] * copies})
    assert size_bytes(small) <= MOST_DATA_BYTES


def test_what_fits_is_unchanged_and_has_no_notes() -> None:
    data = {"rows": [1, 2, 3], "text": "x" * MOST_STRING_CHARS}
    assert fit(data) == (data, [])


def test_lists_that_begin_with_the_oldest_keep_their_end_and_others_their_beginning() -> None:
    rows = [f"{number:05}" + "x" * 95 for number in range(2000)]
    small, notes = fit({"lines": list(rows)})
    assert small["lines"] == rows[-len(small["lines"]) :]
    assert notes == [f"lines: {len(small['lines'])} of 2000 shown"]
    small, _ = fit({"by_cpu": list(rows)})
    assert small["by_cpu"] == rows[: len(small["by_cpu"])]
    assert size_bytes(small) > MOST_DATA_BYTES / 2  # no more is cut than needed


def test_a_wide_object_loses_fields() -> None:
    small, notes = fit({"job": {"args": {str(number): "x" * 100 for number in range(5000)}}})
    assert 64 < len(small["job"]["args"]) < 5000
    assert notes


def test_what_cannot_be_cut_is_left_out_whole() -> None:
    small, notes = fit({f"k{number}": "x" * MOST_STRING_CHARS for number in range(40)})
    assert (small, notes) == ({"available": True}, ["the answer is too large to show"])


def test_a_long_text_keeps_its_ends() -> None:
    text = clip("a" * 3000 + "b" * 3000)
    assert text.startswith("aaa")
    assert text.endswith("bbb")
    assert "[2000 characters left out]" in text
