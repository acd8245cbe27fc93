"""Decodes one value: a choice among few literals, or a literal that the model writes freely."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from lookup.dictionary import ParameterSpec
from lookup.grammar.literal_values import read_value
from lookup.grammar.value_grammar import MAX_CLOSING, ValueGrammar
from tooldecoding.decoding.compiled_tools import CompiledTool
from tooldecoding.decoding.cut_values import LONG_CIRCLE, SHORT_CIRCLE, goes_in_circles, whole_part
from tooldecoding.decoding.drafts import Drafts
from tooldecoding.decoding.forgotten_escapes import with_escapes
from tooldecoding.decoding.value_state import ValueState
from tooldecoding.decoding.whole_numbers import number_in_full
from tooldecoding.options import DecodeOptions
from tooldecoding.tokens.branch import Branch, Pick
from voting import AT_LIMIT, STOPPED, CandidateValue

_NO_ROOM: Final = "the value does not fit in the model's context and is cut there"
_IN_CIRCLES: Final = "the value goes round in circles and is cut there"


class _Literal(NamedTuple):
    """A literal, the log-probabilities of the tokens that the model chose for it, and why it is cut, if it is.

    ``is_whole``: whether the text stands as it is, though it is cut; else what is whole of it does.
    """

    text: str
    logprobs: list[float]
    cut: str = ""
    is_whole: bool = False


class ValueDecoder:
    """Decodes the values of one call.

    Parameters
    ----------
    ended : callable
        Takes a key, and returns the longest literal, in characters, that an order has written to its end for it; 0 if
        none has.
    settled : callable
        Whether no order that is still decoded can change the vote.
    """

    def __init__(
        self,
        tool: CompiledTool,
        drafts: Drafts,
        options: DecodeOptions,
        ended: Callable[[str], int] = lambda key: 0,
        settled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._tool = tool
        self._drafts = drafts
        self._max_value_tokens = options.max_value_tokens
        self._max_tokens = options.max_tokens
        self._ended = ended
        self._settled = settled

    async def decode(
        self, branch: Branch, spec: ParameterSpec, left: int, next_keys: Sequence[str] = ()
    ) -> CandidateValue:
        """Decode the value behind a key.

        If it is cut, it is closed on the branch where it stands. One that is ``STOPPED`` is not closed: nothing more is
        decoded on this branch.

        Parameters
        ----------
        left : int
            Tokens that must stay free behind the value.
        next_keys : sequence of str
            Will be injected behind the value.
        """
        self._drafts.begun[spec.name] += 1
        grammar = self._tool.grammar(spec)
        if (choices := grammar.written_choices) is not None:
            members = _fitting(choices, _room(branch, left))
            number, logprobs = await branch.choose(self._tool.members(spec, members), as_written=True)
            cut = "" if len(members) == len(choices) else _NO_ROOM
            literal = _Literal(members[number], logprobs, cut, is_whole=True)
        else:
            literal = await self._write(branch, spec, grammar, left, next_keys)
        mean = sum(literal.logprobs) / len(literal.logprobs) if literal.logprobs else 0.0
        chosen, notation = max(1, len(literal.logprobs)), self._tool.call_format.notation
        if literal.cut and not literal.is_whole:
            value, text = None, ""
            if literal.cut != STOPPED:
                value, text = whole_part(literal.text, spec, grammar, notation)
        else:
            text = grammar.with_plain_integers(literal.text)
            value = read_value(text, spec, notation)
            self._drafts.note(spec.name, literal.text)
        return CandidateValue(spec.name, value, text, mean, bool(literal.cut), chosen, literal.cut)

    async def _write(
        self, branch: Branch, spec: ParameterSpec, grammar: ValueGrammar, left: int, next_keys: Sequence[str]
    ) -> _Literal:
        """Let the model write a literal."""
        branch.write(grammar.opener)
        state = ValueState(grammar, self._tool.call_format)
        self._drafts.watch(spec.name, state)
        branch.draft = lambda: "" if state.tail else self._drafts.expected(spec, state.text, next_keys)
        logprobs: list[float] = []
        changed = cut = ""
        while not state.closed and not cut:
            if self._is_decided(spec.name, state.text):
                branch.draft = None
                return _Literal(state.text, logprobs, STOPPED)
            if not state.limit(_room(branch, left)):
                cut = _NO_ROOM
                break
            is_over = self._is_over(branch, len(logprobs)) and not state.finish_character()
            pick = await branch.next_token(state)
            if state.is_crowded or (is_over and not state.ends_with(pick.piece)):
                cut = _NO_ROOM if state.is_crowded else AT_LIMIT
                break
            number = await number_in_full(branch, state, pick, self._drafts.prompt)
            if number is not None and number.ends:
                state.end_number()
                continue
            if number is not None and not number.piece:
                cut = number.why
                break
            changed = changed or (number.why if number else "")
            instead = number.piece if number else await with_escapes(branch, state, pick, self._drafts.prompt)
            instead = instead or _closing(branch, state, pick)
            logprobs.append(pick.logits.logprob(pick.logits.best if instead else pick.token))
            kept = state.write(instead or pick.piece)
            if state.closed or instead:
                branch.keep(kept, "free")
            else:
                branch.take(pick, "free")
            if number is not None and not number.why:
                state.end_number()
            least = SHORT_CIRCLE if self._ended(spec.name) else LONG_CIRCLE
            if not state.closed and goes_in_circles(state.text, least, self._drafts.prompt):
                cut = _IN_CIRCLES
        branch.draft = None
        text = state.text
        if cut:
            branch.write(state.cut_off())
        return _Literal(text, logprobs, cut or changed, is_whole=not cut)

    def _is_over(self, branch: Branch, written: int) -> bool:
        """Whether a value has as many tokens as it may have, or the answer has."""
        most, whole = self._max_value_tokens, self._max_tokens
        return (most is not None and written >= most) or (whole is not None and len(branch.ids) >= whole)

    def _is_decided(self, key: str, text: str) -> bool:
        """Whether the vote is settled, and a value is certainly another one than those that have ended."""
        return self._settled() and len(text) > self._ended(key) + _LONGER


_LONGER: Final = 16
"""Characters by which a value is longer than all that have ended, before its order is stopped: so it is another one."""


def _closing(branch: Branch, state: ValueState, pick: Pick) -> bytes | None:
    """Return the quote with which the model closes a text, if what it writes behind the quote is refused; else None.

    A model that takes the arguments for nested ones ends with ``"}}}}``: the text ends there, and does not go on with
    what is likely else. A letter behind the quote may make it an apostrophe.
    """
    wanted, pending = branch.table.texts[pick.logits.best] or b"", branch.pending.text
    piece = wanted[len(pending) :] if pick.token != pick.logits.best and wanted.startswith(pending) else b""
    if piece[:1] not in _QUOTES or len(piece) < 2 or piece[1:].decode(errors="replace")[0].isalnum():
        return None
    return state.kept(piece[:1]) if state(piece) is None and state.ends_with(piece[:1]) else None


_QUOTES: Final = (b'"', b"'")


def _room(branch: Branch, left: int) -> int:
    """Return how many tokens a value may take so that ``left`` stay free."""
    return MAX_CLOSING if branch.room_behind is None else branch.room_behind - left


def _fitting(literals: tuple[str, ...], room: int) -> tuple[str, ...]:
    """Return the literals that fit in a room, a token for each byte."""
    fitting = tuple(literal for literal in literals if len(literal.encode()) <= room)
    return literals if len(fitting) == len(literals) else fitting
