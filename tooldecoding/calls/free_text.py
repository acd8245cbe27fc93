"""Text mode: the model writes anything until it opens a call, ends its turn, or reaches a limit."""

from dataclasses import dataclass
from typing import NamedTuple

import regex

from tooldecoding.calls.name_trie import NameTrie
from tooldecoding.engines.steps import Steps
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.tokens.branch import Branch
from tooldecoding.tokens.special_texts import END

_NAME = r"""[^\s\[\](){}<>=,:'"]{1,128}+"""
_PYTHON_KEY = r"(?:\w[\w.-]{0,127}+=|\)\])"


_END = END.encode()


def attempt_pattern(call_format: CallFormat) -> "regex.Pattern[str]":
    """Return what counts as a call behind an opener that is text, even if its name is unknown: ``name(key=``."""
    bracket = regex.escape(call_format.bracket_of(0))
    return regex.compile(_NAME + bracket + (_PYTHON_KEY if call_format.bracket == "(" else ""))


class FreeText(NamedTuple):
    """What was written in text mode.

    Attributes
    ----------
    text : str
        The text before the call, the stop or the end.
    branch : Branch or None
        The branch on which a call is opened: its pending text ends with the opener and ``opened``. This is the given
        branch, or a fork that has read nothing behind the opener; then the given one is released. None without a call.
    opened : bytes
        The text behind the opener that belongs to the call.
    """

    text: str
    branch: Branch | None = None
    opened: bytes = b""


@dataclass
class _Opener:
    """An opener in the text: where the text behind it begins, and a fork that has read nothing behind it."""

    begin: int
    back: Branch | None = None


class TextMode:
    """The model writes until it opens a call, writes ``stop``, ends its turn, or reaches a limit of tokens.

    Every token is the model's likeliest: until a call is opened, the text is that of unconstrained greedy decoding.

    Parameters
    ----------
    opener : str, optional
        The text before a call; without it no call is opened.
    names : NameTrie, optional
        The names with their brackets, one of which must follow the opener. If the model calls an unknown name, it
        goes back to the opener, so that a known one can be chosen; anything else is text. Without names the opener
        itself opens a call.
    attempt : pattern, optional
        What counts as a call behind the opener even if its name is unknown.
    stop : str, optional
        Ends the text once there is more than white space before it. What the last token writes before it is kept.
    """

    def __init__(
        self,
        branch: Branch,
        opener: str | None,
        stop: str | None,
        names: NameTrie | None = None,
        attempt: "regex.Pattern[str] | None" = None,
    ) -> None:
        self._branch = branch
        self._opener = opener.encode() if opener else b""
        self._names = names
        self._attempt = attempt
        self._stop = stop
        self._written = b""
        self._openers: list[_Opener] = []

    def write(self, limit: int) -> Steps[FreeText]:
        """Let the model write at most ``limit`` tokens."""
        result = None
        self._branch.draft = self._expected
        for _ in range(limit):
            pick = yield from self._branch.free_token()
            if not pick.piece or pick.piece == _END:
                break
            before = len(self._written)
            self._written += pick.piece
            yield from self._find_openers(before)
            result = self._opened(before) or self._stopped(before)
            if result:
                break
            self._branch.take(pick, "free")
        self._branch.draft = None
        for opener in self._openers:
            if opener.back and not (result and result.branch is opener.back):
                opener.back.release()
        return result or FreeText(_text(self._written))

    def _expected(self) -> str:
        """Return the draft: the rest of a known name that the model has begun behind the last opener."""
        if not self._names or not self._openers:
            return ""
        return self._names.expected(self._written[self._openers[-1].begin :]).decode(errors="ignore")

    def _find_openers(self, before: int) -> Steps[None]:
        """Note the openers that end inside the last token, which begins at ``before``."""
        start, end = max(0, before - len(self._opener) + 1), self._stop_place()
        while self._opener and (place := self._written.find(self._opener, start)) >= 0 and (end < 0 or place < end):
            start = place + 1
            opener = _Opener(place + len(self._opener))
            self._openers.append(opener)
            if self._names:
                [_, opener.back] = yield from self._branch.forks(2)
                opener.back.draft = None
                opener.back.keep(self._written[before : opener.begin], "free")

    def _opened(self, before: int) -> FreeText | None:
        """Return the result if a call is open now."""
        for opener in self._openers:
            behind, text = self._written[opener.begin :], self._written[: opener.begin - len(self._opener)]
            known = self._names.covered(behind) if self._names else None
            if known or not self._names:
                _, size = known or (0, 0)
                self._branch.keep(self._written[before : opener.begin + size], "free")
                return FreeText(_text(text), self._branch, behind[:size])
            attempt = None
            if opener.back and self._attempt:
                attempt = self._attempt.match(behind.decode(errors="ignore"), partial=True)
            if attempt and not attempt.partial:
                self._branch.release()
                return FreeText(_text(text), opener.back)
            if opener.back and not attempt:
                opener.back.release()
                opener.back = None
        return None

    def _stopped(self, before: int) -> FreeText | None:
        """Return the result if the stop is written."""
        end = self._stop_place()
        if end < 0:
            return None
        self._branch.keep(self._written[before : max(before, end)], "free")
        return FreeText(_text(self._written[:end]))

    def _stop_place(self) -> int:
        """Return where the stop begins; -1 if it is not written."""
        blank = len(self._written) - len(self._written.lstrip())
        return self._written.find(self._stop.encode(), blank) if self._stop else -1


def _text(written: bytes) -> str:
    return written.decode(errors="replace")
