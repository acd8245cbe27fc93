"""Which template makes a prompt, and whether it asks for calls as they will be written.

``auto`` lets the model see the documentation. A dialogue takes ``api-bank``. A prompt with documentation beside it
takes ``chat`` where the tokenizer's chat template prints tools; else the shape of the call format, ``bfcl`` for
``pythonic`` and ``api-bank`` for ``api-bank``. A prompt without takes ``raw``: its documentation stands in it.
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
"""Template -> the call format that its instruction asks for. The others ask for none of ours."""


def template_of(
    content: str | Sequence[Turn],
    documentation: Documentation | None,
    options: DecodeCommand,
    tokenizer: "PreTrainedTokenizerBase",
) -> Template:
    """The template of one prompt or dialogue; never ``auto``.

    Parameters
    ----------
    documentation : Documentation or None
        What stands beside the prompt: ``--tools``, or a row's own.
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
    """For each template of some prompts, what a user should know if it does not fit the call format or the model."""
    for template in sorted(set(templates)):
        asked = FORMATS.get(template)
        if asked not in (None, options.format):
            other = [name for name, form in FORMATS.items() if form == options.format]
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
