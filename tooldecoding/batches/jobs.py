"""One thing to decode, from the command line or from a row of a batch, and the request it becomes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from transformers import PreTrainedTokenizerBase

from lookup import LookupDictionary
from tooldecoding.cli.config import DecodeCommand
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.errors import ModelError, PromptError
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.prompts.dialogue import LineLabels, Turn, Utterance, chat_messages, dialogue_lines, documented_tools
from tooldecoding.prompts.documentation import Documentation
from tooldecoding.prompts.prompts import api_bank_prompt, bfcl_prompt, chat_prompt
from tooldecoding.prompts.templates import template_of
from tooldecoding.result import DecodeResult

BFCL_LABELS = LineLabels(request="Calls", response="Results")


@dataclass(frozen=True)
class Job:
    """A prompt or a dialogue, with its documentation if there is any outside of it.

    Attributes
    ----------
    id : str or int
    content : str or sequence of Turn
        The prompt's text, or the dialogue.
    documentation : Documentation or None
    line : int
        Of the batch, from 1; 0 for the command line's own prompt or dialogue.
    digest : str
        Of the batch's row, which tells a row that has changed; empty for the command line's own.
    """

    id: str | int
    content: str | Sequence[Turn]
    documentation: Documentation | None = None
    line: int = 0
    digest: str = ""


def make_request(job: Job, settings: DecodeCommand, tokenizer: PreTrainedTokenizerBase) -> Request:
    """What the decoder shall do for a job.

    Raises
    ------
    ToolDecodingError
        If there is no documentation, or the template does not fit.
    """
    if not job.content:
        raise PromptError("the prompt is empty")
    try:
        return _request(job, settings, tokenizer)
    except RecursionError:
        raise PromptError("an argument or result in the dialogue is nested too deeply") from None


def _request(job: Job, settings: DecodeCommand, tokenizer: PreTrainedTokenizerBase) -> Request:
    template = template_of(job.content, job.documentation, settings, tokenizer)
    if template == "raw":
        if not isinstance(job.content, str):
            raise PromptError("template raw takes a prompt as it stands; a dialogue needs api-bank, bfcl or chat")
        return Request(job.content, _raw_tools(job.content, job.documentation, settings), settings)
    turns = (Utterance("user", job.content),) if isinstance(job.content, str) else job.content
    documentation = job.documentation or _documentation_in(turns, settings)
    if template == "chat":
        text = chat_prompt(tokenizer, chat_messages(turns), documentation.as_chat_tools())
        return Request(text, documentation.lookup, settings, special_tokens=False)
    if template == "bfcl":
        lines = dialogue_lines(turns, CALL_FORMATS["pythonic"], BFCL_LABELS)
        text = bfcl_prompt(documentation.as_bfcl(), lines)
    else:
        text = api_bank_prompt(documentation.as_api_bank(), dialogue_lines(turns, CALL_FORMATS["api-bank"]))
    return Request(text, documentation.lookup, settings, stop="\n")


def decode_requests(requests: Sequence[Request], decoder: ToolDecoder) -> list[DecodeResult]:
    """Decode requests together.

    Raises
    ------
    ToolDecodingError
        As ``ToolDecoder.run``; a ModelError where the memory of the device does not suffice.
    """
    with out_of_memory_named(len(requests)):
        return decoder.run(requests)


@contextmanager
def out_of_memory_named(prompts: int) -> Iterator[None]:
    """Inside the block, too little memory of the device becomes a ModelError that says what to do."""
    try:
        yield
    except torch.cuda.OutOfMemoryError as error:
        raise ModelError(
            f"out of memory on the device with {prompts} prompts at once; "
            "use a smaller --batch-size or --order-limit, or another --dtype or --device"
        ) from error


def _raw_tools(prompt: str, documentation: Documentation | None, settings: DecodeCommand) -> LookupDictionary:
    if documentation:
        return documentation.lookup
    if settings.tool_choice == "none":
        return LookupDictionary(())
    return Documentation.read(prompt, "<prompt>", settings.on_duplicate).lookup


def _documentation_in(turns: Sequence[Turn], settings: DecodeCommand) -> Documentation:
    tools = documented_tools(turns)
    if not tools:
        raise PromptError("no tools are given (--tools DOCS), and no ToolSearcher result in the dialogue documents one")
    return Documentation.read(tools, "<dialogue>", settings.on_duplicate)
