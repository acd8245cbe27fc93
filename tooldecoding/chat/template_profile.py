"""What a chat template wants, found once by rendering made-up dialogues in several ways.

Templates differ in what they take, and some write nonsense where they should refuse: HTML entities, Python's ``repr``,
JSON in JSON, the word ``None``.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal
from weakref import WeakKeyDictionary

from tooldecoding.chat.call_ids import IdForm
from tooldecoding.chat.detect_format import Detected, excerpt, instructed_format, leaves, printable, written_format
from tooldecoding.chat.probe import ANSWER, ARGUMENTS, IDS, NAME, PLAIN, RESULT, SYSTEM, TOOL, USER, WAYS, Probe, Way
from tooldecoding.errors import ModelError
from tooldecoding.formats.known_formats import CALL_FORMATS

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

ThinkingKey = Literal["reasoning_content", "thinking"]
ShownCalls = Literal["all", "first", "none"]

[(_KEY, _VALUE)] = PLAIN.items()
_CUT: Final = json.dumps(PLAIN)[:-4]
"""Arguments that are no object."""
_OTHER_KEY: Final = "other_qzvx"
_THOUGHT: Final = "qzvx thought"
_THINKING_KEYS: Final[tuple[ThinkingKey, ...]] = ("reasoning_content", "thinking")

_RESULT_TAG: Final = re.compile(rf"<(\w{{1,32}})>[^<>]{{0,256}}{re.escape(RESULT)}[^<>]{{0,256}}</\1>")
"""As ``<tool_response>`` of Hermes and Qwen, with the result as it is or inside of JSON."""

_NONSENSE: Final = ("&#34;", "&quot;", "&#39;", "&amp;", *(f"{{'{key}'" for key in ARGUMENTS), f'\\"{_KEY}')
"""What shows that arguments were given in the wrong way."""


@dataclass(frozen=True)
class TemplateProfile:
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
    takes_any_text : bool
        Whether it writes arguments that are no object as the text that they are.
    no_content : str or None
        The content of a message that has only calls.
    no_answer : str
        The content of an assistant's message that says nothing: some templates refuse an empty one.
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
    result_tag : str
        Name of the element that it writes a result in, as ``tool_response``; empty if it writes none.
    openings : tuple of str
        How it opens the assistant's turn, with tools and without.
    """

    found: Detected | str = "the model's tokenizer has no chat template"
    takes_messages: bool = False
    prints_tools: bool = False
    arguments_as_text: bool = False
    takes_any_text: bool = False
    no_content: str | None = ""
    no_answer: str = ""
    ids: IdForm = "any"
    thinking_key: ThinkingKey | None = None
    thinking_beside_content: bool = True
    content_beside_calls: bool = True
    shown_calls: ShownCalls = "all"
    bare_tools: bool = True
    takes_system: bool = True
    result_tag: str = ""
    openings: tuple[str, ...] = ()

    @property
    def leaves_out_tools(self) -> bool:
        """Whether it takes messages, but prints no tools, as many do."""
        return self.takes_messages and not self.prints_tools

    @property
    def detected(self) -> Detected:
        """The call format that it writes, and what shows it.

        ModelError if there is no chat template, it refuses all dialogues with a call, or writes none in a known format.
        The message shows what it wrote, and names ``--format``.
        """
        if isinstance(self.found, str):
            raise ModelError(f"{self.found}; name the model's call format with --format: {', '.join(CALL_FORMATS)}")
        return self.found


_known: "WeakKeyDictionary[PreTrainedTokenizerBase, tuple[Any, TemplateProfile]]" = WeakKeyDictionary()


def profile_of(tokenizer: "PreTrainedTokenizerBase") -> TemplateProfile:
    """Return the profile of a tokenizer's chat template."""
    text = getattr(tokenizer, "chat_template", None)
    known = _known.get(tokenizer)
    if known is None or known[0] != text:
        known = _known[tokenizer] = (text, _read(tokenizer) if text else TemplateProfile())
    return known[1]


def _read(tokenizer: "PreTrainedTokenizerBase") -> TemplateProfile:
    probe = Probe(tokenizer)
    shown = probe.write([USER])
    takes_messages, prints_tools = bool(shown or probe.write([USER], [])), NAME in shown
    found, way = _found(probe)

    def text(*more: Mapping[str, Any], **changes: Any) -> str:
        """What the template writes for a call, and more calls, with changes to the message."""
        return probe.write(way.called(PLAIN, *more, **changes), way.documented)

    def accepts(**changes: Any) -> bool:
        """Whether changes are taken, or at least not to blame."""
        return bool(text(**changes)) or not text()

    way = way._replace(result=True)
    # no content where an empty text is refused or leaves a trace
    empty, none = text(content=""), text(content=None)
    way = way._replace(content=None if none and (not empty or len(none) < len(empty)) else "")
    written = text()
    two = text({_OTHER_KEY: _VALUE}) if _VALUE in written else ""
    shown_calls: ShownCalls = "first" if two and _OTHER_KEY not in two else "all"
    if _VALUE not in written and (written or (takes_messages and not prints_tools)):
        shown_calls = "none"
    thinking_key = next((key for key in _THINKING_KEYS if _THOUGHT in text(**{key: _THOUGHT})), None)
    return TemplateProfile(
        found,
        takes_messages,
        prints_tools,
        way.as_text,
        _takes_any_text(probe, way),
        way.content,
        _no_answer(probe),
        way.ids,
        thinking_key,
        thinking_beside_content=thinking_key is None or accepts(**{thinking_key: _THOUGHT, "content": "Well."}),
        content_beside_calls=accepts(content="Well."),
        shown_calls=shown_calls,
        bare_tools=_takes_bare_tools(probe),
        takes_system=_THOUGHT in probe.write([{"role": "system", "content": _THOUGHT}, USER], way.documented),
        result_tag=tag[1] if (tag := _RESULT_TAG.search(written)) else "",
        openings=_openings(probe),
    )


def _found(probe: Probe) -> tuple[Detected | str, Way]:
    """Return the format, or why it is unknown with what is written; and the way in which the template takes calls."""
    senses, unknown, seen = dict[Way, int](), "", {""}
    for way in WAYS:
        without = probe.write([*way.asked, ANSWER], way.documented, ending=False)
        senses[way] = 0
        for arguments in (ARGUMENTS, PLAIN):
            text = probe.write(way.called(arguments), way.documented, ending=False)
            nonsense = any(text.count(each) > without.count(each) for each in _NONSENSE)
            shown = all(leaf in text for leaf in leaves(arguments))
            # 1 for nonsense, 2 for a text without the call, 3 with it, 0 for a refusal
            senses[way] = max(senses[way], bool(text) * (1 if nonsense else 2 + shown))
            if not shown or text in seen:
                continue
            seen.add(text)
            _, answer, behind = without.partition(ANSWER["content"])
            prompt = probe.write(way.asked, way.documented)
            detected = written_format(text, arguments, (without, prompt + answer + behind))
            if detected is not None:
                return detected, way
            unknown = unknown or excerpt(text, arguments, without)
            break  # the plain arguments tell no more
    best = max(WAYS, key=lambda way: senses[way])
    instructions = (probe.write([*system, USER], ending=False) for system in ([], [SYSTEM]))
    if instructed := instructed_format(next(filter(None, instructions), "")):
        return instructed, best
    if unknown:
        return f"the model's chat template writes calls in no known format: {unknown}", best
    if not senses[best]:
        return f"the model's chat template refuses a dialogue with a call: {printable(probe.refusals[-1])}", best
    return "the model's chat template does not write calls of earlier turns", best


def _takes_any_text(probe: Probe, way: Way) -> bool:
    """Return whether the template writes arguments that are no object, as they are or as a JSON text."""
    call = {"id": IDS[way.ids], "type": "function", "function": {"name": NAME, "arguments": _CUT}}
    text = probe.write(way.called(PLAIN, tool_calls=[call]), way.documented)
    return _CUT in text or json.dumps(_CUT)[1:-1] in text


def _no_answer(probe: Probe) -> str:
    """Return the content of an answer that says nothing: a space only where the template takes no empty text."""
    taken = (text for text in ("", " ") if probe.write([USER, {"role": "assistant", "content": text}, USER]))
    return next(taken, "")


def _openings(probe: Probe) -> tuple[str, ...]:
    pairs = [[probe.write([USER], tools, ending) for ending in (False, True)] for tools in ([TOOL], [])]
    return tuple(opened[len(text) :] for text, opened in pairs if text and opened.startswith(text) and opened != text)


def _takes_bare_tools(probe: Probe) -> bool:
    """Return whether the template names tools with a mere signature, and tools with no more than a name."""
    signature = {"name": NAME, "parameters": {"type": "object", "properties": {_KEY: {"type": "string"}}}}
    tools = [{"type": "function", "function": tool} for tool in (signature, {"name": NAME})]
    return all(NAME in probe.write([USER], [tool]) for tool in tools)
