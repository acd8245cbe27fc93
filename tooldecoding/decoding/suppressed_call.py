"""A call that may not be made, at the beginning of an answer: the model begins with words instead."""

import re
from collections.abc import Collection
from typing import Final

import regex

from lookup.grammar.notations import is_json
from tooldecoding.decoding.dialect_search import is_schema
from tooldecoding.engines.logits import Tokens
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.dialects import Dialects
from tooldecoding.tokens.token_table import TokenTable

_SPACE: Final = r"\s{0,64}+"
_NO_OBJECT: Final = regex.compile(
    rf'(?:```\w{{0,16}}+{_SPACE})?+\{{{_SPACE}"name"{_SPACE}:{_SPACE}"[^"\\]{{1,256}}+"{_SPACE},'
    rf'{_SPACE}"arguments"{_SPACE}:{_SPACE}[^\s{{]'
)
"""A call whose arguments are no object, as ``{"name": "list_users", "arguments": ["anna", "bob"]}``."""

_FIRST_WORD: Final = re.compile(r"[^\W_]+[_.]")
"""Of a name, as ``find_`` of ``find_file``."""

_NO_TEXT: Final = 0xF3
"""The first byte of the characters that stand for special tokens."""


class SuppressedCalls:
    """Finds a call that may not be made at the beginning of an answer, and lets the answer begin otherwise.

    Small models write a call whatever they are asked. ``Hello!`` beside tools for the weather gives, with
    Qwen2.5-Coder-0.5B::

        {"name": "hello", "arguments": {"message": "Hello, how can I assist you today?"}}

    and, where the first token may not begin a call, ``Hello! How can I assist you today?``

    Parameters
    ----------
    names : collection of str
        The tools that may be called in any dialect; a call of another one is suppressed.
    own : str
        How calls of a format begin that are suppressed, too; empty if there is none.
    attempt : pattern, optional
        What makes a call of the text behind that; by default anything.
    must_speak : bool
        Whether an answer that would end without a word begins with words, too.
    """

    def __init__(
        self,
        dialects: Dialects,
        names: Collection[str] = (),
        own: str = "",
        attempt: "regex.Pattern[str] | None" = None,
        must_speak: bool = False,
    ) -> None:
        self._dialects = dialects
        self._names = names
        self._own = own
        self._attempt = attempt
        self.must_speak = must_speak

    def opened(self, answer: str) -> CallFormat | bool | None:
        """Whether an answer begins with a call that may not be made; None if it is too short to tell.

        Returns the format of the call if a documented tool is meant, and its name is misspelt: ``find_file``, where
        ``find_files`` is documented. Then a documented one can be chosen.
        """
        answer = answer.lstrip()
        if not answer:
            return None
        is_open = self._opened_in_own(answer)
        if is_open:
            return True
        opening = self._dialects.opening(answer, 0, True, lambda name, whole: not whole or name not in self._names)
        if opening is None:
            match = _NO_OBJECT.match(answer, partial=True)
            return is_open if match is None else None if match.partial else True
        found = opening.call_format
        if found is None:
            return None
        if not is_json(found.notation):
            return is_open  # code
        documents = False if opening.sure else is_schema(answer[opening.end :])
        if documents is None:
            return None
        return not documents and (found if self._is_misspelt(opening.name) else True)

    def _is_misspelt(self, name: str) -> bool:
        first = _FIRST_WORD.match(name)
        return first is not None and any(known.startswith(first[0]) for known in self._names)

    def _opened_in_own(self, answer: str) -> bool | None:
        own, attempt = self._own, self._attempt
        if not own or not answer.startswith(own):
            return None if own.startswith(answer) else False
        match = attempt and attempt.match(answer.removeprefix(own), partial=True)
        if match and match.partial:
            return None
        return attempt is None or match is not None


def first_words(table: TokenTable) -> Tokens:
    """Return the tokens that begin a sentence or a number.

    Calls, lists of calls, tags and fences begin with other characters. Where the model is sure of a call, what is left
    is noise, and parts of words are as likely as words: ``izr`` of Qwen2.5-Coder-0.5B, or ``JSONObject``.
    """
    return table.those("first words", lambda token, text: _begins_sentence(token, text.strip(), table))


def _begins_sentence(token: int, piece: bytes, table: TokenTable) -> bool:
    """Whether a token begins with a capital letter and goes on with small ones, or begins with a digit, or with what
    is neither ASCII nor a letter that has capitals: ``¿``, ``今``, a part of a character."""
    if not piece or piece[0] == _NO_TEXT or table.is_special(token):
        return False
    text = piece.decode(errors="ignore")
    if not text:
        return piece[0] >= 0x80
    is_capital = text[0].isupper() and (len(text) == 1 or text[1:].islower())
    return is_capital or text[0].isdigit() or not (text[0].isascii() or text[0].isupper() or text[0].islower())
