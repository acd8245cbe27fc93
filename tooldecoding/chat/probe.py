"""Chat templates, and made-up dialogues with a call that are tried on them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
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
    **PLAIN, "qzvx_count": 48151, "qzvx_flag": True, "qzvx_place": {"qzvx_street": "Qzvx Street"},
}  # fmt: skip
"""Arguments of the call: a text, a number, a truth value and an object."""

_TYPES: Final = dict(zip(ARGUMENTS, ("string", "integer", "boolean", "object"), strict=True))
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

IDS: Final = {
    IdForm.ANY: "call_qzvx_000001",
    IdForm.NINE: "qzvx00000",
    IdForm.NAMED: f"functions.{NAME}:0",
    IdForm.NUMBER: "0",
}
"""An id of each form, in the sequence in which they are tried; templates write them as they are, or check them."""

USER: Final[Mapping[str, Any]] = {"role": "user", "content": "Please call the tool."}
SYSTEM: Final[Mapping[str, Any]] = {"role": "system", "content": "You are helpful."}
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

    Parameters
    ----------
    ending : bool
        Whether the text goes up to the assistant's next turn.

    Raises
    ------
    ModelError
        If the tokenizer has no chat template.
    PromptError
        If the template refuses the messages.
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
        raise PromptError(f"the model's chat template refuses the dialogue: {reason}") from error
    return str(text)


def call_messages(calls: Mapping[str, Any], **changes: Any) -> list[dict[str, Any]]:
    """Return an assistant's message with calls of the tool, by id, with their arguments; and a result for each."""
    written = [
        {"id": call_id, "type": "function", "function": {"name": NAME, "arguments": arguments}}
        for call_id, arguments in calls.items()
    ]
    results = [{"role": "tool", "name": NAME, "tool_call_id": call_id, "content": "Done."} for call_id in calls]
    return [{"role": "assistant", "content": "", "tool_calls": written} | changes, *results]


class Written(NamedTuple):
    """What a template wrote for a dialogue with the call.

    Attributes
    ----------
    text : str
        The dialogue.
    arguments : mapping of str to object
        Those of the call.
    before, behind : str
        What the template writes around a plain answer in the call's place; both empty if it refuses one.
    prompt : str
        The dialogue before the call, as the model gets it to go on.
    """

    text: str
    arguments: Mapping[str, Any]
    before: str = ""
    behind: str = ""
    prompt: str = ""


class _Setting(NamedTuple):
    """What stands around the call. Templates demand a system message or refuse it, and so on."""

    system: bool = False
    result: bool = False
    content: str | None = ""
    tools: bool = True


_SETTINGS: Final = (
    _Setting(),
    _Setting(content=None),
    _Setting(system=True),
    _Setting(result=True),
    _Setting(system=True, result=True),
    _Setting(tools=False),
)


class Probe:
    """A tokenizer's chat template, tried on dialogues.

    Attributes
    ----------
    refusals : list of str
        What it raised.
    takes_calls : bool
        Whether it has written a dialogue with a call yet.
    """

    def __init__(self, tokenizer: "PreTrainedTokenizerBase") -> None:
        self._tokenizer = tokenizer
        self.refusals: list[str] = []
        self.takes_calls = False

    def write(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (TOOL,), ending: bool = True
    ) -> str:
        """Return what the template writes; empty if it refuses."""
        try:
            return chat_prompt(self._tokenizer, messages, tools, ending)
        except PromptError as error:
            self.refusals.append(f"{type(error.__cause__).__name__}: {error.__cause__}")
            return ""

    def writings(self) -> Iterator[Written]:
        """Yield what the template writes for the call: what is most usual first, no text twice.

        Arguments are given as objects, then as JSON in a text, which some templates want.
        """
        seen: set[str] = set()
        for setting, call_id, as_text in product(_SETTINGS, [*IDS.values()][1:], (False, True)):
            asked = [*[SYSTEM] * setting.system, USER]
            tools = [TOOL] if setting.tools else []
            for arguments in (ARGUMENTS, PLAIN):
                given = json.dumps(arguments) if as_text else dict(arguments)
                call, result = call_messages({call_id: given}, content=setting.content)
                text = self.write([*asked, call, *[result] * setting.result], tools, ending=False)
                self.takes_calls = self.takes_calls or bool(text)
                if not text or text in seen or not all(leaf in text for leaf in leaves(arguments)):
                    continue
                seen.add(text)
                before, _, behind = self.write([*asked, ANSWER], tools, ending=False).partition(ANSWER["content"])
                yield Written(text, arguments, before, behind, self.write(asked, tools))
                break  # the plain arguments tell no more


def leaves(arguments: Mapping[str, Any]) -> list[str]:
    """Return the texts and numbers of the arguments, those of inner objects too, which stand nowhere else."""
    found = []
    for value in arguments.values():
        found += leaves(value) if isinstance(value, Mapping) else [] if isinstance(value, bool) else [str(value)]
    return found
