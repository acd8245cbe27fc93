"""Which call format a prompt is decoded in.

``auto`` is the format that the chat template writes, for prompts of the template ``chat``; ``pythonic`` for ``bfcl``;
``api-bank`` for other prompts.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tooldecoding.errors import ModelError
from tooldecoding.options.decode_command import Template
from tooldecoding.options.decode_options import AUTO, DecodeOptions
from tooldecoding.prompts.detect_format import detect_format
from tooldecoding.prompts.prompts import shows_tools

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def chosen_format(options: DecodeOptions, template: Template, tokenizer: "PreTrainedTokenizerBase") -> str:
    """Return the name of the format for a prompt of a template but ``auto``; ModelError as ``chat_format``."""
    if template == "chat":
        return chat_format(options, tokenizer)
    return options.format if options.format != AUTO else "pythonic" if template == "bfcl" else "api-bank"


def chat_format(options: DecodeOptions, tokenizer: "PreTrainedTokenizerBase") -> str:
    """Return the name of the format for a prompt of the chat template.

    Raises
    ------
    ModelError
        If it is ``auto``, tools may be called, and the chat template writes calls in no known format.
    """
    if options.format != AUTO:
        return options.format
    try:
        return detect_format(tokenizer).name
    except ModelError:
        if options.tool_choice == "none" and tokenizer.chat_template:
            return "api-bank"  # a text without calls has no format
        raise


def chat_misfits(name: str, tokenizer: "PreTrainedTokenizerBase") -> Iterator[str]:
    """Yield a warning if a chat template does not write calls in the format, or prints no tools."""
    try:
        written = name if name == AUTO else detect_format(tokenizer).name
    except ModelError:
        written = name
    if written != name:
        yield (
            f"the model's chat template writes calls in the format {written}, but they are decoded in {name}; "
            "--format auto takes the template's"
        )
    if not shows_tools(tokenizer):
        yield (
            "the model's chat template prints no tools, so that the model does not see the documentation; write it "
            "into a message, or show it with --template api-bank or bfcl"
        )
