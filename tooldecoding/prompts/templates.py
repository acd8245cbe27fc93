"""Which template makes a prompt, and whether it fits the call format and the model.

``auto`` shows the documentation to the model. A dialogue takes ``api-bank``. A prompt with documentation beside it
takes ``chat`` if the tokenizer's chat template prints tools; otherwise ``bfcl`` for the call format ``pythonic`` and
``api-bank`` for ``api-bank``. A prompt without documentation beside it takes ``raw``: it holds its documentation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tooldecoding.options.decode_command import DecodeCommand, Template
from tooldecoding.prompts.dialogue import Turn
from tooldecoding.prompts.documentation import Documentation
from tooldecoding.prompts.prompts import shows_tools

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

FORMATS: Final[Mapping[Template, str]] = {"api-bank": "api-bank", "bfcl": "pythonic"}
"""Template -> the call format that its instruction asks for; the other templates ask for none."""


def template_of(
    content: str | Sequence[Turn],
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
    if options.template != "auto":
        return options.template
    if not isinstance(content, str):
        return "api-bank"
    if documentation is None:
        return "raw"
    if shows_tools(tokenizer):
        return "chat"
    return "bfcl" if options.format == FORMATS["bfcl"] else "api-bank"


def misfits(
    templates: Iterable[Template], options: DecodeCommand, tokenizer: "PreTrainedTokenizerBase"
) -> Iterator[str]:
    """Yield a warning for each template that does not fit the call format or the model."""
    for template in sorted(set(templates)):
        asked = FORMATS.get(template)
        if asked not in (None, options.format):
            other = [name for name, call_format in FORMATS.items() if call_format == options.format]
            remedy = " or ".join([f"--format {asked}", *(f"--template {name}" for name in other)])
            yield (
                f"the template {template} asks the model for calls in the format {asked}, but they are written in "
                f"{options.format}; {remedy} fits"
            )
        if template == "chat" and not shows_tools(tokenizer):
            yield (
                "the model's chat template prints no tools, so that the model does not see the documentation; "
                "--template api-bank or bfcl shows it"
            )
