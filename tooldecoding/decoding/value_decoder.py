"""Decodes one value: a choice among few literals, or a literal that the model writes freely."""

from collections.abc import Sequence
from typing import NamedTuple

from lookup.dictionary import ParameterSpec
from lookup.grammar.literal_values import read_value
from lookup.grammar.value_grammar import MAX_CLOSING, ValueGrammar
from tooldecoding.decoding.compiled_tools import CompiledTool
from tooldecoding.decoding.drafts import Drafts
from tooldecoding.decoding.forgotten_escapes import with_escapes
from tooldecoding.decoding.value_state import ValueState
from tooldecoding.tokens.branch import Branch
from voting import CandidateValue


class _Literal(NamedTuple):
    """A literal, the log-probabilities of the tokens that the model chose for it, and whether it was cut off."""

    text: str
    logprobs: list[float]
    truncated: bool = False


class ValueDecoder:
    """Decodes the values of one call.

    Parameters
    ----------
    max_tokens : int
        A value that is written freely is closed behind so many tokens.
    """

    def __init__(self, tool: CompiledTool, drafts: Drafts, max_tokens: int) -> None:
        self._tool = tool
        self._drafts = drafts
        self._max_tokens = max_tokens

    async def decode(
        self, branch: Branch, spec: ParameterSpec, left: int, next_keys: Sequence[str] = ()
    ) -> CandidateValue:
        """Decode the value behind a key.

        Parameters
        ----------
        left : int
            Tokens that must stay free behind the value.
        next_keys : sequence of str
            Will be injected behind the value.
        """
        self._drafts.begun[spec.name] += 1
        grammar = self._tool.grammar(spec)
        if grammar.choices is not None:
            members = _fitting(grammar.choices, _room(branch, left))
            number, logprobs = await branch.choose(self._tool.members(spec, members), as_written=True)
            literal = _Literal(members[number], logprobs)
        else:
            literal = await self._write(branch, spec, grammar, left, next_keys)
        self._drafts.note(spec.name, literal.text)
        mean = sum(literal.logprobs) / len(literal.logprobs) if literal.logprobs else 0.0
        value = read_value(literal.text, spec, self._tool.call_format.notation)
        chosen = max(1, len(literal.logprobs))
        return CandidateValue(spec.name, value, literal.text, mean, literal.truncated, chosen)

    async def _write(
        self, branch: Branch, spec: ParameterSpec, grammar: ValueGrammar, left: int, next_keys: Sequence[str]
    ) -> _Literal:
        """Let the model write a literal."""
        branch.write(grammar.opener)
        state = ValueState(grammar, self._tool.call_format)
        self._drafts.watch(spec.name, state)
        branch.draft = lambda: "" if state.tail else self._drafts.expected(spec, state.text, next_keys)
        logprobs: list[float] = []
        while True:
            if not state.limit(_room(branch, left)):
                branch.write(state.cut_off())
                break
            pick = await branch.next_token(state)
            escaped = await with_escapes(branch, state, pick, self._drafts.prompt)
            logprobs.append(pick.logits.logprob(pick.logits.best if escaped else pick.token))
            kept = state.write(escaped or pick.piece)
            if state.closed or escaped:
                branch.keep(kept, "free")
            else:
                branch.take(pick, "free")
            if state.closed:
                break
            if len(logprobs) >= self._max_tokens and not state.finish_character():
                branch.write(state.cut_off())
                break
        branch.draft = None
        return _Literal(state.text, logprobs, not state.closed)


def _room(branch: Branch, left: int) -> int:
    """Return how many tokens a value may take so that ``left`` stay free."""
    return MAX_CLOSING if branch.room_behind is None else branch.room_behind - left


def _fitting(literals: tuple[str, ...], room: int) -> tuple[str, ...]:
    """Return the literals that fit in a room, a token for each byte."""
    fitting = tuple(literal for literal in literals if len(literal.encode()) <= room)
    return literals if len(fitting) == len(literals) else fitting
