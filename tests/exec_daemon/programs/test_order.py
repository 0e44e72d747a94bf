"""What goes to a spawner and comes back is what was meant, whatever bytes are in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exec_daemon.programs import Program, Programs, Unusable
from exec_daemon.programs.order import Answer, Order, Printed, answer_in, order, order_in
from tests.exec_daemon.programs.conftest import BARE

# What a program can be given: any text, and bytes of file names that are no UTF-8.
words = st.binary(max_size=8).map(lambda raw: raw.replace(b"\0", b"\xff").decode("utf-8", "surrogateescape"))
sizes = st.integers(0, 2**64 - 1)
printed = st.builds(Printed, sizes, st.booleans(), st.binary(max_size=8))


def raw(word: str) -> bytes:
    return word.encode("utf-8", "surrogateescape")


@given(
    path=st.text(st.sampled_from("/ab")),
    folder=words,
    argv=st.lists(words, max_size=4),
    environment=st.dictionaries(words, words, max_size=4),
    stdin=st.binary(max_size=8),
    third=st.binary(max_size=8),
)
def test_an_order_arrives_as_it_was_given(*, path, folder, argv, environment, stdin, third) -> None:
    packet = order(
        path=path,
        folder=folder,
        argv=argv,
        environment=environment,
        stdin=stdin,
        third=third,
        limit_s=2.5,
        most_whole_bytes=2**40,
    )
    assert order_in(packet, [7]) == Order(
        raw(path) or b"/proc/self/fd/7",
        raw(folder),
        [raw(word) for word in argv],
        {raw(name): raw(value) for name, value in environment.items()},
        stdin,
        third,
        2.5,
        2**40,
    )


@given(
    st.builds(
        Answer,
        st.integers(0, 2**31 - 1),
        st.none() | st.integers(0, 2**16 - 1),
        st.booleans(),
        printed,
        printed,
    )
)
def test_an_answer_arrives_as_it_was_given(answer: Answer) -> None:
    assert answer_in(answer.pack()) == answer


@pytest.mark.parametrize("word", ["\0", "a\0b", "a\0"])
async def test_a_word_with_a_nul_never_becomes_two(word: str, programs: Programs) -> None:  # D003
    for program in (
        Program(argv=("echo", word), profile=BARE),
        Program(argv=("env",), environment={"A": word}, profile=BARE),
        Program(argv=("pwd",), folder=f"/{word}", profile=BARE),
    ):
        with pytest.raises(Unusable) as caught:
            await programs.run(program)
        assert caught.value.problem == "cannot take a word with a NUL in it"
