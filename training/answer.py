"""What the model writes in one turn, and the pieces of its text: call syntax, key, name, value or prose."""

from collections.abc import Iterator
from dataclasses import dataclass

from lookup.values.literal_values import render_value
from tooldecoding.formats.call_format import Call, CallFormat

CONTEXT, SYNTAX, TEXT, KEY, NAME, VALUE = range(6)
"""Kinds of tokens.

``SYNTAX`` is everything in an answer around names, keys and values, and refusals. The closing quote of a text belongs
to the value, the opening quote does not. ``TEXT`` is what the assistant says of its own accord, in a chat only.
"""

Piece = tuple[str, int]
"""A part of an answer's text, with the kind of its tokens."""


@dataclass(frozen=True)
class Answer:
    """What the model should write: calls, or ``refusal`` if no tool fits, or only ``said``.

    ``said`` is the text of the assistant's turn, at times followed by calls. Only chats have it.
    """

    calls: tuple[Call, ...] = ()
    refusal: str = ""
    said: str = ""


def value_pieces(literal: str) -> Iterator[Piece]:
    """Yield the literal of a value; its opening quote is syntax."""
    if literal[0] in "'\"":
        yield literal[0], SYNTAX
        literal = literal[1:]
    yield literal, VALUE


def line_pieces(answer: Answer, call_format: CallFormat) -> Iterator[Piece]:
    """Yield an answer that is a line of a dialogue, with its newline."""
    for number, call in enumerate(answer.calls):
        yield call_format.separator if number else call_format.opener, SYNTAX
        yield call.name, NAME
        yield call_format.bracket, SYNTAX
        for index, (key, value) in enumerate(call.arguments.items()):
            if index:
                yield call_format.separator, SYNTAX
            yield call_format.key(key), KEY
            yield from value_pieces(render_value(value, call_format.notation))
        yield call_format.end, SYNTAX
    yield (call_format.closer if answer.calls else answer.refusal) + "\n", SYNTAX
