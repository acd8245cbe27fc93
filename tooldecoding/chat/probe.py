"""Chat templates, and made-up dialogues with a call that are tried on them."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from jinja2 import TemplateError

from tooldecoding.chat.call_ids import IdForm
from tooldecoding.errors import ModelError, PromptError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

NAME: Final = "probe_qzvx_tool"
"""The tool's name; like keys and texts, it stands in no template."""

PLAIN: Final[Mapping[str, Any]] = {"qzvx_town": "Qzvxburg"}
"""Arguments of the call for templates that take texts only."""

ARGUMENTS: Final[Mapping[str, Any]] = {
    "qzvx_count": 48151, "qzvx_flag": True, "qzvx_place": {"qzvx_street": "Qzvx Street"}, **PLAIN,
}  # fmt: skip
"""Arguments of the call: a number, a truth value, an object and a text, sorted by key, for some templates sort them."""

_TYPES: Final = dict(zip(ARGUMENTS, ("integer", "boolean", "object", "string"), strict=True))
TOOL: Final[Mapping[str, Any]] = {
    "type": "function",
    "function": {
        "name": NAME,
        "description": "A probe.",
        "parameters": {
            "type": "object",
            "properties": {
                key: {"type": kind, "description": "A key."} | ({"properties": {}} if kind == "object" else {})
                for key, kind in _TYPES.items()
            },
            "required": [*ARGUMENTS],
        },
    },
}
"""The tool's documentation."""

IDS: Final[Mapping[IdForm, str]] = {
    "any": "call_qzvx_000001",
    "nine": "qzvx00000",
    "named": f"functions.{NAME}:0",
    "number": "0",
}
"""An id of each form, in the sequence in which they are tried; templates write them as they are, or check them."""

_OTHER_ID: Final = "qzvx00001"
"""Of a second call."""

USER: Final[Mapping[str, Any]] = {"role": "user", "content": "Please call the tool."}
SYSTEM: Final[Mapping[str, Any]] = {"role": "system", "content": "You are helpful."}
RESULT: Final = "Done."
"""What a call returns."""

ANSWER: Final[Mapping[str, Any]] = {"role": "assistant", "content": "Qzvx-answer"}

_REFUSALS: Final = (
    TemplateError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError,
)  # fmt: skip
"""What a chat template may raise: its own errors, those of Python in its expressions, and those of the sandbox."""


def chat_prompt(
    tokenizer: "PreTrainedTokenizerBase",
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]],
    ending: bool = True,
) -> str:
    """Return the text of the tokenizer's chat template, with ``tools``.

    The template writes special tokens, so the text must be tokenized without adding any.

    ModelError if the tokenizer has no chat template. PromptError if the template refuses the messages.

    Parameters
    ----------
    ending : bool
        Whether the text goes up to the assistant's next turn.
    """
    if not tokenizer.chat_template:
        raise ModelError(
            "the model's tokenizer has no chat template; give a text (--template raw, api-bank or bfcl), "
            "or use a chat model"
        )
    try:
        text = tokenizer.apply_chat_template(
            list(messages), tools=list(tools) or None, add_generation_prompt=ending, tokenize=False
        )
    except _REFUSALS as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        said = "the model's chat template refuses the dialogue"
        own = reason in " ".join(str(tokenizer.chat_template).split())  # another reason may hold text of the dialogue
        raise (PromptError(f"{said}: {reason}") if own else PromptError(said, f": {reason}")) from error
    return str(text)


class Way(NamedTuple):
    """How a dialogue with the call is given. Templates demand a system message or refuse it, and so on."""

    system: bool = False
    result: bool = False
    content: str | None = ""
    tools: bool = True
    ids: IdForm = "any"
    as_text: bool = False

    @property
    def asked(self) -> list[Mapping[str, Any]]:
        """What stands before the call."""
        return [*[SYSTEM] * self.system, USER]

    @property
    def documented(self) -> list[Mapping[str, Any]]:
        """The tools."""
        return [TOOL] if self.tools else []

    def called(self, *calls: Mapping[str, Any], **changes: Any) -> list[Mapping[str, Any]]:
        """Return the dialogue with one or two calls of these arguments, and the results if the way has them."""
        given = [json.dumps(arguments) if self.as_text else dict(arguments) for arguments in calls]
        ids = (IDS[self.ids], _OTHER_ID)[: len(calls)]
        written = [
            {"id": call_id, "type": "function", "function": {"name": NAME, "arguments": arguments}}
            for call_id, arguments in zip(ids, given, strict=True)
        ]
        message = {"role": "assistant", "content": self.content, "tool_calls": written} | changes
        results = [{"role": "tool", "name": NAME, "tool_call_id": call_id, "content": RESULT} for call_id in ids]
        return [*self.asked, message, *results * self.result]


WAYS: Final = [
    around._replace(ids=ids, as_text=as_text)
    for around in (
        Way(),
        Way(content=None),
        Way(system=True),
        Way(result=True),
        Way(system=True, result=True),
        Way(tools=False),
    )
    for ids in IDS
    for as_text in (False, True)
]
"""The most usual first; arguments are objects, or JSON in a text, which some templates want."""


class Probe:
    """A tokenizer's chat template, tried on dialogues.

    Attributes
    ----------
    refusals : list of str
        What it raised.
    """

    def __init__(self, tokenizer: "PreTrainedTokenizerBase") -> None:
        self._tokenizer = tokenizer
        self.refusals: list[str] = []

    def write(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (TOOL,), ending: bool = True
    ) -> str:
        """Return what the template writes; empty if it refuses."""
        try:
            return chat_prompt(self._tokenizer, messages, tools, ending)
        except PromptError as error:
            self.refusals.append(f"{type(error.__cause__).__name__}: {error.__cause__}")
            return ""
