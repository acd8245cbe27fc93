"""A request of the API -> a request of the decoder, with its prompt; wrong input is told here, before it waits.

So is which of its tools may be called, what of them is not read, and what of their schemas is not enforced.
"""

import json
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from secrets import randbits
from typing import Any, Final

from lookup.dictionary import LookupDictionary, ToolSpec
from lookup.errors import ToolDecodingError
from tooldecoding.chat.chat import chat_request
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import Conversation, read_messages
from tooldecoding.chat.templates import chat_misfits
from tooldecoding.chat.tools import read_tool_choice, read_tools
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.engine import Need
from tooldecoding.errors import ChatWarning, ContextLengthError, PromptError
from tooldecoding.files.json_lines import short_repr
from tooldecoding.files.lru_cache import LruCache
from tooldecoding.options import TOOL_CHOICES, DecodeOptions, changed
from tooldecoding.request import Request
from tooldecoding.server.chat_body import ChatBody
from tooldecoding.server.exchange import wrong_input
from tooldecoding.server.json_answer import answer_lookup, answer_options, answer_schema

MAX_TOOLS: Final = 2_000
_FUNCTION: Final = ("description", "parameters", "strict")
_MOST_NOTES: Final = 20


def read_documentation(tools: Sequence[Any] | None) -> tuple[Documentation, list[str]]:
    """Return the documentation of tools, what was not read, and what is not enforced.

    Only what OpenAI documents is taken: untrusted text is not searched for documentation of any kind.

    Raises
    ------
    ToolDecodingError
        For anything else, and where something strict cannot be enforced.
    """
    tools = tools or ()
    if len(tools) > MAX_TOOLS:
        raise PromptError(f"expected at most {MAX_TOOLS} tools, found {len(tools)}")
    strict: dict[str, bool] = {}
    for number, given in enumerate(tools):
        match given:
            case {"type": "function", "function": {"name": str(name), **function}, **beside}:
                unknown = [*beside, *(f"function.{key}" for key in function if key not in _FUNCTION)]
                if unknown:
                    raise PromptError(f"tools[{number}]: unknown field {unknown[0]!r:.60}")
                strict[name] = function.get("strict") is True
            case _:
                shape = '{"type": "function", "function": {"name": …, "parameters": …}}'
                raise PromptError(f"tools[{number}]: expected {shape}, found {short_repr(given)}")
    with noted() as notes:
        documentation = read_tools(tools)
    for tool in documentation.lookup.tools:
        found = unenforced(tool, strict.get(tool.documented_name or tool.name, False))
        notes += (f"tool {tool.name!r:.60}: {note}" for note in found)
    return documentation, notes[:_MOST_NOTES]


def read_choice(given: Any, lookup: LookupDictionary) -> tuple[str, LookupDictionary]:
    """Return the option ``tool_choice``, and the tools that may be called.

    ``{"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": […]}}`` keeps some of them.

    Raises
    ------
    PromptError
        For anything that OpenAI does not document, and an unknown tool.
    """
    if given is None:
        return "auto", lookup
    if not isinstance(given, Mapping) or given.get("type") != "allowed_tools":
        choice = read_tool_choice(given)
        if isinstance(given, str) and choice not in TOOL_CHOICES:
            known = ", ".join(TOOL_CHOICES)
            raise PromptError(f"expected {known} or an object that names a function, found {given!r:.60}")
        if choice == "required" and not len(lookup):
            raise PromptError("a call is required, but there are no tools")
        _demand_known({choice}.difference(TOOL_CHOICES), lookup)
        return choice, lookup
    inner = given.get("allowed_tools")
    mode, named = (inner.get("mode"), inner.get("tools")) if isinstance(inner, Mapping) else (None, None)
    if mode not in ("auto", "required") or not isinstance(named, list) or not named:
        raise PromptError('allowed_tools: expected {"mode": "auto" or "required", "tools": [one or more]}')
    names = [read_tool_choice(each) if isinstance(each, Mapping) else "" for each in named]
    _demand_known(names, lookup)
    return mode, LookupDictionary(tuple(tool for tool in lookup.tools if tool.name in names))


def _demand_known(names: Iterable[str], lookup: LookupDictionary) -> None:
    for name in names:
        if name not in lookup:
            raise PromptError(f"unknown tool {name!r:.60}; known: {', '.join(lookup) or 'none':.200}")


@contextmanager
def noted() -> Iterator[list[str]]:
    """Collect what the chat template leaves out, as texts."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ChatWarning)
        yield notes
    notes += [str(each.message) for each in caught if issubclass(each.category, ChatWarning)]


def unenforced(tool: ToolSpec, strict: bool) -> list[str]:
    """Return what of a tool's schema is not enforced while it is decoded.

    Raises
    ------
    PromptError
        If there is something, and the schema is strict.
    """
    # the tool's own notes say where references lead nowhere
    found = [*tool.notes, *(note for note in tool.unenforced if "leads nowhere" not in note)][:_MOST_NOTES]
    if strict and found:
        raise PromptError(f"strict is asked for, but not all of the schema can be enforced: {found[0]:.200}")
    return found


_KEPT: Final = 64
_SEED_BITS: Final = 31


@dataclass(frozen=True)
class ParsedRequest:
    """A request of the API, ready to be decoded.

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
        Whether the answer is one in JSON (``response_format``), unless it is a call of a tool.
    """

    conversation: Conversation
    request: Request
    prompt_ids: list[int]
    need: Need
    warnings: tuple[str, ...]
    as_content: bool


class RequestParser:
    """Reads requests for one decoder. Threads may share it; they take turns."""

    def __init__(self, decoder: ToolDecoder) -> None:
        self._decoder = decoder
        self._lock = threading.Lock()
        self._most_characters = (decoder.context or 0) * max(map(len, decoder.tokenizer.get_vocab()))
        self._tools = LruCache[str, tuple[Documentation, list[str]]](_KEPT)
        self._answers = LruCache[str, LookupDictionary](_KEPT)

    def parse(self, body: ChatBody) -> ParsedRequest:
        """Return what is to be decoded; ApiError 400 if something is wrong with the request."""
        with self._lock, noted() as notes:
            with _api_errors("messages"):
                conversation = read_messages(body.messages)
            with _api_errors("response_format"):
                schema, strict = answer_schema(body.response_format)
            with _api_errors("tools"):
                documentation, unread = self._tools.of(json.dumps(body.tools), lambda: read_documentation(body.tools))
                notes += unread
            with _api_errors("tool_choice"):
                choice, tools = read_choice(body.tool_choice, documentation.lookup)
            with _api_errors():
                options = self._options(body, choice)
                request = chat_request(conversation, documentation, options, self._decoder.tokenizer)
                request = replace(request, tools=tools)
                notes += chat_misfits(options.format, self._decoder.tokenizer) if len(tools) else ()
            as_content = schema is not None and request.options.tool_choice in ("auto", "none")
            if schema is not None and as_content:  # where a tool must be called, there is no answer
                with _api_errors("response_format"):
                    answering = self._answering(request, schema)
                    notes += unenforced(answering.tools.tools[0], strict)
                calls = request.options.tool_choice == "auto"
                request = replace(request, json_answer=answering) if calls else answering
            with _api_errors("messages"):
                context, characters = self._decoder.context, len(str(request.prompt))
                if context is not None and characters > self._most_characters:  # tokens of it would take seconds
                    raise ContextLengthError(
                        f"the prompt has {characters} characters, too many for the model's context of {context} "
                        "tokens; give fewer tools, print less of them (documentation: summaries or names), "
                        "or a shorter dialogue"
                    )
                prompt_ids = self._decoder.prompt_ids(request)
            need = self._decoder.compiled_tools(request).need(len(prompt_ids), request.options)
            if (answer := request.json_answer) is not None:
                other = self._decoder.compiled_tools(answer).need(len(prompt_ids), answer.options)
                need = Need(*map(max, need, other))
        return ParsedRequest(conversation, request, prompt_ids, need, tuple(notes), as_content)

    def _options(self, body: ChatBody, choice: str) -> DecodeOptions:
        given: dict[str, Any] = {"tool_choice": choice}
        given |= body.tooldecoding.options(changed(self._decoder.options, given))
        given |= body.model_dump(exclude_none=True, include={"temperature", "top_p", "seed"})
        if body.top_p is not None and body.temperature is None and not self._decoder.options.temperature:
            given["temperature"] = 1.0  # OpenAI's default: who names top_p wants to sample
        if given.get("temperature") and body.seed is None:
            given["seed"] = randbits(_SEED_BITS)  # who samples without a seed wants another answer each time
        if body.stop is not None:
            given["stop"] = (body.stop,) if isinstance(body.stop, str) else tuple(body.stop)
        if body.reasoning_effort == "none":
            given.setdefault("max_thinking_tokens", 0)
        if body.parallel_tool_calls is False:
            given["max_calls"] = 1
        if body.most_tokens is not None:
            given |= {"max_tokens": body.most_tokens, "max_text_tokens": body.most_tokens}
        return changed(self._decoder.options, given)

    def _answering(self, request: Request, schema: Mapping[str, Any]) -> Request:
        """Return the request for an answer in JSON."""
        tools = self._answers.of(json.dumps(schema), lambda: answer_lookup(schema))
        options = answer_options(request.options, schema)
        # an answer says what nobody has said
        return replace(request, tools=tools, options=options, conversation=(), prompt_for=None, answer_prompt=None)


@contextmanager
def _api_errors(param: str | None = None) -> Iterator[None]:
    """Turn what is wrong with the input into an ApiError that names the field."""
    try:
        yield
    except ToolDecodingError as error:
        raise wrong_input(error, param) from None
