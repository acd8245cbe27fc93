"""What a chat template wants of messages with calls, found by rendering a made-up dialogue in several ways.

Templates differ in what they take, and some write nonsense where they should refuse: HTML entities, Python's ``repr``,
JSON in JSON, the word ``None``.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal
from weakref import WeakKeyDictionary

from tooldecoding.chat.call_ids import IdForm
from tooldecoding.chat.detect_format import written_format
from tooldecoding.chat.probe_call import NAME, PLAIN, TOOL, Written
from tooldecoding.chat.prompts import chat_prompt, leaves_out_tools
from tooldecoding.errors import PromptError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

ThinkingKey = Literal["reasoning_content", "thinking"]
ShownCalls = Literal["all", "first", "none"]

_USER: Final[Mapping[str, Any]] = {"role": "user", "content": "Qzvx?"}
[(_KEY, _VALUE)] = PLAIN.items()
_OTHER_KEY: Final = "other_qzvx"
_THOUGHT: Final = "qzvx thought"
_THINKING_KEYS: Final[tuple[ThinkingKey, ...]] = ("reasoning_content", "thinking")

_IDS: Final = {
    IdForm.ANY: "call_qzvx_000001",
    IdForm.NINE: "qzvx00001",
    IdForm.NAMED: f"functions.{NAME}:0",
    IdForm.NUMBER: "0",
}
"""An id of each form, in the sequence in which they are tried."""

_NONSENSE: Final = ("&#34;", "&quot;", "&#39;", "&amp;", f"{{'{_KEY}'", f'\\"{_KEY}')
"""What shows that arguments were given in the wrong way."""


@dataclass(frozen=True)
class Habits:
    """What a template wants.

    Attributes
    ----------
    arguments_as_text : bool
        Whether arguments are JSON texts; else objects.
    no_content : str or None
        The content of a message that has only calls.
    ids : IdForm
    thinking_key : {"reasoning_content", "thinking"}, optional
        The key of what the assistant thought before a call; None if the template does not print it.
    thinking_beside_content : bool
        Whether a message with calls may have both.
    content_beside_calls : bool
        Whether a message may have text and calls.
    shown_calls : {"all", "first", "none"}
        Which calls of a message the template writes.
    bare_tools : bool
        Whether tools may lack descriptions, or everything but the name.
    prints_tools : bool
        Whether it prints tools; if not, ``tooldecoding.chat.printed_tools`` does.
    takes_system : bool
        Whether it takes system messages.
    """

    arguments_as_text: bool = False
    no_content: str | None = ""
    ids: IdForm = IdForm.ANY
    thinking_key: ThinkingKey | None = None
    thinking_beside_content: bool = True
    content_beside_calls: bool = True
    shown_calls: ShownCalls = "all"
    bare_tools: bool = True
    prints_tools: bool = True
    takes_system: bool = True


_known: "WeakKeyDictionary[PreTrainedTokenizerBase, tuple[Any, Habits]]" = WeakKeyDictionary()


def habits_of(tokenizer: "PreTrainedTokenizerBase") -> Habits:
    """Return the habits of a tokenizer's chat template; a habit that the probe does not show is the default."""
    template = getattr(tokenizer, "chat_template", None)
    known = _known.get(tokenizer)
    if known is None or known[0] != template:
        known = _known[tokenizer] = (template, _find(_Probe(tokenizer)))
    return known[1]


def _find(probe: "_Probe") -> Habits:
    probe.choose_arguments()
    probe.choose_content()
    thinking_key = next((key for key in _THINKING_KEYS if _THOUGHT in probe.text({key: _THOUGHT})), None)
    return Habits(
        probe.as_text,
        probe.no_content,
        probe.ids(),
        thinking_key,
        thinking_beside_content=thinking_key is None or probe.accepts({thinking_key: _THOUGHT, "content": "Well."}),
        content_beside_calls=probe.accepts({"content": "Well."}),
        shown_calls=probe.shown_calls(),
        bare_tools=probe.takes_bare_tools(),
        prints_tools=probe.prints_tools,
        takes_system=probe.takes_system(),
    )


class _Probe:
    """A question, a message with a call, and its result; in the way that was chosen so far."""

    def __init__(self, tokenizer: "PreTrainedTokenizerBase") -> None:
        self._tokenizer = tokenizer
        self.as_text = False
        self.no_content: str | None = ""
        self.prints_tools = not leaves_out_tools(tokenizer)
        # some tokenizers have a template of their own for tools; a few templates refuse tools
        self._tools: list[Mapping[str, Any]] = [TOOL]
        answered = [_USER, {"role": "assistant", "content": "Well."}, _USER]
        self._without_call = self._rendered(answered)
        if not self._without_call:
            self._tools = []
            self._without_call = self._rendered(answered)

    def text(self, changes: Mapping[str, Any] | None = None, call_id: str = _IDS[IdForm.NINE]) -> str:
        """Return the text of the dialogue with changes to the message; empty if the template refuses it."""
        return self._text([self._call(call_id)], changes or {})

    def accepts(self, changes: Mapping[str, Any]) -> bool:
        """Return whether changes are taken, or at least not to blame."""
        return bool(self.text(changes)) or not self.text()

    def _text(self, calls: Sequence[Mapping[str, Any]], changes: Mapping[str, Any]) -> str:
        message = {"role": "assistant", "content": self.no_content, "tool_calls": calls, **changes}
        results = [{"role": "tool", "tool_call_id": c["id"], "name": NAME, "content": "Done."} for c in calls]
        return self._rendered([_USER, message, *results])

    def _rendered(self, messages: Sequence[Mapping[str, Any]]) -> str:
        try:
            return chat_prompt(self._tokenizer, messages, self._tools)
        except PromptError:
            return ""

    def _call(self, call_id: str, key: str = _KEY) -> dict[str, Any]:
        arguments = {key: _VALUE}
        function = {"name": NAME, "arguments": json.dumps(arguments) if self.as_text else arguments}
        return {"id": call_id, "type": "function", "function": function}

    def choose_arguments(self) -> None:
        """Give arguments as objects, or as texts where only these are written as they should."""
        objects = self.text()
        self.as_text = True
        texts = self.text()
        self.as_text = self._sense(texts) > self._sense(objects)

    def choose_content(self) -> None:
        """Give an empty text, or None where the empty text is refused or leaves a trace."""
        empty = self.text()
        self.no_content = None
        none = self.text()
        self.no_content = None if none and (not empty or len(none) < len(empty)) else ""

    def ids(self) -> IdForm:
        """Return the first form of ids that the template hides, or with which it writes a call that a reader takes."""
        texts = {form: self.text(call_id=call_id) for form, call_id in _IDS.items()}
        for form, text in texts.items():
            if text and _IDS[form] not in text:
                return form
            if text and written_format(Written(text, PLAIN, before="", behind="", prompt="")) is not None:
                return form
        return next((form for form, text in texts.items() if text), IdForm.ANY)

    def shown_calls(self) -> ShownCalls:
        """Return which calls of a message are written."""
        if _VALUE not in self.text():
            return "none" if self.text() or not self.prints_tools else "all"
        two = self._text([self._call("qzvx00001"), self._call("qzvx00002", _OTHER_KEY)], {})
        return "first" if two and _OTHER_KEY not in two else "all"

    def takes_system(self) -> bool:
        """Return whether a system message is taken, and written."""
        return _THOUGHT in self._rendered([{"role": "system", "content": _THOUGHT}, _USER])

    def takes_bare_tools(self) -> bool:
        """Return whether the template names tools with a mere signature, and tools with no more than a name."""
        signature = {"name": NAME, "parameters": {"type": "object", "properties": {_KEY: {"type": "string"}}}}
        return all(self._names({"type": "function", "function": tool}) for tool in (signature, {"name": NAME}))

    def _names(self, tool: Mapping[str, Any]) -> bool:
        try:
            return NAME in chat_prompt(self._tokenizer, [_USER], [tool])
        except PromptError:
            return False

    def _sense(self, text: str) -> int:
        """Return 2 for a text with sensible arguments, 1 for one without any, 0 for nonsense or a refusal."""
        if not text or any(text.count(nonsense) > self._without_call.count(nonsense) for nonsense in _NONSENSE):
            return 0
        return 2 if _VALUE in text else 1
