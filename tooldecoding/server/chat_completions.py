"""Chat completions of one model: from the row of a request to its answer in OpenAI's shape, whole or as chunks."""

import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from starlette.concurrency import run_in_threadpool

from tooldecoding.chat.chat import ReplyPieces
from tooldecoding.chat.reply import CallPiece, ChatMessage
from tooldecoding.decoder import ToolDecoder
from tooldecoding.decoding.decoded_call import DecodedCall, TextPiece
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.result import DecodeResult
from tooldecoding.server.chat_body import ChatBody, demand_model, read_chat_body
from tooldecoding.server.exchange import Answerer, ResponseStart, ResponseStream, Row, to_api_error
from tooldecoding.server.json_answer import NAME, answer_text, is_json_answer
from tooldecoding.server.monitoring import log
from tooldecoding.server.request_parser import ParsedRequest, RequestParser
from tooldecoding.server.scheduler import Job, Scheduler
from tooldecoding.tokens.token_table import TokenTable

_DETAILS: Final = (
    "valid", "errors", "too_many", "repeated", "left_out", "asked", "next_call_log_odds", "format", "calls",
    "candidates", "counters",
)  # fmt: skip
"""What ``tooldecoding`` has of a result as the command line prints it."""


class ChatAnswer:
    """The answer to one request.

    Parameters
    ----------
    body : ChatBody
    parsed : ParsedRequest
    decoder : ToolDecoder
    model : str
        The name of the model.
    """

    def __init__(self, body: ChatBody, parsed: ParsedRequest, decoder: ToolDecoder, model: str) -> None:
        self._parsed = parsed
        self._decoder = decoder
        self._tokens = body.tooldecoding.tokens
        self._with_usage = body.stream_options is not None and body.stream_options.include_usage
        self._pieces = ReplyPieces(parsed.conversation, decoder.tokenizer)
        self._head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}
        self._calls = 0
        self._wrote = False
        self._held = ""  # text that an answer in JSON would take the place of
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

    def begin(self) -> Row:
        """Return the first chunk of a stream."""
        return self._chunk({"role": "assistant"})

    def chunks(self, event: TextPiece | DecodedCall) -> Iterator[Row]:
        """Yield the chunks for a piece: text as it is; of a call its id and name, then its arguments."""
        match self._pieces.of(event):
            case TextPiece("thinking", text):
                yield self._chunk({"reasoning_content": text})
            case TextPiece(_, text) if self._parsed.as_content:
                self._held += text
            case TextPiece(_, text):
                yield from self._text(text)
            case CallPiece() as piece if piece.call.name != NAME:
                yield from self._text(self._held)
                self._held = ""
                message, self._space = piece.message, ""
                function, index = message["function"], self._calls
                self._calls += 1
                begun = {**message, "index": index, "function": {"name": function["name"], "arguments": ""}}
                yield self._chunk({"tool_calls": [begun]})
                yield self._chunk({"tool_calls": [{"index": index, "function": {"arguments": function["arguments"]}}]})

    def end(self, result: DecodeResult) -> Iterator[Row]:
        """Yield the last chunks."""
        reply = self._reply(result)
        if self._parsed.as_content and not self._calls:
            yield self._chunk({"content": reply.content})
        elif not self._calls and (self._space or not self._wrote):
            yield self._chunk({"content": self._space})
        last = self._chunk({}, reply.finish_reason)
        if self._with_usage:
            yield last
            last = {**self._chunk({}), "choices": [], "usage": self._usage(result)}
        yield {**last, "tooldecoding": self._details(result)}

    def _reply(self, result: DecodeResult) -> ChatMessage:
        """Return the message; an answer in JSON is its text."""
        if is_json_answer(result.call_format):
            result = replace(result, calls=(), answer=result.answer._replace(content=answer_text(result)))
        return self._pieces.whole(result)

    def _text(self, text: str) -> Iterator[Row]:
        text = self._space + text
        shown = text.rstrip()
        self._space = text[len(shown) :]
        if shown:
            self._wrote = True
            yield self._chunk({"content": shown})

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> Row:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        chunk = {**self._head, "object": "chat.completion.chunk", "choices": [choice]}
        return chunk | ({"usage": None} if self._with_usage else {})

    def _usage(self, result: DecodeResult) -> dict[str, Any]:
        prompt, completion = len(self._parsed.prompt_ids), len(result.token_ids)
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
        if self._parsed.warnings:
            row["warnings"] = list(self._parsed.warnings)
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


class ChatCompletions(Answerer):
    """Answers requests for one model, many at once."""

    def __init__(self, decoder: ToolDecoder, options: ServeCommand) -> None:
        super().__init__()
        self.scheduler = Scheduler(
            decoder, options.most_at_once, options.queue, options.kv_cache_mb << 20, self.metrics
        )
        self._decoder = decoder
        self._options = options
        self._parser = RequestParser(decoder)
        self.scheduler.start()

    async def ready(self) -> ResponseStart:
        """Tell whether requests are taken."""
        return await super().ready() if self.scheduler.is_ready else ResponseStart(503, {"status": "not ready"})

    async def stop(self) -> None:
        """Take no more requests, and finish those that there are."""
        await run_in_threadpool(self.scheduler.stop)

    async def answer(self, given: Row, request_id: str) -> ResponseStream:
        """Yield the answer to a request; an error behind the first piece of a stream is an event, too."""
        began, job, begun = time.monotonic(), None, False
        try:
            self.scheduler.demand_place()  # before the work of reading the request
            asked = read_chat_body(given)
            demand_model(asked.model, self._options)
            parsed = await run_in_threadpool(self._parser.parse, asked)
            if self._options.log_prompts:
                log("prompt", request_id=request_id, prompt=str(parsed.request.prompt))
            answer = ChatAnswer(asked, parsed, self._decoder, self._options.model_names[0])
            job = Job(parsed, bool(asked.stream), self._options.timeout)
            self.scheduler.submit(job)
            news = await job.next()
            if asked.stream:
                self.metrics.first.observe(time.monotonic() - began)
                begun = True
                yield ResponseStart(200, answer.begin(), streamed=True)
            while not isinstance(news, DecodeResult):
                for chunk in answer.chunks(news):
                    yield chunk
                news = await job.next()
            self._count(news, job, began)
            if not asked.stream:
                yield ResponseStart(200, answer.whole(news))
                return
            for chunk in answer.end(news):
                yield chunk
        except Exception as error:  # noqa: BLE001 - no traceback in an answer
            failure = to_api_error(error, request_id)
            yield failure.to_json() if begun else failure.as_start()
        finally:
            if job is not None:
                self.scheduler.cancel(job)

    def _count(self, result: DecodeResult, job: Job, began: float) -> None:
        metrics = self.metrics
        metrics.whole.observe(time.monotonic() - began)
        metrics.prompt_tokens.inc(len(job.parsed.prompt_ids))
        metrics.reused_tokens.inc(result.counters.reused_positions)
        metrics.completion_tokens.inc(len(result.token_ids))
        for call in result.calls:
            metrics.calls.labels(valid=str(call.voted.valid).lower()).inc()
