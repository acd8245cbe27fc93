"""What the model writes in one turn, and the pieces of its text: call syntax, key, name, value or prose."""

from collections.abc import Iterator, Sequence
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


def call_pieces(calls: Sequence[Call], call_format: CallFormat) -> Iterator[Piece]:
    """Yield the text of calls; the opening quote of a value is syntax."""
    for number, call in enumerate(calls):
        yield call_format.start(number), SYNTAX
        yield call.name, NAME
        yield call_format.bracket_of(number), SYNTAX
        for index, (key, value) in enumerate(call.arguments.items()):
            if index:
                yield call_format.separator, SYNTAX
            yield call_format.key(key), KEY
            literal = render_value(value, call_format.notation)
            if literal[0] in "'\"":
                yield literal[0], SYNTAX
                literal = literal[1:]
            yield literal, VALUE
        yield call_format.end_of(not call.arguments), SYNTAX
    yield call_format.closer, SYNTAX


def line_pieces(answer: Answer, call_format: CallFormat) -> Iterator[Piece]:
    """Yield an answer that is a line of a dialogue, with its newline."""
    if answer.calls:
        yield from call_pieces(answer.calls, call_format)
    yield answer.refusal + "\n", SYNTAX
