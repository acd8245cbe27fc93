"""Which call format a prompt is decoded in.

``auto`` is the format that the chat template writes, for prompts of the template ``chat``, and ``PRINTED`` if it prints
no tools; ``pythonic`` for ``bfcl``; ``api-bank`` for other prompts.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tooldecoding.chat.detect_format import detect_format
from tooldecoding.chat.prompts import leaves_out_tools
from tooldecoding.errors import ModelError
from tooldecoding.options.decode_command import Template
from tooldecoding.options.decode_options import AUTO, DecodeOptions

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

PRINTED: Final = "pythonic"
"""The format of chat templates that print no tools and write no calls; docs/models.md says why."""


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
        If it is ``auto``, tools may be called, and the chat template prints them but writes calls in no known format.
    """
    if options.format != AUTO:
        return options.format
    try:
        return detect_format(tokenizer).name
    except ModelError:
        if leaves_out_tools(tokenizer) or (options.tool_choice == "none" and tokenizer.chat_template):
            return PRINTED  # a text without calls has no format
        raise


def chat_misfits(name: str, tokenizer: "PreTrainedTokenizerBase") -> Iterator[str]:
    """Yield a warning if a chat template writes calls in another format."""
    try:
        written = name if name == AUTO else detect_format(tokenizer).name
    except ModelError:
        written = name
    if written != name:
        yield (
            f"the model's chat template writes calls in the format {written}, but they are decoded in {name}; "
            "--format auto takes the template's"
        )
