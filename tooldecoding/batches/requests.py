"""From a prompt or a dialogue to the request that the decoder takes, and from requests to results."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import torch
from transformers import PreTrainedTokenizerBase

from lookup import LookupDictionary
from lookup.errors import ToolDecodingError
from tooldecoding.chat.chat import ReplyPieces, chat_request, dialogue_request
from tooldecoding.chat.dialogue import BFCL_LABELS, dialogue_lines, documented_tools
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import Conversation, Message
from tooldecoding.chat.templates import Content, api_bank_prompt, bfcl_prompt, chosen_format, template_of
from tooldecoding.chat.tools import NO_TOOLS
from tooldecoding.errors import ModelError, PromptError
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options import demand_full
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.options.decode_options import Detail
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tooldecoding.tokens.guarded_text import PromptText, control_texts

T = TypeVar("T")


def make_request(
    content: Content, documentation: Documentation | None, options: DecodeCommand, tokenizer: PreTrainedTokenizerBase
) -> Request:
    """Make the request for a prompt, messages or a dialogue.

    ToolDecodingError if there is no documentation, or the template does not fit.

    ``documentation``: what stands beside it; without it, what stands in a prompt or dialogue. Messages need none.
    """
    if not content:
        raise PromptError("the prompt is empty")
    try:
        template = template_of(content, documentation, options, tokenizer)
        if isinstance(content, Conversation):
            if options.template not in ("auto", template):
                raise PromptError(f"messages go through the chat template; for {options.template} give a --dialogue")
            return chat_request(content, documentation or NO_TOOLS, options, tokenizer)
        options = replace(options, tool_choice=options.choice)
        if template != "chat":  # which finds its own
            options = replace(options, format=chosen_format(options, template, tokenizer))
        if template == "raw":
            if not isinstance(content, str):
                raise PromptError("template raw takes a prompt as it stands; a dialogue needs api-bank, bfcl or chat")
            demand_full(options, "the template raw")
            return Request(content, _raw_tools(content, documentation, options), options)
        turns = (Message("user", content),) if isinstance(content, str) else content
        documentation = documentation or _documentation_in(turns, options)
        if template == "chat":
            return dialogue_request(turns, documentation, options, tokenizer)

        def prompt(documentation: Documentation, detail: Detail) -> PromptText:
            if template == "bfcl":
                lines = dialogue_lines(turns, CALL_FORMATS["pythonic"], BFCL_LABELS)
                text = bfcl_prompt(documentation.as_bfcl(detail), lines)
            else:
                lines = dialogue_lines(turns, CALL_FORMATS["api-bank"])
                text = api_bank_prompt(documentation.as_api_bank(detail), lines)
            return control_texts(tokenizer).as_plain(text)

        return Request(
            prompt(documentation, options.documentation),
            documentation.lookup,
            options,
            stop="\n",
            conversation=tuple(turns),
            prompt_for=documentation.prompts_of_one(options.documentation, prompt),
        )
    except RecursionError:
        raise PromptError("an argument or result in the dialogue is nested too deeply") from None


def _raw_tools(prompt: str, documentation: Documentation | None, options: DecodeCommand) -> LookupDictionary:
    if documentation:
        return documentation.lookup
    if options.choice == "none":
        return LookupDictionary(())
    return Documentation.read(prompt, "<prompt>", options.on_duplicate).lookup


def _documentation_in(turns: Sequence[Message], options: DecodeCommand) -> Documentation:
    tools = documented_tools(turns)
    if not tools:
        raise PromptError("no tools are given (--tools DOCS), and no ToolSearcher result in the dialogue documents one")
    return Documentation.read(tools, "<dialogue>", options.on_duplicate)


def result_json(
    content: Content, result: DecodeResult, tokenizer: PreTrainedTokenizerBase, identifier: str
) -> dict[str, Any]:
    """Return the JSON object for the result of a prompt, messages or a dialogue."""
    if isinstance(content, Conversation):
        return ReplyPieces(content, tokenizer).whole(result).to_json(identifier)
    return result.to_json(identifier)


def each_decoded(
    decode: Callable[[Sequence[Request]], Iterable[tuple[int, T]]], requests: Sequence[Request]
) -> Iterator[tuple[int, T | ToolDecodingError]]:
    """Decode together; if that fails, the rest one by one, so that only the request at fault gets the error.

    ``decode``: ``ToolDecoder.run_each``, say: returns the number and the result of each request.
    """
    left = dict(enumerate(requests))
    try:
        with memory_errors():
            for number, result in decode(requests):
                del left[number]
                yield number, result
    except ToolDecodingError as error:
        if len(requests) == 1:
            yield 0, error
            return
        for number, request in left.items():
            for _, found in each_decoded(decode, [request]):
                yield number, found


@contextmanager
def memory_errors() -> Iterator[None]:
    """Raise a ModelError if the device runs out of memory in this block."""
    try:
        yield
    except torch.cuda.OutOfMemoryError as error:
        raise ModelError(
            "out of memory on the device; use a smaller --batch-size or --order-limit, or another --dtype or --device"
        ) from error
