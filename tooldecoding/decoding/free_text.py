"""Text mode: the model writes anything until it opens a call, ends its turn, or reaches a limit."""

import codecs
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import regex

from lookup.languages.codepoints import RESERVED
from tooldecoding.decoding.dialect_search import DialectSearch, is_schema
from tooldecoding.decoding.name_trie import NameTrie
from tooldecoding.decoding.not_words import NotWords
from tooldecoding.decoding.suppressed_call import SuppressedCalls, first_words
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.dialects import Opening
from tooldecoding.formats.thinking import Thinking
from tooldecoding.tokens.branch import Branch, Choose
from tooldecoding.tokens.token_texts import END
from tooldecoding.tokens.trie import Trie

Limit = Callable[[], int]
"""Returns how many tokens may be written from here on."""

_END: Final = END.encode()
_MOST_RETURNS: Final = 3
"""How often an answer goes back to words; then it ends where it leaves them."""
# get_wether of [get_wether(city=
_NAME = r"""[^\s\[\](){}<>=,:'"]{1,128}+"""
# city= behind [get_wether( or the )] of a call without keys; no sentence holds them: [see (below)
_PYTHON_KEY = r"(?:\w[\w.-]{0,127}+=|\)\])"
# get_ of [get_wether, where get_weather is known, and the t where they part; a sentence has a space there
_FIRST_WORD = re.compile(rb"[^\s_.]+[_.]")
_GOES_ON = re.compile(rb"[\w='\"({]")
# [get(get( and [get(), begin calls without keys, again and again
_NESTED_CALL = regex.compile(_NAME + r"\((?:\w[\w.-]{0,127}+\(|\),)")


def attempt_pattern(call_format: CallFormat) -> "regex.Pattern[str]":
    """Return what counts as a call behind an opener that is text, even if its name is unknown: ``name(key=``."""
    bracket = regex.escape(call_format.bracket_of(0))
    return regex.compile(_NAME + bracket + (_PYTHON_KEY if call_format.bracket == "(" else ""))


class FreeText(NamedTuple):
    """What was written in text mode.

    Attributes
    ----------
    text : str
        The text before the call, the stop or the end, thinking included.
    branch : Branch or None
        The branch on which a call is opened: its pending text ends with the opener and ``opened``. This is the given
        branch, or a fork that has read nothing behind the opener; then the given one is released. None without a call.
    opened : bytes
        The text behind the opener that belongs to the call.
    cut : bool
        Whether the text ended at its limit.
    dialect : CallFormat or None
        The format of the call, if it is not that of the rules.
    """

    text: str
    branch: Branch | None = None
    opened: bytes = b""
    cut: bool = False
    dialect: CallFormat | None = None


@dataclass(frozen=True)
class TextRules:
    """What ends free text.

    Attributes
    ----------
    opener : str
        The text before a call; if it is empty, no call is opened.
    names : NameTrie, optional
        The names with their brackets, one of which must follow the opener. If the model begins its answer with an
        opener, and calls an unknown name or goes on otherwise behind the first word of a known one, it goes back to
        the opener, so that a known one can be chosen; anything else is text, but for an unknown name behind an opener
        that no sentence holds. Without names the opener itself opens a call.
    attempt : pattern, optional
        What counts as a call behind the opener even if its name is unknown.
    quotable : bool
        Whether sentences may hold the opener, as a bracket: behind one, an unknown name is text.
    line_end : str, optional
        Ends the text once there is more than white space before it. What the last token writes before it is kept.
    stops : sequence of str
        The first of them ends the text. One that stands in a call, or in the white space before a call that begins the
        answer, does not; where a call may still come of what is written, that is waited for.
    thinking : sequence of Thinking
        The marks of thinking, as the tokenizer writes them. No call is opened in it, and no stop ends it. If it is
        never closed and nothing else comes, it is closed, once, and the model goes on behind it.
    opened_thinking : Thinking, optional
        The thinking that the prompt has opened.
    chat : bool
        Whether the prompt ends as those of chat models do, so that the model may begin to think.
    search : callable, optional
        Makes what finds calls that do not begin as the format's; see ``tooldecoding.formats.dialects``.
    suppressed : SuppressedCalls, optional
        Calls that may not be made: an answer that begins with one goes back, and begins with words.
    not_words : NotWords, optional
        What is no answer: behind a sentence it ends the text, else the answer goes back, and on with words.
    before_words : callable, optional
        Is awaited, once, where the answer is certain to begin with words, and before they are shown. If it returns
        true, the text ends before them.
    """

    opener: str = ""
    names: NameTrie | None = None
    attempt: "regex.Pattern[str] | None" = None
    quotable: bool = False
    line_end: str | None = None
    stops: Sequence[str] = ()
    thinking: Sequence[Thinking] = ()
    opened_thinking: Thinking | None = None
    chat: bool = False
    search: Callable[[], DialectSearch] | None = None
    suppressed: SuppressedCalls | None = None
    not_words: NotWords | None = None
    before_words: Callable[[], Awaitable[bool]] | None = None


@dataclass
class _Opener:
    """An opener in the text: where the text behind it begins, and a fork that has read nothing behind it."""

    begin: int
    back: Branch | None = None


@dataclass
class _First:
    """Where the first word of an answer begins, or what may be no word, and a fork that has not read it."""

    begin: int
    back: Branch


@dataclass
class _DialectCall:
    """A call that is opened in a dialect, and a fork that has read nothing behind it where more must be seen."""

    opening: Opening
    back: Branch | None


class TextMode:
    """The model writes until something of ``rules`` happens, it ends its turn, or reaches a limit of tokens.

    Parameters
    ----------
    choose : Choose, optional
        Chooses each token. By default it is the model's likeliest: until a call is opened, the text is that of
        unconstrained greedy decoding.
    show : callable, optional
        Called with the text so far, up to where it is certain to be text.
    """

    def __init__(
        self, branch: Branch, rules: TextRules, choose: Choose | None = None, show: Callable[[str], None] | None = None
    ) -> None:
        self._branch = branch
        self._rules = rules
        self._opener = rules.opener.encode()
        self._choose = choose
        self._show = show
        self._written = b""
        self._begin = 0  # where the answer begins, behind the thinking
        self._thinks = False
        self._openers: list[_Opener] = []
        self._search = None if rules.search is None else rules.search()
        self._dialect_calls: list[_DialectCall] = []
        self._suppressed = rules.suppressed
        """None once the answer has begun with something else."""
        self._first: _First | None = None
        self._doubt: _First | None = None
        self._words_to = 0  # up to here the answer is words
        self._returned = 0
        self._asks_before_words = rules.before_words

    async def write(
        self, text_limit: Limit, thinking_limit: Limit = lambda: 0, room: Limit = lambda: sys.maxsize
    ) -> FreeText:
        """Let the model write; each thinking has a limit of its own.

        ``room`` is for both: where it ends within a thinking, this stays open.
        """
        result, cut, only = None, True, None
        thinking, limit, unclosed = self._rules.opened_thinking, text_limit(), 0
        self._branch.draft = self._expected
        while limit > 0:
            if thinking:
                unclosed += await self._think(thinking, thinking_limit(), room)
                if unclosed > 1:
                    cut = False
                    break
                thinking, limit = None, 0 if self._thinks else text_limit()
                continue
            pick = await self._branch.free_token(self._choose, only)
            limit -= 1
            before = len(self._written)
            if not pick.piece or pick.piece == _END:
                if only is None and self._must_speak:
                    only = first_words(self._branch.table)
                    continue
                result, cut = await self._in_dialect(before, ended=True), False
                if result is None and self._answer.strip() and await self._before_words():
                    result = FreeText(_text(self._written[: self._begin]))
                break
            self._written += pick.piece
            otherwise = await self._begins_otherwise(before)
            if otherwise is True:
                only = first_words(self._branch.table)
                continue
            if otherwise:
                result = otherwise
                break
            only = None
            await self._find_openers(before)
            result = self._opened(before) or await self._in_dialect(before) or self._stopped(before)
            left = not result and await self._leaves_words(before)
            if left is True:
                words = self._rules.not_words if self._answer.strip() else None
                only = first_words(self._branch.table) if words is None else words.otherwise()
                continue
            result = result or left or None
            if result:
                break
            if self._are_words() and await self._before_words():
                result = FreeText(_text(self._written[: self._begin]))
                break
            self._branch.take(pick, "free")
            self._show_text()
            thinking = self._begun_thinking()
        self._branch.draft = None
        # at the limit, what has begun as a call is none of the text, unless sentences may hold it
        kept = max(self._begin, self._begun_call) if cut and not self._rules.quotable and not self._thinks else None
        self._release_all_but(None if result is None else result.branch)
        if result is None and not self._thinks and (end := self._stop_place()) >= 0:
            return FreeText(_text(self._written[:end]))
        return result or FreeText(_text(self._written[:kept]), cut=cut)

    def _are_words(self) -> bool:
        """Whether the answer is certain to begin with words."""
        return bool(self._written[self._begin : self._possible_call].strip())

    async def _before_words(self) -> bool:
        ask, self._asks_before_words = self._asks_before_words, None
        return ask is not None and await ask()

    @property
    def branch(self) -> Branch:
        """The branch that has the text: the given one, or a fork of it if the answer began otherwise."""
        return self._branch

    def _release_all_but(self, used: Branch | None) -> None:
        """Release the forks that may still be gone back to."""
        backs = [opener.back for opener in self._openers] + [call.back for call in self._dialect_calls]
        for back in (*backs, self._first and self._first.back, self._doubt and self._doubt.back):
            if back and back is not used:
                back.release()
        self._openers, self._dialect_calls, self._first, self._doubt = [], [], None, None

    @property
    def _must_speak(self) -> bool:
        suppressed = self._suppressed
        return suppressed is not None and suppressed.must_speak and not self._answer.strip()

    async def _begins_otherwise(self, before: int) -> FreeText | bool:
        """Go back if the answer begins with a call that may not be made; whether it did.

        Returns the result if a documented tool is meant.
        """
        if self._suppressed is None or not self._answer.strip():
            return False
        opened = self._suppressed.opened(self._answer)
        if opened is not False and self._first is None:
            [_, back] = await self._branch.forks(2)
            back.draft = None
            self._first = _First(before, back)
        if opened is None:
            return False
        first, self._first, self._suppressed = self._first, None, None
        if first is None:
            return False
        if not opened:
            first.back.release()
            return False
        self._release_all_but(None)
        self._branch.release()
        self._branch, self._written = first.back, self._written[: first.begin]
        if isinstance(opened, CallFormat):
            self._branch.write(opened.opener)
            return FreeText(_text(self._written), self._branch, dialect=opened)
        self._branch.draft = self._expected
        self._answer_begins(self._begin)
        self._suppressed = None
        return True

    async def _leaves_words(self, before: int) -> FreeText | bool:
        """Go back if the last token, which begins at ``before``, makes something of the answer that is no answer.

        Returns whether it did; the result if the text ends there.
        """
        if self._rules.not_words is None or self._thinks:
            return False
        answer = self._answer
        found = self._rules.not_words.find(answer, self._words_to)
        if found is None:
            self._words_to = len(answer)
            if self._doubt is not None:
                self._doubt.back.release()
                self._doubt = None
            return False
        start, whole = found
        if self._doubt is None:
            [_, back] = await self._branch.forks(2)
            back.draft = None
            place = max(before, self._offset(start))
            back.keep(self._written[before:place], "free")
            self._doubt = _First(place, back)
        held = None if self._search is None else self._search.held
        call = min(self._begun_call, len(self._written) if held is None else self._offset(held))
        if not whole or call <= self._offset(start):
            return False
        doubt, self._doubt = self._doubt, None
        self._release_all_but(None)
        self._branch.release()
        self._branch, self._written = doubt.back, self._written[: doubt.begin]
        self._branch.draft = self._expected
        self._returned += 1
        begun = self._answer
        if begun.strip() and (self._returned > _MOST_RETURNS or self._rules.not_words.ends_sentence(begun)):
            return FreeText(_text(self._written))
        self._words_to = len(begun)
        self._search = None if self._rules.search is None else self._rules.search()
        return self._returned <= _MOST_RETURNS

    async def think_first(self, call_opener: str, thinking_limit: Limit) -> FreeText:
        """Let the model think if it wants to before a call that it must write; the result has the branch behind it.

        It wants to if the prompt has opened its thinking, or if its likeliest token begins so.
        """
        thinking = self._rules.opened_thinking
        if thinking is None and thinking_limit() and self._may_think():
            [branch, self._branch] = await self._branch.forks(2)  # the end of the prompt stays pending on one
            thinking = await self._wanted_thinking(call_opener)
            if thinking is None:
                self._branch.release()
                return FreeText("", branch)
            branch.release()
        if thinking is None:
            return FreeText("", self._branch)
        await self._think(thinking, thinking_limit())
        if not self._written.endswith(thinking.behind.encode()):
            self._force(thinking.behind)
        return FreeText(_text(self._written), self._branch)

    def _may_think(self) -> bool:
        """Whether the prompt is a chat's, has not closed the thinking, and the tokenizer has a token for its mark."""
        before = (self._branch.pending.context + self._branch.pending.text).rstrip()
        if not self._rules.chat or any(before.endswith(t.closing.encode()) for t in self._rules.thinking):
            return False
        return any(ord(t.opening[0]) in RESERVED for t in self._rules.thinking)

    async def _wanted_thinking(self, call_opener: str) -> Thinking | None:
        """Return the thinking that the model begins."""
        possible = [thinking for thinking in self._rules.thinking if ord(thinking.opening[0]) in RESERVED]
        pick = await self._branch.free_token()
        thinking = next((t for t in possible if pick.piece and t.opening.encode().startswith(pick.piece)), None)
        if thinking is None:
            return None
        if call_opener.encode().startswith(pick.piece):  # both begin with this token
            choices = Trie(self._branch.table, [thinking.opening, call_opener])
            number, _ = await self._branch.choose(choices)
            if number:
                return None
            self._written += thinking.opening.encode()
        else:
            self._force(thinking.opening)
        return thinking

    async def _think(self, thinking: Thinking, limit: int, room: Limit | None = None) -> bool:
        """Let the model write its thinking, and close it where the model does not; whether it has ended its turn.

        It stays open if that leaves no ``room`` for an answer.
        """
        start, closing, ended = len(self._written), thinking.closing.encode(), False
        self._thinks = True
        for _ in range(limit):
            pick = await self._branch.free_token(self._choose)
            ended = not pick.piece or pick.piece == _END
            if ended:
                break
            self._written += pick.piece
            self._branch.take(pick, "free")
            self._show_text()
            place = self._written.find(closing, start)
            if place >= 0:
                self._answer_begins(place + len(closing))
                return False
        end = (thinking.closing + thinking.behind).encode()
        if room is not None and room() <= len(self._branch.table.encode_after(self._written, end)):
            return ended
        self._force(thinking.closing + thinking.behind)
        self._answer_begins(len(self._written))
        return ended

    def _answer_begins(self, place: int) -> None:
        self._begin = place
        self._thinks = False
        self._search = None if self._rules.search is None else self._rules.search()
        self._suppressed = self._rules.suppressed
        self._words_to = 0
        for doubtful in filter(None, (self._first, self._doubt)):
            doubtful.back.release()
        self._first = self._doubt = None

    def _force(self, text: str) -> None:
        self._branch.write(text)
        self._written += text.encode()

    def _begun_thinking(self) -> Thinking | None:
        """Return the thinking that the answer begins with, if it begins so."""
        answer = self._written[self._begin :].lstrip()
        for thinking in self._rules.thinking:
            behind = thinking.behind.strip().encode()
            begun = answer.removeprefix(behind) if self._begin else answer
            if begun.startswith(thinking.opening.encode()):
                return thinking
        return None

    def _show_text(self) -> None:
        """Tell what is certain to be text: no opener, stop or end of a line may begin in it."""
        if self._show is None:
            return
        certain, stop = self._possible_call, -1 if self._thinks else self._stop_place()
        if not self._written[self._begin :].strip():  # a thinking may come behind it
            certain = self._begin
        certain = certain if stop < 0 else min(certain, stop)
        marks = [mark for thinking in self._rules.thinking for mark in (thinking.opening, thinking.closing)]
        for end in (text.encode() for text in (*self._rules.stops, *marks)):
            certain = min(certain, len(self._written) - self._begun(end))
        self._show(codecs.getincrementaldecoder("utf-8")("replace").decode(self._written[:certain]))

    def _begun(self, text: bytes) -> int:
        """Return how much of the beginning of a text ends what is written."""
        return next(
            (n for n in range(min(len(text), len(self._written)), 0, -1) if self._written.endswith(text[:n])), 0
        )

    @property
    def _begun_call(self) -> int:
        """Where the format's opener begins, if a call may still come of it; the end of the text if not."""
        places = [opener.begin - len(self._opener) for opener in self._openers if opener.back is not None]
        return min([*places, len(self._written) - self._begun(self._opener)])

    @property
    def _possible_call(self) -> int:
        """Where something begins that may still become a call, or a thinking; the end of the text if nothing does."""
        places = [self._begun_call]
        if self._search is not None and self._search.held is not None:
            places.append(self._offset(self._search.held))
        places += [doubtful.begin for doubtful in (self._first, self._doubt) if doubtful is not None]
        answer = self._written[self._begin :].lstrip()
        if answer and any(thinking.opening.encode().startswith(answer) for thinking in self._rules.thinking):
            places.append(self._begin)
        return max(self._begin, min(places))

    def _expected(self) -> str:
        """Return the draft: the rest of a known name that the model has begun behind the last opener."""
        names = self._rules.names
        if self._search is not None and (expected := self._search.expected(self._answer)):
            return expected
        if not names or not self._openers:
            return ""
        return names.expected(self._written[self._openers[-1].begin :]).decode(errors="ignore")

    async def _find_openers(self, before: int) -> None:
        """Note the openers that end inside the last token, which begins at ``before``."""
        start = max(self._begin, before - len(self._opener) + 1)
        while self._opener and (place := self._written.find(self._opener, start)) >= 0 and self._stop_place(place) < 0:
            start = place + 1
            opener = _Opener(place + len(self._opener))
            self._openers.append(opener)
            if self._rules.names:
                [_, opener.back] = await self._branch.forks(2)
                opener.back.draft = None
                opener.back.keep(self._written[before : opener.begin], "free")

    @property
    def _answer(self) -> str:
        """What is written behind the thinking; bytes that are no characters, or not yet, count one each."""
        return self._written[self._begin :].decode(errors="surrogateescape")

    def _offset(self, place: int) -> int:
        """Return where a character of the answer stands in what is written."""
        return self._begin + len(self._answer[:place].encode(errors="surrogateescape"))

    async def _in_dialect(self, before: int, ended: bool = False) -> FreeText | None:
        """Return the result if a call is open now that does not begin as the format's; see ``_opened``."""
        search, answer = self._search, self._answer + "\n" * ended
        if search is None:
            return None
        for opening in search.read(answer):
            back = None
            if not opening.sure:  # what follows tells, and is then written under constraint
                [_, back] = await self._branch.forks(2)
                back.draft = None
                back.keep(self._written[before : self._offset(opening.end)], "free")
            self._dialect_calls.append(_DialectCall(opening, back))
        for call in list(self._dialect_calls):
            is_call = search.is_call(call.opening, answer)
            if is_call and self._stop_place(self._offset(call.opening.start)) < 0:
                return self._called(call, before)
            if is_call is False:
                self._dialect_calls.remove(call)
                if call.back is not None:
                    call.back.release()
        return None

    def _called(self, call: _DialectCall, before: int) -> FreeText:
        """Return the result for an opening; the white space behind its bracket is written as the dialect has it."""
        (start, end, name, _, dialect), branch = call.opening, call.back
        assert dialect is not None
        if branch is None:
            branch = self._branch
            branch.keep(self._written[before : self._offset(end)], "free")
        else:
            self._branch.release()
        opened = name + dialect.bracket
        branch.write((dialect.opener + opened)[end - start :])
        return FreeText(_text(self._written[: self._offset(start)]), branch, opened.encode(), dialect=dialect)

    def _opened(self, before: int) -> FreeText | None:
        """Return the result if a call is open now."""
        names, attempts = self._rules.names, self._rules.attempt
        for opener in list(self._openers):
            behind, text = self._written[opener.begin :], self._written[: opener.begin - len(self._opener)]
            known = names.called(behind) if names else None
            if known or not names:
                _, size = known or (0, 0)
                if not opener.back or not self._rules.quotable or not behind[:size].endswith(b"{"):
                    self._branch.keep(self._written[before : opener.begin + size], "free")
                    return FreeText(_text(text), self._branch, behind[:size])
                if (documents := is_schema(behind[size:].decode(errors="ignore"))) is False:
                    self._branch.release()
                    opener.back.write(behind[:size].decode())
                    return FreeText(_text(text), opener.back, behind[:size])
                if documents:
                    opener.back.release()
                    self._openers.remove(opener)
                continue
            attempt, begins = None, not text[self._begin :].strip()
            if opener.back and attempts:
                attempt = attempts.match(behind.decode(errors="ignore"), partial=True)
            if attempt and not attempt.partial and not begins and self._rules.quotable:
                attempt = None
            misspelt = opener.back and begins and self._is_misspelt_call(behind)
            if misspelt or (attempt and not attempt.partial):
                self._branch.release()
                return FreeText(_text(text), opener.back)
            if opener.back and not attempt:
                opener.back.release()
                opener.back = None
        return None

    def _is_misspelt_call(self, behind: bytes) -> bool:
        """Whether the text behind an opener can become neither a call of a known name nor a sentence.

        It leaves the known names after the first word of one, ``[get_wether``, or calls without keys: ``[get(get(``.
        """
        size = self._rules.names.agreeing(behind) if self._rules.names else 0
        left = _FIRST_WORD.match(behind[:size]) is not None and _GOES_ON.match(behind, size) is not None
        return left or _NESTED_CALL.match(behind.decode(errors="ignore")) is not None

    def _stopped(self, before: int) -> FreeText | None:
        """Return the result if the text is stopped, and neither a call nor a thinking can come of what stops it."""
        end = -1 if self._begun_thinking() else self._stop_place(self._possible_call)
        if end < 0:
            return None
        self._branch.keep(self._written[before : max(before, end)], "free")
        return FreeText(_text(self._written[:end]))

    def _stop_place(self, before: int | None = None) -> int:
        """Return where the first stop begins; -1 if there is none.

        ``before`` is where a call begins, or may begin: only stops that end before it count, and white space alone
        before a call is none of the text.
        """
        if not self._rules.stops and not self._rules.line_end:
            return -1
        answer = self._written[self._begin : before]
        begin = len(answer) - len(answer.lstrip())
        if before is not None and begin == len(answer) and (self._opener or self._search):
            return -1
        # white space behind the thinking is the model's way to part it from the answer
        ends = [(stop, begin if self._begin else 0) for stop in self._rules.stops]
        if self._rules.line_end:
            ends.append((self._rules.line_end, begin))
        places = (answer.find(end.encode(), start) for end, start in ends)
        return min((self._begin + place for place in places if place >= 0), default=-1)


def _text(written: bytes) -> str:
    return written.decode(errors="replace")
