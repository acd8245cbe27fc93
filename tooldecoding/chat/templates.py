"""Which template makes a prompt, and whether it fits the call format and the model.

``auto`` shows the documentation to the model. Messages take ``chat``, a dialogue takes ``api-bank``. A prompt with
documentation beside it takes ``chat`` if the tokenizer has a chat template that takes it; otherwise ``bfcl`` for the
call format ``pythonic`` and ``api-bank`` for others. A prompt without documentation beside it takes ``raw``: it holds
its documentation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tooldecoding.chat.choose_format import chat_misfits
from tooldecoding.chat.dialogue import TOOL_SEARCH, Turn, documented_tools
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import Conversation
from tooldecoding.chat.prompts import takes_messages
from tooldecoding.options.decode_command import DecodeCommand, Template
from tooldecoding.options.decode_options import AUTO, DecodeOptions

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

FORMATS: Final[Mapping[Template, str]] = {"api-bank": "api-bank", "bfcl": "pythonic"}
"""Template -> the call format that its instruction asks for; the other templates ask for none."""


Content = str | Sequence[Turn] | Conversation
"""The text of a prompt, a dialogue, or messages."""


def template_of(
    content: Content,
    documentation: Documentation | None,
    options: DecodeCommand,
    tokenizer: "PreTrainedTokenizerBase",
) -> Template:
    """Return the template of one prompt or dialogue; never ``auto``.

    Parameters
    ----------
    documentation : Documentation or None
        Documentation beside the prompt: of ``--tools``, or of the row.
    """
    if isinstance(content, Conversation):
        return "chat"
    if options.template != "auto":
        return options.template
    if not isinstance(content, str):
        return "api-bank"
    if documentation is None:
        return "raw"
    if takes_messages(tokenizer):
        return "chat"
    return "bfcl" if options.format == FORMATS["bfcl"] else "api-bank"


def misfits(
    templates: Iterable[Template], options: DecodeCommand, tokenizer: "PreTrainedTokenizerBase"
) -> Iterator[str]:
    """Yield a warning for each template that does not fit the call format or the model."""
    for template in sorted(set(templates)):
        asked = FORMATS.get(template)
        if asked not in (None, options.format) and options.format != AUTO:
            other = [name for name, call_format in FORMATS.items() if call_format == options.format]
            remedy = " or ".join([f"--format {asked}", *(f"--template {name}" for name in other)])
            yield (
                f"the template {template} asks the model for calls in the format {asked}, but they are written in "
                f"{options.format}; {remedy} fits"
            )
        if template == "chat":
            yield from chat_misfits(options.format, tokenizer)


def unshortened(dialogues: Iterable[Sequence[Turn]], options: DecodeOptions) -> Iterator[str]:
    """Yield a warning if dialogues hold documentation, which ``documentation`` does not shorten."""
    if options.documentation != "full" and any(map(documented_tools, dialogues)):
        yield (
            f"results of {TOOL_SEARCH} stand in the dialogue as they are, with all documentation of the tools they "
            f"found; documentation {options.documentation} shortens only what the template prints"
        )
