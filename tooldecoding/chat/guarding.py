"""Which control tokens of a rendered conversation the template wrote; all others are text that somebody said.

Templates trim, split, quote and join what they are given, so this is found by rendering twice: the second time with
marks inside of all that might spell a control token, alone or with what stands beside it. Where a control token has a
mark inside, the text is cut there:

    <|im_start|>user\\nHi<|im_end|><|im_end|>          # the user wrote the first end of a turn
    <|im_start|>user\\nHi<MARK|im_end|><|im_end|>

Only what might spell a control token of the rendered text, or of an earlier answer, is marked, and only then is
anything rendered again.
"""

import re
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tooldecoding.chat.calls import ToolCall
from tooldecoding.chat.messages import Conversation, Message
from tooldecoding.errors import PromptError
from tooldecoding.formats.thinking import THINKING
from tooldecoding.tokens.guarded_text import PromptText, any_of, control_texts

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

ToolTexts = str | Sequence[Mapping[str, Any]]
"""Tools in OpenAI's shape, for a chat template that prints them; or a text that documents them."""

Write = Callable[[Conversation, ToolTexts], str]
"""Renders a conversation with tools."""

_SHORT: Final = 128
"""Characters of a text in which the end of a control token is looked for."""

_DIGITS: Final = 24
"""Digits of a mark."""

_COMPARED: Final = frozenset(
    {"type", "function", "name", "description", "parameters", "properties", "required", "enum", "items", "default"}
)
"""Keys of tools that templates ask for."""


def guarded(
    write: Write, conversation: Conversation, tools: ToolTexts, tokenizer: "PreTrainedTokenizerBase"
) -> PromptText:
    """Return what ``write`` makes of a conversation and tools; nothing that they say becomes a control token.

    A template that looks for control texts finds none, but for the thinking at the beginning of an assistant's message,
    and only if it does not print its marks as they stand there.

    PromptError as ``write``, and for data that is nested too deeply.
    """
    text, controls = write(conversation, tools), control_texts(tokenizer)
    written = controls.tokens_in(text)
    # a template may take away what an earlier answer spells, with all before it
    answers = (message.content for message in conversation.messages if message.role == "assistant")
    spelled = {control for answer in answers for control in controls.tokens_in(answer)}
    if not written and not spelled:
        return text
    marks = _Marks({*written, *spelled})
    try:
        marked = [marks.in_message(message) for message in conversation.messages]
        marked_tools = marks.in_text(tools) if isinstance(tools, str) else marks.in_value(tools, schema=True)
    except RecursionError:
        raise PromptError("the arguments of a call or the schema of a tool are nested too deeply") from None
    if not marks.used:
        return text
    thoughts = [_Thought.of(message, marks) for message in conversation.messages]
    if any(thoughts):
        tried = _with_contents(marked, [thought and thought.tried for thought in thoughts])
        shown = write(tried, marked_tools)
        hidden = [thought.hidden if thought and not thought.is_in(shown) else None for thought in thoughts]
        marked = [*_with_contents(marked, hidden).messages]
    parts = write(Conversation(tuple(marked)), marked_tools).split(marks.mark)
    found = controls.cut("".join(parts), [*accumulate(map(len, parts[:-1]))])
    if isinstance(found, str) and found != text and controls.tokens_in(found) == written:
        return text  # the template compares what is marked, but nobody spelled a token, and none came of it
    return found


def _with_contents(messages: Sequence[Message], contents: Sequence[str | None]) -> Conversation:
    """Return the messages, with other contents where there are some."""
    pairs = zip(messages, contents, strict=True)
    return Conversation(tuple(m if content is None else replace(m, content=content) for m, content in pairs))


class _Marks:
    """Puts marks into texts that might spell a control token of a rendered conversation.

    A mark is digits, which no template trims, quotes, escapes or changes the case of; nobody can guess it, and it
    begins with its only 9, so that it cannot overlap with digits beside it.

    Attributes
    ----------
    mark : str
    used : bool
        Whether there is a mark anywhere.
    """

    def __init__(self, written: Collection[str]) -> None:
        self.mark = _new_mark()
        self.used = False
        self._known: dict[tuple[str, bool], str] = {}
        edges = {case for text in written for end in (text[0], text[-1]) for case in (end.lower(), end.upper())}
        self._edges = any_of(edges)
        self._dropped = re.compile(rf"_|[^\w{re.escape(''.join(sorted(edges)))}]")
        self._first = any_of(case for text in written for case in (text[0].lower(), text[0].upper()))
        self._wholes = {self._essence(text) for text in written}
        self._beginnings = tuple({text[:end] for text in self._wholes for end in range(1, len(text))})
        self._endings = tuple({text[start:] for text in self._wholes for start in range(1, len(text))})
        self._insides = "\n".join(self._wholes)

    def _essence(self, text: str) -> str:
        """Return what no template changes of a text: some replace or drop white space, hyphens and the like."""
        return self._dropped.sub("", text.casefold())

    def in_text(self, said: str, compared: bool = False) -> str:
        """Return a text with marks, if it might spell a control token.

        Parameters
        ----------
        compared : bool
            Whether the template may compare it with texts of its own: then it is marked only if it spells a whole one.
        """
        if len(said) > _SHORT:
            return self._marked(said, compared) if self._edges.search(said) else said
        key = said, compared  # tools have the same few keys and types, again and again
        if key not in self._known:
            self._known[key] = self._marked(*key)
        return self._known[key]

    def _marked(self, said: str, compared: bool) -> str:
        whole, essence = False, self._essence(said[:_SHORT])
        begins = essence.startswith(self._endings)
        within = ends = len(said) <= _SHORT and bool(essence) and essence in self._insides
        if self._first.search(said):
            essence = self._essence(said)
            whole = any(text in essence for text in self._wholes)
            ends = ends or essence.endswith(self._beginnings)
        if not whole and (compared or not (begins or within or ends)):
            return said
        self.used = True
        first, last = len(said) - len(said.lstrip()), len(said.rstrip())
        inner = self._first.sub(lambda found: found[0] + self.mark, said[first:last])
        before, behind = self.mark * (begins or within), self.mark * (ends or within)
        return said[:first] + before + inner + behind + said[last:]

    def in_value(self, given: Any, schema: bool = False) -> Any:
        """Return data with marks in its texts and keys; ``schema``: whether it is a tool."""
        if isinstance(given, str):
            return self.in_text(given)
        if isinstance(given, Mapping):
            return {
                self.in_text(key, compared=schema and key in _COMPARED): self.in_text(value, compared=True)
                if schema and key == "type" and isinstance(value, str)
                else self.in_value(value, schema)
                for key, value in given.items()
            }
        return [self.in_value(each, schema) for each in given] if isinstance(given, list | tuple) else given

    def in_message(self, message: Message) -> Message:
        """Return a message with marks in its texts, calls, and the call whose result it is."""
        return replace(
            message,
            content=self.in_text(message.content),
            calls=tuple(map(self._in_call, message.calls)),
            thinking=self.in_text(message.thinking),
            result_of=message.result_of and self._in_call(message.result_of),
        )

    def _in_call(self, call: ToolCall) -> ToolCall:
        text = None if call.text is None else self.in_text(call.text)
        return ToolCall(self.in_text(call.id), self.in_text(call.name), self.in_value(call.arguments), text)


def _new_mark() -> str:
    return "9" + "".join(secrets.choice("01234567") for _ in range(_DIGITS))


class _Thought(NamedTuple):
    """The thinking at the beginning of an assistant's message.

    Attributes
    ----------
    hidden : str
        The content for a template that reads thinking from it and does not print its marks as they stand.
    tried : str
        The content that tells whether a template is one.
    printed : tuple of str
        What the template prints of that if it is none.
    """

    hidden: str
    tried: str
    printed: tuple[str, str]

    @classmethod
    def of(cls, message: Message, marks: _Marks) -> "_Thought | None":
        """Return that of a message; None if there is none, or nothing in the content is marked."""
        begun = message.content.lstrip()
        pair = next((pair for pair in THINKING if begun.startswith(pair.opening)), None)
        if message.role != "assistant" or pair is None or marks.in_text(message.content) == message.content:
            return None
        thought, closing, behind = begun.removeprefix(pair.opening).partition(pair.closing)
        if not closing:
            return None
        thought, behind, own = marks.in_text(thought), marks.in_text(behind), _new_mark()
        return cls(
            f"{pair.opening}{thought}{closing}{behind}",
            f"{pair.opening}{own}{thought}{own}{closing}{behind}",
            (pair.opening + own, own + closing),
        )

    def is_in(self, text: str) -> bool:
        """Whether a template prints the marks of the thinking as they stand."""
        return any(part in text for part in self.printed)
