"""What is certain while a prompt is decoded: pieces of free text, and calls once they are voted."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from tooldecoding.calls.decoded_call import DecodedCall
from tooldecoding.formats.thinking import NO_ANSWER, Answer


class TextPiece(NamedTuple):
    """A piece of what the model writes; the pieces of a kind add up to ``DecodeResult.thinking`` and ``content``."""

    kind: Literal["thinking", "content"]
    text: str


class ResultStream:
    """Turns an answer that grows, and calls behind it, into what is new."""

    def __init__(self) -> None:
        self._answer = self._given = NO_ANSWER
        self._calls: list[DecodedCall] = []

    def show(self, answer: Answer) -> None:
        """Note the answer so far."""
        self._answer = answer

    def voted(self, call: DecodedCall) -> None:
        """Note a call."""
        self._calls.append(call)

    def take(self) -> Iterator[TextPiece | DecodedCall]:
        """Yield what is new."""
        thinking, content = self._answer
        if thinking.startswith(self._given.thinking) and thinking != self._given.thinking:
            yield TextPiece("thinking", thinking[len(self._given.thinking) :])
            self._given = self._given._replace(thinking=thinking)
        if content.startswith(self._given.content) and content != self._given.content:
            yield TextPiece("content", content[len(self._given.content) :])
            self._given = self._given._replace(content=content)
        while self._calls:
            yield self._calls.pop(0)
