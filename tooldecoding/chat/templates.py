"""Which template makes a prompt, which call format it is decoded in, and whether the two fit the model.

The template ``auto`` shows the documentation to the model. Messages take ``chat``, a dialogue takes ``api-bank``. A
prompt with documentation beside it takes ``chat`` if the tokenizer has a chat template that takes it; otherwise
``bfcl`` for the call format ``pythonic`` and ``api-bank`` for others. A prompt without documentation beside it takes
``raw``: it holds its documentation.

The format ``auto`` is what the chat template writes, for prompts of the template ``chat``, and ``PRINTED`` if it prints
no tools; ``pythonic`` for ``bfcl``; ``api-bank`` for other prompts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import Conversation, Message
from tooldecoding.chat.template_profile import profile_of
from tooldecoding.errors import ModelError
from tooldecoding.options.decode_command import DecodeCommand, Template
from tooldecoding.options.decode_options import AUTO, DecodeOptions

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

FORMATS: Final[Mapping[Template, str]] = {"api-bank": "api-bank", "bfcl": "pythonic"}
"""Template -> the call format that its instruction asks for; the other templates ask for none."""

PRINTED: Final = "pythonic"
"""The format of chat templates that print no tools and write no calls; docs/models.md says why."""

Content = str | Sequence[Message] | Conversation
"""The text of a prompt, a dialogue, or messages."""


def template_of(
    content: Content, documentation: Documentation | None, options: DecodeCommand, tokenizer: "PreTrainedTokenizerBase"
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
    if profile_of(tokenizer).takes_messages:
        return "chat"
    return "bfcl" if options.format == FORMATS["bfcl"] else "api-bank"


def misfits(template: Template, options: DecodeCommand, tokenizer: "PreTrainedTokenizerBase") -> Iterator[str]:
    """Yield a warning if a template does not fit the call format or the model."""
    asked = FORMATS.get(template, options.format)
    if options.format not in (AUTO, asked):
        yield (
            f"the template {template} asks the model for calls in the format {asked}, but they are written in "
            f"{options.format}; --format {asked} fits"
        )
    if template == "chat":
        yield from chat_misfits(options.format, tokenizer)


def chosen_format(options: DecodeOptions, template: Template, tokenizer: "PreTrainedTokenizerBase") -> str:
    """Return the name of the format for a prompt of a template but ``auto``; ModelError as ``chat_format``."""
    if template == "chat":
        return chat_format(options, tokenizer)
    return options.format if options.format != AUTO else FORMATS.get(template, "api-bank")


def chat_format(options: DecodeOptions, tokenizer: "PreTrainedTokenizerBase") -> str:
    """Return the name of the format for a prompt of the chat template.

    ModelError if it is ``auto``, tools may be called, and the chat template prints them but writes calls in no known
    format.
    """
    if options.format != AUTO:
        return options.format
    try:
        return profile_of(tokenizer).detected.call_format.name
    except ModelError:
        if profile_of(tokenizer).leaves_out_tools or (options.tool_choice == "none" and tokenizer.chat_template):
            return PRINTED  # a text without calls has no format
        raise


def chat_misfits(name: str, tokenizer: "PreTrainedTokenizerBase") -> Iterator[str]:
    """Yield a warning if a chat template writes calls in another format."""
    try:
        written = name if name == AUTO else profile_of(tokenizer).detected.call_format.name
    except ModelError:
        written = name
    if written != name:
        yield (
            f"the model's chat template writes calls in the format {written}, but they are decoded in {name}; "
            "--format auto takes the template's"
        )


API_BANK_INSTRUCTION = "Write the API call that comes next in the form [ApiName(key1='value1', key2='value2')]."
API_BANK_ENDING = "API-Request: "

BFCL_INSTRUCTION = (
    "You can call the functions below. Answer the question with one or more calls in the form "
    "[func_name1(param1=value1, param2=value2), func_name2(param1=value1)] and nothing else. "
    "Write each value as a Python literal of the parameter's type."
)
BFCL_ENDING = "Calls: "


def api_bank_prompt(
    documentation: str, turns: Sequence[str], instruction: str = API_BANK_INSTRUCTION, ending: str = API_BANK_ENDING
) -> str:
    """Return a prompt in API-Bank's layout: descriptions, instruction, dialogue, and the line that the call completes.

    Parameters
    ----------
    documentation : str
        Tool descriptions as API-Bank prints them, one JSON object a line.
    turns : sequence of str
        Lines of the dialogue as ``dialogue_lines`` writes them, for example ``User: …``, ``AI: …``,
        ``API-Request: [Name(key='value')]``, ``API-Response: {…}``.
    instruction, ending : str
        What to write, and the beginning of its line.
    """
    dialogue = "\n".join(turns)
    return f"API descriptions:\n{documentation.strip()}\n\n{instruction}\n\n{dialogue}\n{ending}"


def bfcl_prompt(
    functions: str, turns: Sequence[str], instruction: str = BFCL_INSTRUCTION, ending: str = BFCL_ENDING
) -> str:
    """Return a prompt in BFCL's layout: instruction, functions as indented JSON, conversation, the line to complete.

    Parameters
    ----------
    functions : str
        The functions as a JSON list with four spaces of indentation.
    turns : sequence of str
        Lines of the conversation, for example ``User: …``; earlier calls are ``Calls: [f(a=1)]``.
    instruction, ending : str
        What to write, and the beginning of its line.
    """
    conversation = "\n".join(turns)
    return f"{instruction}\n\nFunctions:\n{functions}\n\n{conversation}\n{ending}"
