"""The assistant's next message, with the votes behind its calls."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from tooldecoding.chat.calls import ToolCall
from tooldecoding.decoding.decoded_call import DecodedCall
from tooldecoding.result import DecodeResult

FinishReason = Literal["tool_calls", "stop", "length"]


class CallPiece(NamedTuple):
    """A voted call in a stream.

    Attributes
    ----------
    id : str
    call : DecodedCall
    """

    id: str
    call: DecodedCall

    @property
    def message(self) -> dict[str, Any]:
        """The call in OpenAI's shape."""
        return ToolCall(self.id, self.call.name, self.call.arguments).openai()


@dataclass(frozen=True, repr=False)
class ChatMessage:
    """What the model answered: ``reply.message`` to append to the messages, ``reply.calls`` with votes.

    Attributes
    ----------
    result : DecodeResult
    ids : tuple of str
        The ids of the calls, in the form that the chat template takes.
    """

    result: DecodeResult
    ids: tuple[str, ...]

    @property
    def message(self) -> dict[str, Any]:
        """The message in OpenAI's shape: ``role``, ``content``, and ``tool_calls`` and ``reasoning_content`` if any.

        The arguments of a call are a JSON text. ``content`` is None if the message has only calls.
        """
        row: dict[str, Any] = {"role": "assistant", "content": self.content}
        if self.result.thinking:
            row["reasoning_content"] = self.result.thinking
        if self.calls:
            row["tool_calls"] = [piece.message for piece in self.call_pieces]
        return row

    @property
    def content(self) -> str | None:
        """The model's text; without the white space before calls, which the chat template writes."""
        content = self.result.content
        return (content.rstrip() or None) if self.calls else content

    @property
    def finish_reason(self) -> FinishReason:
        """Whether the model called tools, ended its turn, or a limit has cut the answer: calls or text."""
        return "length" if self.result.cut else "tool_calls" if self.calls else "stop"

    @property
    def calls(self) -> tuple[DecodedCall, ...]:
        """The voted calls."""
        return self.result.calls

    @property
    def call_pieces(self) -> tuple[CallPiece, ...]:
        """The calls with their ids."""
        return tuple(map(CallPiece, self.ids, self.calls))

    @property
    def valid(self) -> bool:
        """As ``DecodeResult.valid``."""
        return self.result.valid

    @property
    def errors(self) -> tuple[str, ...]:
        """As ``DecodeResult.errors``."""
        return self.result.errors

    @property
    def repeated(self) -> bool:
        """As ``DecodeResult.repeated``."""
        return self.result.repeated

    def to_json(self, identifier: str) -> dict[str, Any]:
        """Return the object that ``tooldecoding decode --messages --json`` prints."""
        row = self.result.to_json(identifier)
        return {"id": row.pop("id"), "message": self.message, "finish_reason": self.finish_reason, **row}

    def __str__(self) -> str:
        return str(self.result)

    def __repr__(self) -> str:
        return f"<ChatMessage {self.result.text!r}, {self.finish_reason}, {'valid' if self.valid else 'invalid'}>"
