"""Where a value ends: the tokens that may end it, and the part of them that belongs to it."""

import pytest

from lookup.values.grammar import value_grammar
from tooldecoding.calls.value_end import ValueState
from tooldecoding.formats.known_formats import CALL_FORMATS
from tools import parameter


def written(format: str, kind: str, text: bytes) -> ValueState:
    """A value of a type with some text behind what every literal begins with."""
    call_format = CALL_FORMATS[format]
    state = ValueState(value_grammar(parameter("k", kind), call_format.notation), call_format)
    state.write(text)
    return state


@pytest.mark.parametrize("piece", [b",", b", ", b", other=", b")", b")]", b"), g("])
def test_a_separator_or_an_end_ends_a_number_and_is_no_part_of_it(piece: bytes) -> None:
    state = written("pythonic", "int", b"12")
    assert state.write(piece) == b""
    assert state.closed and state.text == "12"


@pytest.mark.parametrize("piece", [b",5", b",,", b")x", b")5", b"),g", b"]", b" ", b"a"])
def test_text_that_no_call_goes_on_with_does_not_end_it(piece: bytes) -> None:
    state = written("pythonic", "int", b"12")
    assert state(piece) is None


def test_a_token_may_write_the_rest_of_a_value_and_its_end() -> None:
    state = written("pythonic", "str", b"Ro")
    assert state.write(b"me')]") == b"me'"
    assert state.closed and state.text == "'Rome'"
