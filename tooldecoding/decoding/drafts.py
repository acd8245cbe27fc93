"""Draft tokens: speculative decoding by prompt lookup.

Most values stand in the prompt, and orders mostly agree. So the text that is likely to come next is looked up there,
and many of its tokens are tried in one forward pass. A draft decides nothing: the tokens that the model prefers are
taken, whatever was tried.
"""

import re
from collections import Counter
from collections.abc import Sequence

from lookup.dictionary import ParameterSpec
from lookup.errors import LiteralError
from lookup.grammar.value_grammar import ValueGrammar
from tooldecoding.decoding.compiled_tools import CompiledTool
from tooldecoding.decoding.value_state import ValueState
from tooldecoding.tokens.branch import Beginning

SHORTEST = 2
"""Characters of a value that must be written before they are looked up in the prompt."""
FROM_PROMPT = 40
"""Limit of characters that are expected because they stand in the prompt."""
_CHARACTERS_PER_TOKEN = 8
"""No tokenizer has more on average, so longer drafts would be cut anyway."""
_LOOKED_UP = 64
"""Limit of characters of a value's end that are looked up in the prompt."""
_WRITTEN_BEFORE = 8
"""Characters of a value's end that are looked up in the value itself, which may go round in circles."""
# [" of ["New Yo: looked up in the prompt is New Yo
_STARTS = re.compile(r".*['\"\[({:,]\s*", re.DOTALL)
# ...and of the prompt's New York" only rk is expected
_ENDS = re.compile(r"[\n\"']")


class Drafts:
    """Drafts for the values of one call, from the prompt and from what other branches have written or are writing.

    Parameters
    ----------
    draft_tokens : int
        Limit of tokens of a draft.

    Attributes
    ----------
    begun : Counter
        Key -> how many branches have begun its value.
    """

    def __init__(self, prompt: str, tool: CompiledTool, draft_tokens: int) -> None:
        self.prompt = prompt
        self._tool = tool
        self._longest = draft_tokens * _CHARACTERS_PER_TOKEN
        self.begun: Counter[str] = Counter()
        self._unfinished: dict[str, list[ValueState]] = {}
        self._finished: dict[str, Counter[str]] = {}
        self._quoted: dict[str, str] = {}
        notation = tool.call_format.notation
        self._closing_mark = "" if isinstance(notation, str) else notation.mark  # of a text, if it is more than a quote
        self._mark_parts = [self._closing_mark[:end] for end in range(1, len(self._closing_mark))]

    def watch(self, key: str, state: ValueState) -> None:
        """Note a value that a branch is writing."""
        self._unfinished.setdefault(key, []).append(state)

    def note(self, key: str, literal: str) -> None:
        """Note that a branch has finished the value of a key."""
        self._finished.setdefault(key, Counter())[literal] += 1

    def beginning(self, keys: Sequence[str]) -> Beginning:
        """Return what a branch behind the tool's bracket writes before the model decides, if these keys come next."""
        tool, text = self._tool, ""
        for number, key in enumerate(keys, 1):
            spec = tool.spec.parameter(key)
            grammar = tool.grammar(spec)
            text += (tool.call_format.separator if text else "") + tool.call_format.key(key)
            if grammar.choices is None:
                text += grammar.opener
                return Beginning(text.encode(), self.expected(spec, grammar.opener, keys[number:]))
            if len(grammar.choices) > 1:
                return Beginning(text.encode() + tool.members(spec, grammar.choices).expected(b""), "")
            text += grammar.choices[0]
        return Beginning(text.encode(), "")

    def expected(self, spec: ParameterSpec, written: str, next_keys: Sequence[str]) -> str:
        """Return the text that is expected behind ``written``, the beginning of a literal.

        That is the rest of the literal, and the keys that will be injected behind it with their values.
        """
        literal = self._finished_value(spec.name, written)
        if literal is None:
            longer = self._longest_partial(spec.name, written)
            return longer[len(written) :] + self._continuation(spec, longer)
        text, call_format = literal[len(written) :], self._tool.call_format
        agreed = len(self._finished[spec.name]) == 1
        for key in next_keys:
            if not agreed or len(text) > self._longest:
                return text
            value = self._finished_value(key, "")
            if value is None:
                value = self._longest_partial(key, self._tool.grammar(self._tool.spec.parameter(key)).opener)
            text += call_format.separator + call_format.key(key) + value
            agreed = len(self._finished.get(key, ())) == 1
        return text if self._tool.spec.optional else self._without_end(text)

    def _without_end(self, text: str) -> str:
        """Return the rest of a call's last value without the mark that closes it: nothing is decided behind that."""
        return text.removesuffix(self._closing_mark) if self._closing_mark else text.removesuffix("'").removesuffix('"')

    def _finished_value(self, key: str, written: str) -> str | None:
        """Return the most frequent literal of a key that begins with ``written``."""
        fitting = {text: n for text, n in self._finished.get(key, Counter()).items() if text.startswith(written)}
        return max(fitting, key=lambda text: fitting[text]) if fitting else None

    def _longest_partial(self, key: str, written: str) -> str:
        """Return the longest value of a key, begun with ``written``, that a branch is writing or has given up."""
        texts = (state.text for state in self._unfinished.get(key, ()))
        return max((text for text in texts if text.startswith(written)), key=len, default=written)

    def _continuation(self, spec: ParameterSpec, written: str) -> str:
        """Return what is expected behind the beginning of a literal that no order has finished yet."""
        grammar = self._tool.grammar(spec)
        if any(written.endswith(part, len(grammar.opener)) for part in self._mark_parts):
            return grammar.close(written)
        if written == grammar.opener:
            return self._last_quoted(spec.name, grammar)
        value = written.removeprefix(grammar.opener)
        return self._repetition(value) or self._prompt_lookup(value)

    def _last_quoted(self, key: str, grammar: ValueGrammar) -> str:
        """Return the last quoted text behind the key in the prompt, closed: in an earlier call, or a tool's result."""
        if key not in self._quoted:
            # city="Rome" and "city": "Rome" give Rome
            quoted = re.findall(rf"""\b{re.escape(key)}(?:=|["']: ?)["']([^"'\n]*)["']""", self.prompt)
            self._quoted[key] = _closed(quoted[-1], grammar) if quoted else ""
        return self._quoted[key]

    def _repetition(self, written: str) -> str:
        """Return what follows the last earlier occurrence of the end of ``written`` in itself, again and again."""
        end = written[-_WRITTEN_BEFORE:]
        place = written.rfind(end, 0, len(written) - 1)
        if len(end) < _WRITTEN_BEFORE or place < 0:
            return ""
        circle = written[place + len(end) :]
        return circle * (self._longest // len(circle) + 1)

    def _prompt_lookup(self, written: str) -> str:
        """Return what follows the last occurrence of the end of ``written`` in the prompt."""
        end = written[-_LOOKED_UP:]
        start = _STARTS.match(end)
        begun = end[start.end() :] if start else end
        if len(begun) < SHORTEST:
            return ""
        place = self.prompt.rfind(begun)
        if place < 0:
            return ""
        rest = self.prompt[place + len(begun) : place + len(begun) + FROM_PROMPT]
        return _ENDS.split(rest, maxsplit=1)[0]


def _closed(text: str, grammar: ValueGrammar) -> str:
    """Return a text with what closes it as a value; empty if it is none."""
    try:
        return text + grammar.close(grammar.opener + text)
    except LiteralError:
        return ""
