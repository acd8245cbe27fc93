"""``POST /v1/responses``: chat completions in the shape of Open Responses (specification of 2026-04-24)."""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final

from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.exchange import ResponseStart, ResponseStream, Row
from tooldecoding.server.responses_body import ResponsesBody, read_responses_body, renamed


async def responses(
    chat: Callable[[Row, str], ResponseStream], options: ServeCommand, given: Row, request_id: str
) -> ResponseStream:
    """Yield the answer to a request, from the chat completion that ``chat`` gives for its translation.

    Raises
    ------
    ApiError
        As ``read_responses_body``.
    """
    asked = read_responses_body(given)
    answer = _Answer(asked, options)
    async with aclosing(chat(asked.chat, request_id)) as stream:
        start = await anext(stream)
        assert isinstance(start, ResponseStart)
        if not start.streamed:
            yield replace(start, row=answer.whole(start.row) if start.status == 200 else renamed(start.row, asked))
            return
        created, in_progress = answer.begin()
        yield replace(start, row=created)
        yield in_progress
        async for chunk in stream:
            assert isinstance(chunk, dict)
            for row in answer.events(chunk):
                yield row
        for row in answer.end():
            yield row


class _Answer:
    """Builds a response out of a chat completion, whole or from its chunks."""

    def __init__(self, asked: ResponsesBody, options: ServeCommand) -> None:
        self._asked = asked
        self._options = options
        self._id = _new_id("resp")
        self._created = int(time.time())
        self._number = -1
        self._output: list[Row] = []
        self._open: Row | None = None
        self._last: Row = {}
        self._finish = ""

    def whole(self, completion: Row) -> Row:
        """Return the response for a completion: what a stream of it would end with."""
        *_, last = (*self.events(completion), *self.end())
        response: Row = last["response"]
        return response

    def begin(self) -> Iterator[Row]:
        """Yield the first two events of a stream."""
        for kind in ("created", "in_progress"):
            yield self._row(f"response.{kind}", response=self._resource("in_progress"))

    def events(self, chunk: Row) -> Iterator[Row]:
        """Yield the events for a chunk, or for a whole completion."""
        self._last = chunk
        for choice in chunk.get("choices", []):
            delta = choice["delta"] if "delta" in choice else choice["message"]
            if (thoughts := delta.get("reasoning_content")) is not None:
                yield from self._written("reasoning", thoughts)
            if (content := delta.get("content")) is not None:
                yield from self._written("message", content)
            for call in delta.get("tool_calls", []):
                if "id" in call:
                    yield from self._begun(_call(call["id"], call["function"]["name"]))
                yield from self._written("function_call", call["function"]["arguments"])
            self._finish = choice["finish_reason"] or self._finish

    def end(self) -> Iterator[Row]:
        """Yield the last events; of an answer that is cut, the last item is."""
        if self._open is not None and "status" in self._open and self._is_cut and self._ends_cut:
            self._open["status"] = "incomplete"
        yield from self._closed()
        status = "completed"
        if "error" in self._last:
            status = "failed"
        elif self._is_cut:
            status = "incomplete"
        yield self._row(f"response.{status}", response=self._resource(status))

    @property
    def _is_cut(self) -> bool:
        """Whether the client's own limit has cut the answer, or any limit calls; ``tooldecoding.cut`` has every cut."""
        told = self._last.get("tooldecoding", {})
        calls = not told.get("valid", True) or told.get("too_many", False)
        return self._finish == "length" and bool(self._asked.max_output_tokens or calls)

    @property
    def _ends_cut(self) -> bool:
        """Whether the last item itself is cut: text is, of an answer that is cut, and a call that lacks something."""
        assert self._open is not None
        calls = self._last.get("tooldecoding", {}).get("calls", [])
        return self._open["type"] != "function_call" or not calls or bool(calls[-1]["cut"])

    def _row(self, kind: str, **fields: Any) -> Row:
        self._number += 1
        return {"type": kind, "sequence_number": self._number, **fields}

    def _begun(self, item: Row) -> Iterator[Row]:
        """Close the item that is open, and open another, which is empty."""
        yield from self._closed()
        self._open = item
        shown = {**item, "status": "in_progress"} | ({"content": []} if "content" in item else {})
        yield self._row("response.output_item.added", output_index=len(self._output), item=shown)
        if item["type"] != "function_call":
            yield self._of_item("response.content_part.added", content_index=0, part=item["content"][0])

    def _written(self, kind: str, text: str) -> Iterator[Row]:
        if self._open is None or self._open["type"] != kind:
            yield from self._begun(_reasoning() if kind == "reasoning" else _message())
        assert self._open is not None
        if not text:
            return
        if kind == "function_call":
            self._open["arguments"] += text
            yield self._of_item("response.function_call_arguments.delta", delta=text)
        else:
            self._open["content"][0] = {**self._open["content"][0], "text": self._open["content"][0]["text"] + text}
            name, more = _DELTAS[kind]
            yield self._of_item(f"response.{name}.delta", content_index=0, delta=text, **more)

    def _closed(self) -> Iterator[Row]:
        """End the item that is open, if there is one."""
        item = self._open
        if item is None:
            return
        if item["type"] == "function_call":
            about = {"arguments": item["arguments"], "name": item["name"]}
            yield self._of_item("response.function_call_arguments.done", **about)
        else:
            [part] = item["content"]
            name, more = _DELTAS[item["type"]]
            yield self._of_item(f"response.{name}.done", content_index=0, text=part["text"], **more)
            yield self._of_item("response.content_part.done", content_index=0, part=part)
        yield self._row("response.output_item.done", output_index=len(self._output), item=item)
        self._output.append(item)
        self._open = None

    def _of_item(self, kind: str, **fields: Any) -> Row:
        assert self._open is not None
        return self._row(kind, item_id=self._open["id"], output_index=len(self._output), **fields)

    def _resource(self, status: str) -> Row:
        """The response as it stands; the specification wants every field, null where there is nothing."""
        asked, error, over = self._asked, self._last.get("error"), status != "in_progress"
        choice = asked.tool_choice or "auto"
        row = {
            "id": self._id,
            "object": "response",
            "created_at": self._created,
            "completed_at": int(time.time()) if status == "completed" else None,
            "status": status,
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "model": self._options.model_names[0],
            "previous_response_id": None,
            "instructions": asked.instructions,
            "output": [*self._output],
            "error": {"code": error["code"] or error["type"], "message": error["message"]} if error else None,
            "tools": [tool.model_dump() for tool in asked.tools or []],
            "tool_choice": choice if isinstance(choice, str) else choice.model_dump(),
            "truncation": "disabled",
            "parallel_tool_calls": asked.parallel_tool_calls is not False,
            "text": {"format": _format(asked)},
            "temperature": self._options.temperature if asked.temperature is None else asked.temperature,
            "top_p": self._options.top_p if asked.top_p is None else asked.top_p,
            "presence_penalty": 0,
            "frequency_penalty": 0,
            "top_logprobs": 0,
            "reasoning": {"effort": asked.reasoning.effort, "summary": None} if asked.reasoning else None,
            "usage": _usage(self._last["usage"]) if over and self._last.get("usage") else None,
            "max_output_tokens": asked.max_output_tokens,
            "max_tool_calls": None,
            "store": False,
            "background": False,
            "service_tier": "default",
            "metadata": asked.metadata or {},
            "safety_identifier": asked.safety_identifier,
            "prompt_cache_key": asked.prompt_cache_key,
        }
        if "tooldecoding" in self._last:
            row["tooldecoding"] = {**self._last["tooldecoding"], "cut": self._finish == "length"}
        return row


_DELTAS: Final[Row] = {"message": ("output_text", {"logprobs": []}), "reasoning": ("reasoning", {})}
"""Kinds of items -> what the events of their texts are called, and the fields that these have beside the text."""


def _new_id(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex}"


def _message() -> Row:
    part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    return {"type": "message", "id": _new_id("msg"), "status": "completed", "role": "assistant", "content": [part]}


def _reasoning() -> Row:
    part = {"type": "reasoning_text", "text": ""}
    return {"type": "reasoning", "id": _new_id("rs"), "summary": [], "content": [part]}


def _call(call_id: str, name: str) -> Row:
    about = {"call_id": call_id, "name": name, "arguments": "", "status": "completed"}
    return {"type": "function_call", "id": _new_id("fc"), **about}


def _format(asked: ResponsesBody) -> Row:
    """The format of the text; the specification has null for the schema of ``json_schema``."""
    given = asked.text.format if asked.text else None
    if given is None or given.type != "json_schema":
        return {"type": "text" if given is None else given.type}
    about = {"name": given.name, "description": given.description, "strict": bool(given.strict)}
    return {"type": "json_schema", **about, "schema": None}


def _usage(usage: Mapping[str, Any]) -> Row:
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    thoughts = usage.get("completion_tokens_details", {}).get("reasoning_tokens", 0)
    return {
        "input_tokens": usage["prompt_tokens"],
        "output_tokens": usage["completion_tokens"],
        "total_tokens": usage["total_tokens"],
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens_details": {"reasoning_tokens": thoughts},
    }
