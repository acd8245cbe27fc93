"""A made-up call in the history of a dialogue: what a chat template writes for it, in every way that may please it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from jinja2 import TemplateError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

NAME: Final = "probe_qzvx_tool"
"""The tool's name; like keys and texts, it stands in no template."""

PLAIN: Final[Mapping[str, Any]] = {"qzvx_town": "Qzvxburg"}
"""Arguments of the probe for templates that take texts only."""

ARGUMENTS: Final[Mapping[str, Any]] = {
    **PLAIN, "qzvx_count": 48151, "qzvx_flag": True, "qzvx_place": {"qzvx_street": "Qzvx Street"},
}  # fmt: skip
"""Arguments of the probe: a text, a number, a truth value and an object."""

TOOL: Final[Mapping[str, Any]] = {
    "type": "function",
    "function": {
        "name": NAME,
        "description": "A probe.",
        "parameters": {
            "type": "object",
            "properties": {
                "qzvx_town": {"type": "string", "description": "A text."},
                "qzvx_count": {"type": "integer", "description": "A number."},
                "qzvx_flag": {"type": "boolean", "description": "A flag."},
                "qzvx_place": {"type": "object", "description": "An object.", "properties": {}},
            },
            "required": [*ARGUMENTS],
        },
    },
}
"""The tool's documentation."""

REFUSALS: Final = (
    TemplateError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError,
)  # fmt: skip
"""What a chat template may raise: its own errors, those of Python in its expressions, and those of the sandbox."""

_ANSWER: Final = "Qzvx-answer"
_USER: Final[Mapping[str, Any]] = {"role": "user", "content": "Please call the tool."}
_SYSTEM: Final[Mapping[str, Any]] = {"role": "system", "content": "You are helpful."}


@dataclass(frozen=True)
class Written:
    """What a template wrote for a dialogue with the probe.

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
    before: str
    behind: str
    prompt: str = ""


@dataclass(frozen=True)
class _Setting:
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
_IDS: Final = ("qzvx00000", f"functions.{NAME}:0", "0")
"""Ids of the call: Mistral's of nine characters, Kimi's, Cohere's. Templates write them as they are, or check them."""


class Probe:
    """The renderings of the probe by a tokenizer's chat template."""

    def __init__(self, tokenizer: "PreTrainedTokenizerBase") -> None:
        self._tokenizer = tokenizer
        self._refusals: list[str] = []
        self._accepts = False

    @property
    def refusal(self) -> str:
        """What the template raised first, if it has written no dialogue with a call yet; else empty."""
        return "" if self._accepts or not self._refusals else self._refusals[0]

    def texts(self) -> Iterator[Written]:
        """Yield the renderings that hold the call's arguments: those most usual first, no text twice.

        Arguments are given as objects, then as JSON in a text, which some templates want.
        """
        seen: set[str] = set()
        for setting, call_id, as_text in product(_SETTINGS, _IDS, (False, True)):
            for arguments in (ARGUMENTS, PLAIN):
                given = json.dumps(arguments) if as_text else dict(arguments)
                text = self._render(setting, self._call(setting, call_id, given))
                self._accepts = self._accepts or bool(text)
                if text and text not in seen and all(leaf in text for leaf in leaves(arguments)):
                    seen.add(text)
                    before, _, behind = self._render(setting, {"role": "assistant", "content": _ANSWER}).partition(
                        _ANSWER
                    )
                    yield Written(text, arguments, before, behind, self._prompt(setting))
                    break  # the plain arguments tell no more

    def instruction(self) -> str:
        """Return the dialogue without a call as the template writes it for the tool; empty if it refuses it."""
        return next((text for text in map(self._instruction, (False, True)) if text), "")

    def _instruction(self, system: bool) -> str:
        return self._apply([*[_SYSTEM] * system, _USER], tools=True)

    def _call(self, setting: _Setting, call_id: str, arguments: Any) -> dict[str, Any]:
        call = {"id": call_id, "type": "function", "function": {"name": NAME, "arguments": arguments}}
        return {"role": "assistant", "content": setting.content, "tool_calls": [call]}

    def _render(self, setting: _Setting, said: Mapping[str, Any]) -> str:
        messages = [*self._asked(setting), said]
        if setting.result and "tool_calls" in said:
            call_id = said["tool_calls"][0]["id"]
            messages.append({"role": "tool", "name": NAME, "tool_call_id": call_id, "content": "Done."})
        return self._apply(messages, setting.tools)

    def _prompt(self, setting: _Setting) -> str:
        return self._apply(self._asked(setting), setting.tools, ending=True)

    def _asked(self, setting: _Setting) -> list[Mapping[str, Any]]:
        return [*[_SYSTEM] * setting.system, _USER]

    def _apply(self, messages: Sequence[Mapping[str, Any]], tools: bool, ending: bool = False) -> str:
        documentation = [dict(TOOL)] if tools else None
        try:
            text = self._tokenizer.apply_chat_template(
                [*map(dict, messages)], tools=documentation, tokenize=False, add_generation_prompt=ending
            )
        except REFUSALS as error:
            self._refusals.append(f"{type(error).__name__}: {error}")
            return ""
        return str(text)


def leaves(arguments: Mapping[str, Any]) -> list[str]:
    """Return the texts and numbers of the arguments, those of inner objects too, which stand nowhere else."""
    found = []
    for value in arguments.values():
        found += leaves(value) if isinstance(value, Mapping) else [] if isinstance(value, bool) else [str(value)]
    return found
