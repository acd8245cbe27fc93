"""Texts in which not everything that spells a control token is one, and their tokens.

A tokenizer makes a control token of each text that spells one. What a user or a tool says is text, whatever it spells;
so a prompt is cut inside of such a text, and its parts are tokenised one by one.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from transformers import PreTrainedTokenizerBase

from tooldecoding.formats.known_formats import MARKS, TURN_ENDS
from tooldecoding.tokens.token_texts import mistral_tokenizer

_ANCHORS: Final = ("\n", "a", "0")
"""Texts behind which the tokens of a part are found; no control token begins with one."""

_BRACKETED: Final = re.compile(r"[<\[{(].{1,80}[>\]})]", re.DOTALL)
_ELEMENT: Final = re.compile(r"</?[a-z][a-z0-9]{0,15}>")
"""As an element of HTML, which some vocabularies have as ordinary tokens."""


@dataclass(frozen=True)
class GuardedText:
    """A text in which no token crosses certain places.

    Attributes
    ----------
    text : str
    cuts : tuple of int
        These places, in order: indices of the characters behind them.
    """

    text: str
    cuts: tuple[int, ...]

    def __str__(self) -> str:
        return self.text

    @property
    def parts(self) -> list[str]:
        """The text between these places."""
        ends = (*self.cuts, len(self.text))
        return [self.text[start:end] for start, end in zip((0, *self.cuts), ends, strict=True)]


PromptText = str | GuardedText
"""A text for the model; a plain one if its tokenizer makes the right tokens of it."""


class ControlTexts:
    """What control tokens are called, found in texts as a tokenizer finds it.

    Parameters
    ----------
    texts : iterable of str
        Those of one character cannot be cut, and do not count.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = frozenset(text for text in texts if len(text) > 1)
        by_beginning: dict[str, set[int]] = {}
        for text in self.texts:
            by_beginning.setdefault(text[:2], set()).add(len(text))
        self._lengths = {beginning: sorted(lengths, reverse=True) for beginning, lengths in by_beginning.items()}
        self._beginning = any_of(text[0] for text in self.texts)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each control text; of those that begin at one place the longest."""
        behind = 0
        for found in self._beginning.finditer(text):
            start = found.start()
            if start < behind:
                continue
            for length in self._lengths.get(text[start : start + 2], ()):
                if text[start : start + length] in self.texts:
                    behind = start + length
                    yield start, behind
                    break

    def tokens_in(self, prompt: PromptText) -> list[str]:
        """Return the control texts of which a tokenizer makes tokens, in order."""
        parts = [prompt] if isinstance(prompt, str) else prompt.parts
        return [part[start:end] for part in parts for start, end in self.spans(part)]

    def cut(self, text: str, places: Sequence[int]) -> PromptText:
        """Return a text without a control token that crosses one of these places, which are in order."""
        cuts: list[int] = []
        uncut = [(0, len(text))]
        while uncut:
            start, end = uncut.pop()
            inside = []
            for first, last in self.spans(text[start:end]):
                number = bisect_right(places, start + first)
                if number < len(places) and places[number] < start + last:
                    inside.append(places[number])
            cuts += inside
            # a shorter control text may stand in a part of a longer one
            uncut += zip((start, *inside), (*inside, end), strict=True) if inside else ()
        return GuardedText(text, tuple(sorted(cuts))) if cuts else text

    def as_plain(self, text: str) -> PromptText:
        """Return a text without any control token."""
        return self.cut(text, range(1, len(text)))

    def with_said(self, prompt: PromptText, opening: str, said: str, closing: str) -> PromptText:
        """Return a prompt with plain text behind it, between two texts that may have control tokens."""
        before = str(prompt) + opening
        cuts = prompt.cuts if isinstance(prompt, GuardedText) else ()
        return self.cut(before + said + closing, (*cuts, *range(len(before), len(before + said) + 1)))


def any_of(characters: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of one of these characters; it matches nothing if there are none."""
    return re.compile("|".join(map(re.escape, sorted(set(characters)))) or "(?!)")


_known: "WeakKeyDictionary[PreTrainedTokenizerBase, tuple[Any, ControlTexts]]" = WeakKeyDictionary()


def control_texts(tokenizer: PreTrainedTokenizerBase) -> ControlTexts:
    """Return what the control tokens of a tokenizer are called.

    These are its special tokens, and of the other tokens that were added to its vocabulary those that its chat template
    writes, that mark calls, thinking or the end of a turn in any model, or that look so, as ``<|fim_middle|>`` and
    ``<tool_response>`` do. Ordinary texts, as several spaces or ``<table>``, are none.
    """
    state = (str(getattr(tokenizer, "chat_template", None) or ""), len(tokenizer))
    known = _known.get(tokenizer)
    if known is None or known[0] != state:
        known = _known[tokenizer] = (state, ControlTexts(_controls(tokenizer, state[0])))
    return known[1]


def _controls(tokenizer: PreTrainedTokenizerBase, template: str) -> set[str]:
    if mistral_tokenizer(tokenizer) is not None:
        return set()  # it reads no token in a text
    found = {*map(str, tokenizer.all_special_tokens)}
    marks = {*MARKS, *TURN_ENDS}
    for added in tokenizer.added_tokens_decoder.values():
        text = str(added.content)
        looks_so = _BRACKETED.fullmatch(text) and not _ELEMENT.fullmatch(text)
        written = text in template and len(text) > 2 and not text.isalnum() and not text.isspace()
        if added.special or text in marks or looks_so or written:
            found.add(text)
    return found


def encoded(prompt: PromptText, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Return the tokens of a text, without any that the tokenizer would add."""

    def encode(text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False))

    if isinstance(prompt, str):
        return encode(prompt)
    first, *others = prompt.parts
    known: dict[str, list[int]] = {}
    ids = encode(first)
    for part in others:
        if part not in known:
            known[part] = _inside_a_text(part, encode)
        ids += known[part]
    return ids


def _inside_a_text(part: str, encode: Callable[[str], list[int]]) -> list[int]:
    """Return the tokens of a part that begins inside of a text: many tokenizers write a space before a text."""
    for anchor in _ANCHORS:
        before, ids = encode(anchor), encode(anchor + part)
        if ids[: len(before)] == before:
            return ids[len(before) :]
    return encode(part)
