"""What is no answer, wherever it stands in one: a call as JSON, marks of a template, documentation, a raw result."""

from collections.abc import Collection, Sequence
from typing import Final

import regex

from tooldecoding.engines.logits import Tokens
from tooldecoding.tokens.token_table import TokenTable

_SPACE: Final = r"\s{0,64}+"
_FOUND: Final = regex.compile(
    rf"(?:```\w{{0,16}}+{_SPACE}(?:\[{_SPACE})?+|\[{_SPACE})?+\{{{{1,2}}+{_SPACE}"
    rf'(?:"name"{_SPACE}:{_SPACE}"(?P<name>[^"\\]{{1,256}}+)"{_SPACE},{_SPACE}'
    rf'"(?:(?:arguments|parameters)"{_SPACE}:{_SPACE}[\{{\[]|description"{_SPACE}:)'
    rf'|"type"{_SPACE}:{_SPACE}"function"{_SPACE},{_SPACE}"function"{_SPACE}:{_SPACE}\{{)'
    r"|(?<![^\s>])</?(?P<mark>tools|tool_calls?|tool_responses?|tool_results?|function_calls?|function_responses?"
    r"|function_results?|responses?|results?)>"
)
_SENTENCE: Final = regex.compile(r"[.!?…。！？)\"'”»](?:\s|$)|\n\s*$")
_NO_WORD: Final = tuple("{[<`|")
_ECHO: Final = 20
"""Characters, without white space, that tell the beginning of a result."""
_FENCE: Final = "```"


class NotWords:
    """Finds what is no answer while one is written.

    Small models write as an answer what they have read: ``<tool_response>`` with the result in it, or the call again.
    What the user or the system message speaks of stays: JSON, if they name it, and marks that they write.

    Parameters
    ----------
    names : collection of str
        The tools of which a call is no answer.
    said : sequence of str
        What the user and the system message say.
    results : sequence of str
        What tools have returned.
    """

    def __init__(self, table: TokenTable, names: Collection[str], said: Sequence[str], results: Sequence[str]) -> None:
        self._table = table
        self._names = names
        self._said = "\n".join(said).casefold()
        self._speaks_of_json = "json" in self._said
        self._results = ["".join(result.split()) for result in results if result.lstrip()[:1] in ("{", "[")]

    def find(self, answer: str, begin: int) -> tuple[int, bool] | None:
        """Return where something begins in an answer, from an offset on, that is none, and whether it is whole.

        None if nothing does: the text up to here is words.
        """
        if (echo := self._echo(answer)) is not None:
            return echo
        for match in _FOUND.finditer(answer, begin, partial=True):
            if match.start() == len(answer) or answer.count(_FENCE, 0, match.start()) % 2:
                continue  # quoted code stays
            if match.partial:
                return match.start(), False
            if self._is_none(match):
                return match.start(), True
        return None

    def _is_none(self, match: "regex.Match[str]") -> bool:
        if match["mark"] is not None:
            return f"<{match['mark']}" not in self._said and "xml" not in self._said
        return not self._speaks_of_json and (match["name"] is None or match["name"] in self._names)

    def _echo(self, answer: str) -> tuple[int, bool] | None:
        """Whether an answer begins as a result does that is JSON."""
        begun = "".join(answer.split())[:_ECHO]
        if self._speaks_of_json or not begun or not any(result.startswith(begun) for result in self._results):
            return None
        return len(answer) - len(answer.lstrip()), len(begun) == _ECHO

    @staticmethod
    def ends_sentence(before: str) -> bool:
        """Whether an answer may end with this text."""
        return _SENTENCE.search(before.rstrip(" ")[-2:]) is not None

    def otherwise(self) -> Tokens:
        """Return the tokens with which a sentence may go on: those that begin no JSON, no mark and no end."""
        return self._table.those("words", self._is_word)

    def _is_word(self, token: int, text: bytes) -> bool:
        return not self._table.is_special(token) and not text.decode(errors="ignore").lstrip().startswith(_NO_WORD)
