"""A request of the API -> a request of the decoder, with its prompt; wrong input is told here, before it waits."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from secrets import randbits
from typing import Any, Final

from lookup.dictionary import LookupDictionary
from lookup.errors import ToolDecodingError
from tooldecoding.chat.chat import chat_request
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import Conversation, read_messages
from tooldecoding.chat.templates import chat_misfits
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.engine import Need
from tooldecoding.errors import PromptError
from tooldecoding.files.kept import Kept
from tooldecoding.options import DecodeOptions, changed
from tooldecoding.request import Request
from tooldecoding.server.api_error import wrong_input
from tooldecoding.server.asked_tools import noted, read_choice, read_documentation, unenforced
from tooldecoding.server.chat_body import ChatBody
from tooldecoding.server.json_answer import answer_lookup, answer_options, answer_schema

_KEPT: Final = 64
_SEED_BITS: Final = 31


@dataclass(frozen=True)
class Prepared:
    """What is decoded for a request.

    Attributes
    ----------
    conversation : Conversation
    request : Request
    prompt_ids : list of int
    need : Need
        What it takes in the KV cache.
    warnings : tuple of str
        What the model does not see as the client may expect.
    as_content : bool
        Whether the call is an answer in JSON (``response_format``).
    """

    conversation: Conversation
    request: Request
    prompt_ids: list[int]
    need: Need
    warnings: tuple[str, ...]
    as_content: bool


class Preparation:
    """Prepares requests for one decoder. Threads may share it; they take turns."""

    def __init__(self, decoder: ToolDecoder) -> None:
        self._decoder = decoder
        self._lock = threading.Lock()
        self._most_characters = (decoder.context or 0) * max(map(len, decoder.tokenizer.get_vocab()))
        self._tools: Kept[tuple[Documentation, list[str]]] = Kept(_KEPT)
        self._answers: Kept[LookupDictionary] = Kept(_KEPT)

    def prepare(self, body: ChatBody) -> Prepared:
        """Return what is to be decoded; ApiError 400 if something is wrong with the request."""
        with self._lock, noted() as notes:
            with _told("messages"):
                conversation = read_messages(body.messages)
            with _told("response_format"):
                schema, strict = answer_schema(body.response_format)
            with _told("tools"):
                documentation, unread = self._tools.of(json.dumps(body.tools), lambda: read_documentation(body.tools))
                notes += unread
            with _told("tool_choice"):
                choice, tools = read_choice(body.tool_choice, documentation.lookup)
            with _told():
                options = self._options(body, choice)
                request = chat_request(conversation, documentation, options, self._decoder.tokenizer)
                request = replace(request, tools=tools)
                notes += chat_misfits(options.format, self._decoder.tokenizer) if len(tools) else ()
            if schema is not None:
                with _told("response_format"):
                    request = self._answering(request, schema)
                    notes += unenforced(request.tools.tools[0], strict)
            with _told("messages"):
                self._demand_short(str(request.prompt))
                prompt_ids = self._decoder.prompt_ids(request)
            need = self._decoder.need(request, prompt_ids)
        return Prepared(conversation, request, prompt_ids, need, tuple(notes), schema is not None)

    def _demand_short(self, prompt: str) -> None:
        """Refuse at once what takes seconds to turn into tokens, and never fits."""
        if self._decoder.context is not None and len(prompt) > self._most_characters:
            raise PromptError(
                f"the prompt has {len(prompt)} characters, too many for the model's context of {self._decoder.context} "
                "tokens; give fewer tools or a shorter dialogue"
            )

    def _options(self, body: ChatBody, choice: str) -> DecodeOptions:
        given: dict[str, Any] = {"tool_choice": choice}
        given |= body.tooldecoding.model_dump(exclude_none=True, exclude={"tokens"})
        given |= body.model_dump(exclude_none=True, include={"temperature", "top_p", "seed"})
        if body.top_p is not None and body.temperature is None and not self._decoder.options.temperature:
            given["temperature"] = 1.0  # OpenAI's default: who names top_p wants to sample
        if given.get("temperature") and body.seed is None:
            given["seed"] = randbits(_SEED_BITS)  # who samples without a seed wants another answer each time
        if body.stop is not None:
            given["stop"] = (body.stop,) if isinstance(body.stop, str) else tuple(body.stop)
        if body.parallel_tool_calls is False:
            given["max_calls"] = 1
        if body.most_tokens is not None:
            given |= {"max_tokens": body.most_tokens, "max_text_tokens": body.most_tokens}
        options = changed(self._decoder.options, given)
        if options.max_tokens is None:
            return options
        # a call with a longer value would be left out
        return replace(options, max_value_tokens=min(options.max_value_tokens, options.max_tokens))

    def _answering(self, request: Request, schema: Mapping[str, Any]) -> Request:
        """Return the request for an answer in JSON."""
        if len(request.tools) and request.options.tool_choice != "none":
            raise PromptError("response_format and tools together are not supported; leave tools out")
        tools = self._answers.of(json.dumps(schema), lambda: answer_lookup(schema))
        return replace(request, tools=tools, options=answer_options(request.options, schema))


@contextmanager
def _told(param: str | None = None) -> Iterator[None]:
    """Turn what is wrong with the input into an answer that names the field."""
    try:
        yield
    except ToolDecodingError as error:
        raise wrong_input(error, param) from None
