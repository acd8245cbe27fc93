"""Answers in the shape of OpenAI's chat completions, whole and as a stream of chunks."""

import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from tooldecoding.calls.decoded_call import DecodedCall
from tooldecoding.chat.chat import ReplyPieces
from tooldecoding.chat.reply import CallPiece, ChatMessage
from tooldecoding.decoder import ToolDecoder
from tooldecoding.result import DecodeResult
from tooldecoding.server.chat_body import ChatBody
from tooldecoding.server.prepared import Prepared
from tooldecoding.text_stream import TextPiece
from tooldecoding.tokens.token_table import TokenTable

Chunk = dict[str, Any]

_DETAILS: Final = ("valid", "errors", "repeated", "format", "calls", "candidates", "counters")
"""What ``tooldecoding`` has of a result as the command line prints it."""


class ChatAnswer:
    """The answer to one request.

    Parameters
    ----------
    body : ChatBody
    prepared : Prepared
    decoder : ToolDecoder
    model : str
        The name of the model.
    """

    def __init__(self, body: ChatBody, prepared: Prepared, decoder: ToolDecoder, model: str) -> None:
        self._prepared = prepared
        self._decoder = decoder
        self._tokens = body.tooldecoding.tokens
        self._with_usage = body.stream_options is not None and body.stream_options.include_usage
        self._pieces = ReplyPieces(prepared.conversation, decoder.tokenizer)
        self._head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}
        self._calls = 0
        self._wrote = False
        self._space = ""  # white space of the content that counts only if more follows

    def whole(self, result: DecodeResult) -> dict[str, Any]:
        """Return the answer as one object."""
        reply = self._reply(result)
        choice = {"index": 0, "message": reply.message, "logprobs": None, "finish_reason": reply.finish_reason}
        return {
            **self._head,
            "object": "chat.completion",
            "choices": [choice],
            "usage": self._usage(result),
            "tooldecoding": self._details(result),
        }

    def begin(self) -> Chunk:
        """Return the first chunk of a stream."""
        return self._chunk({"role": "assistant"})

    def chunks(self, event: TextPiece | DecodedCall) -> Iterator[Chunk]:
        """Yield the chunks for a piece: text as it is; of a call its id and name, then its arguments."""
        match self._pieces.of(event):
            case TextPiece("thinking", text):
                yield self._chunk({"reasoning_content": text})
            case TextPiece(_, text) if not self._prepared.as_content:
                yield from self._text(text)
            case CallPiece() as piece if not self._prepared.as_content:
                message, self._space = piece.message, ""
                function, index = message["function"], self._calls
                self._calls += 1
                begun = {**message, "index": index, "function": {"name": function["name"], "arguments": ""}}
                yield self._chunk({"tool_calls": [begun]})
                yield self._chunk({"tool_calls": [{"index": index, "function": {"arguments": function["arguments"]}}]})

    def end(self, result: DecodeResult) -> Iterator[Chunk]:
        """Yield the last chunks."""
        reply = self._reply(result)
        if self._prepared.as_content:
            yield self._chunk({"content": reply.content})
        elif not self._calls and (self._space or not self._wrote):
            yield self._chunk({"content": self._space})
        last = self._chunk({}, reply.finish_reason)
        if self._with_usage:
            yield last
            last = {**self._chunk({}), "choices": [], "usage": self._usage(result)}
        yield {**last, "tooldecoding": self._details(result)}

    def _reply(self, result: DecodeResult) -> ChatMessage:
        """Return the message; an answer in JSON is its text, and a value that was closed at its limit has cut it."""
        cut = result.cut or any(p.truncated for call in result.calls for p in call.voted.parameters)
        if self._prepared.as_content:
            content = "".join(result.call_format.render_call(c.name, c.arguments) for c in result.calls)
            result = replace(result, calls=(), answer=result.answer._replace(content=content))
        return self._pieces.whole(replace(result, cut=cut))

    def _text(self, text: str) -> Iterator[Chunk]:
        text = self._space + text
        shown = text.rstrip()
        self._space = text[len(shown) :]
        if shown:
            self._wrote = True
            yield self._chunk({"content": shown})

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> Chunk:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        chunk = {**self._head, "object": "chat.completion.chunk", "choices": [choice]}
        return chunk | ({"usage": None} if self._with_usage else {})

    def _usage(self, result: DecodeResult) -> dict[str, Any]:
        prompt, completion = len(self._prepared.prompt_ids), len(result.token_ids)
        thoughts = self._decoder.tokenizer.encode(result.thinking or "", add_special_tokens=False)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": result.counters.reused_positions},
            "completion_tokens_details": {"reasoning_tokens": len(thoughts)},
        }

    def _details(self, result: DecodeResult) -> dict[str, Any]:
        """Return the field ``tooldecoding``: votes, confidence, orders and cost, and the tokens if they are wanted."""
        whole = result.to_json("")
        row: dict[str, Any] = {name: whole[name] for name in _DETAILS}
        for call in row["calls"]:
            del call["arguments"]
        if self._prepared.warnings:
            row["warnings"] = list(self._prepared.warnings)
        if self._tokens:
            table = self._decoder.table
            orders = [candidate for call in result.calls for candidate in call.candidates]
            for shown, candidate in zip(row["candidates"], orders, strict=True):
                shown["tokens"] = _labelled(candidate.token_ids, candidate.labels, table)
            row["tokens"] = [] if result.calls else _labelled(result.token_ids, ["free"] * len(result.token_ids), table)
        return row


def _labelled(ids: Sequence[int], labels: Sequence[str], table: TokenTable) -> list[dict[str, str]]:
    """Return the texts of tokens; one that ends inside a character is joined with the next ones."""
    rows: list[dict[str, str]] = []
    waiting = b""
    for number, (token, label) in enumerate(zip(ids, labels, strict=True), 1):
        waiting += table.text(token)
        try:
            text = waiting.decode()
        except UnicodeDecodeError:
            if number < len(ids):
                continue
            text = waiting.decode(errors="replace")
        rows.append({"text": table.special.shown(text), "label": label})
        waiting = b""
    return rows
