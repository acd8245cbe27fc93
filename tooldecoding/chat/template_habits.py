"""What a chat template wants, found once by rendering made-up dialogues in several ways.

Templates differ in what they take, and some write nonsense where they should refuse: HTML entities, Python's ``repr``,
JSON in JSON, the word ``None``.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal
from weakref import WeakKeyDictionary

from tooldecoding.chat.call_ids import IdForm
from tooldecoding.chat.detect_format import Detected, detect, written_format
from tooldecoding.chat.probe import ANSWER, IDS, NAME, PLAIN, TOOL, USER, Probe, Written, call_messages
from tooldecoding.errors import ModelError
from tooldecoding.formats.known_formats import CALL_FORMATS

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

ThinkingKey = Literal["reasoning_content", "thinking"]
ShownCalls = Literal["all", "first", "none"]

[(_KEY, _VALUE)] = PLAIN.items()
_OTHER_KEY: Final = "other_qzvx"
_THOUGHT: Final = "qzvx thought"
_THINKING_KEYS: Final[tuple[ThinkingKey, ...]] = ("reasoning_content", "thinking")

_NONSENSE: Final = ("&#34;", "&quot;", "&#39;", "&amp;", f"{{'{_KEY}'", f'\\"{_KEY}')
"""What shows that arguments were given in the wrong way."""


@dataclass(frozen=True)
class Habits:
    """What a template wants; what the probe does not show is the default.

    Attributes
    ----------
    found : Detected or str
        The call format that it writes, or why it is unknown.
    takes_messages : bool
        Whether it takes a message of the user.
    prints_tools : bool
        Whether it prints tools; if not, ``tooldecoding.chat.rendering`` does.
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
    takes_system : bool
        Whether it takes system messages.
    """

    found: Detected | str = "the model's tokenizer has no chat template"
    takes_messages: bool = False
    prints_tools: bool = False
    arguments_as_text: bool = False
    no_content: str | None = ""
    ids: IdForm = IdForm.ANY
    thinking_key: ThinkingKey | None = None
    thinking_beside_content: bool = True
    content_beside_calls: bool = True
    shown_calls: ShownCalls = "all"
    bare_tools: bool = True
    takes_system: bool = True

    @property
    def leaves_out_tools(self) -> bool:
        """Whether it takes messages, but prints no tools, as many do."""
        return self.takes_messages and not self.prints_tools

    @property
    def detected(self) -> Detected:
        """The call format that it writes, and what shows it.

        Raises
        ------
        ModelError
            If there is no chat template, it refuses all dialogues with a call, or writes none in a known format. The
            message shows what it wrote, and names ``--format``.
        """
        if isinstance(self.found, str):
            raise ModelError(f"{self.found}; name the model's call format with --format: {', '.join(CALL_FORMATS)}")
        return self.found


_known: "WeakKeyDictionary[PreTrainedTokenizerBase, tuple[Any, Habits]]" = WeakKeyDictionary()


def habits_of(tokenizer: "PreTrainedTokenizerBase") -> Habits:
    """Return the habits of a tokenizer's chat template."""
    text = getattr(tokenizer, "chat_template", None)
    known = _known.get(tokenizer)
    if known is None or known[0] != text:
        known = _known[tokenizer] = (text, _read(tokenizer) if text else Habits())
    return known[1]


def _read(tokenizer: "PreTrainedTokenizerBase") -> Habits:
    found, probe = detect(Probe(tokenizer)), Probe(tokenizer)
    shown = probe.write([USER])
    takes_messages, prints_tools = bool(shown or probe.write([USER], [])), NAME in shown
    dialogue = _Dialogue(probe)
    thinking_key = next((key for key in _THINKING_KEYS if _THOUGHT in dialogue.text({key: _THOUGHT})), None)
    return Habits(
        found,
        takes_messages,
        prints_tools,
        dialogue.as_text,
        dialogue.no_content,
        dialogue.ids(),
        thinking_key,
        thinking_beside_content=thinking_key is None or dialogue.accepts({thinking_key: _THOUGHT, "content": "Well."}),
        content_beside_calls=dialogue.accepts({"content": "Well."}),
        shown_calls=dialogue.shown_calls(nothing="none" if takes_messages and not prints_tools else "all"),
        bare_tools=_takes_bare_tools(probe),
        takes_system=_THOUGHT in probe.write([{"role": "system", "content": _THOUGHT}, USER], dialogue.tools),
    )


class _Dialogue:
    """A question, a message with a call, and its result, in the way that the template takes best."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe
        self.as_text = False
        self.no_content: str | None = ""
        # some tokenizers have a template of their own for tools; a few templates refuse tools
        self.tools: list[Mapping[str, Any]] = [TOOL] if probe.write([USER, ANSWER, USER]) else []
        self._without_call = probe.write([USER, ANSWER, USER], self.tools)
        # arguments as texts where only these are written as they should
        objects = self._sense(self.text())
        self.as_text = True
        self.as_text = self._sense(self.text()) > objects
        # no content where an empty text is refused or leaves a trace
        empty = self.text()
        self.no_content = None
        none = self.text()
        self.no_content = None if none and (not empty or len(none) < len(empty)) else ""

    def text(self, changes: Mapping[str, Any] | None = None, call_id: str = IDS[IdForm.NINE]) -> str:
        """Return the text of the dialogue with changes to the message; empty if the template refuses it."""
        return self._text({call_id: PLAIN}, changes or {})

    def accepts(self, changes: Mapping[str, Any]) -> bool:
        """Return whether changes are taken, or at least not to blame."""
        return bool(self.text(changes)) or not self.text()

    def _text(self, calls: Mapping[str, Mapping[str, Any]], changes: Mapping[str, Any]) -> str:
        given = {call_id: json.dumps(each) if self.as_text else dict(each) for call_id, each in calls.items()}
        messages = call_messages(given, **{"content": self.no_content, **changes})
        return self._probe.write([USER, *messages], self.tools)

    def ids(self) -> IdForm:
        """Return the first form of ids that the template hides, or with which it writes a call that a reader takes."""
        texts = {form: self.text(call_id=call_id) for form, call_id in IDS.items()}
        for form, text in texts.items():
            if text and (IDS[form] not in text or written_format(Written(text, PLAIN)) is not None):
                return form
        return next((form for form, text in texts.items() if text), IdForm.ANY)

    def shown_calls(self, nothing: ShownCalls) -> ShownCalls:
        """Return which calls of a message are written; ``nothing`` if the template refuses calls."""
        written = self.text()
        if _VALUE not in written:
            return "none" if written else nothing
        two = self._text({IDS[IdForm.NINE]: PLAIN, "qzvx00001": {_OTHER_KEY: _VALUE}}, {})
        return "first" if two and _OTHER_KEY not in two else "all"

    def _sense(self, text: str) -> int:
        """Return 2 for a text with sensible arguments, 1 for one without any, 0 for nonsense or a refusal."""
        if not text or any(text.count(nonsense) > self._without_call.count(nonsense) for nonsense in _NONSENSE):
            return 0
        return 2 if _VALUE in text else 1


def _takes_bare_tools(probe: Probe) -> bool:
    """Return whether the template names tools with a mere signature, and tools with no more than a name."""
    signature = {"name": NAME, "parameters": {"type": "object", "properties": {_KEY: {"type": "string"}}}}
    tools = [{"type": "function", "function": tool} for tool in (signature, {"name": NAME})]
    return all(NAME in probe.write([USER], [tool]) for tool in tools)
