"""Tool mode: decode one call in several orders, vote, commit the merged text, go on (paper, section 3)."""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from lookup.errors import DocumentationError
from lookup.schema import LookupDictionary, ParameterSpec, ToolSpec
from lookup.value_grammar import ValueGrammar, value_grammar
from lookup.value_text import close_literal, read_value
from tooldecoding.branch import Branch
from tooldecoding.call_format import Call
from tooldecoding.drafts import Drafts
from tooldecoding.options import DecodeOptions
from tooldecoding.steps import Steps, gather
from tooldecoding.value_state import ValueState
from voting import CandidateCall, CandidateValue, VotedCall, draw_orders, merge, orders_needed


@dataclass
class PhaseClock:
    """Wall-clock seconds by phase of one prompt; prompts decoded together share their passes."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count the time inside the block to ``name``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


@dataclass(frozen=True)
class DecodedCall:
    """A voted call with the candidates behind it.

    Attributes
    ----------
    orders_possible : int
        Orders that there were; as many were decoded as there are candidates, unless the vote was settled before.
    confidences : tuple of float
        How sure the vote is of each parameter, in [0, 1].
    min_confidence : float, optional
        Parameters below it need confirmation.
    """

    voted: VotedCall
    candidates: tuple[CandidateCall, ...]
    orders_possible: int
    confidences: tuple[float, ...]
    min_confidence: float | None = None

    @property
    def needs_confirmation(self) -> tuple[bool, ...]:
        """Whether each parameter is below ``min_confidence``."""
        return tuple(self.min_confidence is not None and c < self.min_confidence for c in self.confidences)


Order = tuple[str, ...]


class _Waiting(NamedTuple):
    """Orders that a later round may decode, on a branch that holds all required keys that they share with others."""

    branch: Branch
    orders: Sequence[Order]
    values: tuple[CandidateValue, ...]


class _Round(NamedTuple):
    """Orders that are decoded together; the others wait where they part from these."""

    orders: frozenset[Order]
    waiting: list[_Waiting]


class CallDecoder:
    """Decodes the calls of one prompt on a branch.

    Parameters
    ----------
    tools : LookupDictionary
        The tools that may be called, at least one.
    prompt : str
        Where values are likely to stand.
    room : int or None
        Tokens that a call may take in the model's context.
    """

    def __init__(
        self, tools: LookupDictionary, options: DecodeOptions, prompt: str, room: int | None, clock: PhaseClock
    ) -> None:
        _demand_distinct([t.name + options.call_format.bracket for t in tools.tools], "tools")
        for tool in tools.tools:
            _demand_distinct([options.call_format.key(p.name) for p in tool.parameters], f"keys of {tool.name}")
        self._tools = tools.tools
        self._options = options
        self._format = options.call_format
        self._prompt = prompt
        self._room = room
        self._clock = clock
        self._drafts = Drafts(prompt, options)
        self._longest: dict[str, int] = {}

    def decode(self, branch: Branch) -> Steps[tuple[list[DecodedCall], str]]:
        """Decode calls behind the opener, which ``branch`` has just written; returns them and their text."""
        form = self._format
        calls: list[DecodedCall] = []
        branch.draft_tokens = self._options.draft_tokens
        while True:
            self._drafts = Drafts(self._prompt, self._options)
            with self._clock.phase("name"):
                number, _ = yield from branch.choose([t.name + form.bracket for t in self._tools])
            tool = self._tools[number]
            more = form.parallel and len(calls) + 1 < self._options.max_calls
            branch, *rest = yield from branch.forks(2 if more else 1)
            committed = rest[0] if rest else None
            with self._clock.phase("values"):
                candidates, possible = yield from self._candidates(branch, tool)
            with self._clock.phase("vote"):
                voted = merge(candidates, tool, self._options.optional_share)
            confidences = tuple(map(self._options.confidence, voted.parameters))
            calls.append(DecodedCall(voted, candidates, possible, confidences, self._options.min_confidence))
            if committed is None or not (yield from self._goes_on(committed, tool, voted)):
                break
            branch = committed
        return calls, form.render([Call(c.voted.name, c.voted.arguments) for c in calls])

    def _goes_on(self, branch: Branch, tool: ToolSpec, voted: VotedCall) -> Steps[bool]:
        """Commit the voted call, of which ``branch`` has the name, and let the model choose to add another."""
        form = self._format
        before = branch.length
        branch.write(form.render_call(tool.name, voted.arguments)[len(tool.name + form.bracket) : -len(form.end)])
        if self._room is not None:
            self._room -= branch.length - before + len((form.opener + tool.name + form.bracket).encode())
        goes_on = False
        if self._room is None or self._room >= longest_call(self._tools, self._options):
            with self._clock.phase("next"):
                # the call's end and what follows it may be one token
                number, _ = yield from branch.choose([form.end + form.separator, form.end + form.closer])
            goes_on = number == 0
        if not goes_on:
            branch.release()
        return goes_on

    def _candidates(self, branch: Branch, tool: ToolSpec) -> Steps[tuple[tuple[CandidateCall, ...], int]]:
        """Decode the orders, in rounds until the vote is settled; the candidates, and how many orders there are."""
        options = self._options
        required = [p.name for p in tool.required]
        orders = draw_orders(required, options.order_limit, options.orders, options.seed)
        candidates: tuple[CandidateCall, ...] = ()
        waiting = [_Waiting(branch, orders, ())]
        while count := orders_needed(
            candidates, tool, len(orders), options.stopping, options.stopping_level, options.optional_share
        ):
            begun = orders[len(candidates) : len(candidates) + count]
            decoded, waiting = yield from self._round(tool, begun, waiting)
            candidates += decoded
        for left in waiting:
            left.branch.release()
        return candidates, len(orders)

    def _round(
        self, tool: ToolSpec, orders: Sequence[Order], waiting: Sequence[_Waiting]
    ) -> Steps[tuple[tuple[CandidateCall, ...], list[_Waiting]]]:
        """Decode some of the orders that wait; their candidates, and what waits now."""
        this = _Round(frozenset(orders), [])
        parts = []
        for group in waiting:
            if this.orders.isdisjoint(group.orders):
                this.waiting.append(group)
            else:
                parts.append(self._required(group.branch, tool, group.orders, group.values, this))
        results = yield from gather(parts)
        by_order = {c.order: c for candidates in results for c in candidates}
        return tuple(by_order[order] for order in orders), this.waiting

    def _required(
        self, branch: Branch, tool: ToolSpec, orders: Sequence[Order], values: tuple[CandidateValue, ...], this: _Round
    ) -> Steps[list[CandidateCall]]:
        """Continue all orders that agree on the keys so far; what they share is decoded once."""
        groups = _by_next_key(orders, len(values))
        while len(groups) == 1:  # no recursion here: a tool may have hundreds of keys
            [key] = groups
            values = (*values, (yield from self._required_value(branch, tool, key, orders, len(values))))
            groups = _by_next_key(orders, len(values))
        if not groups:
            candidate = yield from self._optional(branch, tool, orders[0], values)
            return [candidate]
        begun = {key: group for key, group in groups.items() if not this.orders.isdisjoint(group)}
        left = [order for key, group in groups.items() if key not in begun for order in group]
        forks = yield from branch.forks(len(begun) + bool(left), len(groups))
        if left:
            this.waiting.append(_Waiting(forks.pop(), left, values))
        parts = [
            self._required_key(fork, tool, key, group, values, this)
            for fork, (key, group) in zip(forks, begun.items(), strict=True)
        ]
        results = yield from gather(parts)
        return [candidate for result in results for candidate in result]

    def _required_key(
        self,
        branch: Branch,
        tool: ToolSpec,
        key: str,
        orders: Sequence[Order],
        values: tuple[CandidateValue, ...],
        this: _Round,
    ) -> Steps[list[CandidateCall]]:
        value = yield from self._required_value(branch, tool, key, orders, len(values))
        candidates = yield from self._required(branch, tool, orders, (*values, value), this)
        return candidates

    def _required_value(
        self, branch: Branch, tool: ToolSpec, key: str, orders: Sequence[Order], depth: int
    ) -> Steps[CandidateValue]:
        """Inject the required key that all orders have at ``depth``, and decode its value."""
        branch.write((self._format.separator if depth else "") + self._format.key(key))
        value = yield from self._value(
            branch, tool, tool.parameter(key), partial(_shared_keys, tool, orders, depth + 1)
        )
        return value

    def _optional(
        self, branch: Branch, tool: ToolSpec, order: Order, values: tuple[CandidateValue, ...]
    ) -> Steps[CandidateCall]:
        """Let the model choose among the unused optional keys and the end of the call."""
        form = self._format
        unused = list(tool.optional)
        while unused:
            separator = form.separator if values else ""
            number, _ = yield from branch.choose([*(separator + form.key(p.name) for p in unused), form.end])
            if number == len(unused):
                break
            spec = unused.pop(number)
            value = yield from self._value(branch, tool, spec, tuple)
            values = (*values, value)
        else:
            branch.write(form.end)
        branch.settle()
        branch.release()
        pairs = form.separator.join(form.key(v.key) + v.text for v in values)
        text = f"{tool.name}{form.bracket}{pairs}{form.end}"
        return CandidateCall(tool.name, order, values, text, tuple(branch.ids))

    def _value(
        self, branch: Branch, tool: ToolSpec, spec: ParameterSpec, coming: Callable[[], Iterable[ParameterSpec]]
    ) -> Steps[CandidateValue]:
        """Decode one value behind its key; ``coming`` gives the keys that are going to be injected behind it."""
        notation = self._format.notation
        grammar = value_grammar(spec, notation, self._options.value_constraint)
        if grammar.choices is not None:
            number, logprobs = yield from branch.choose(grammar.choices)
            text, truncated = grammar.choices[number], False
        else:
            branch.write(grammar.opener)
            state = ValueState(grammar, self._format)
            branch.draft = lambda: "" if state.tail else self._drafts.expected(spec, grammar, state.text, coming())
            text, logprobs, truncated = yield from self._free_value(branch, grammar, state, self._value_limit(tool))
            branch.draft = None
        self._drafts.note(spec.name, text)
        mean = sum(logprobs) / len(logprobs) if logprobs else 0.0
        return CandidateValue(spec.name, read_value(text, spec, notation), text, mean, truncated)

    def _value_limit(self, tool: ToolSpec) -> int:
        if self._room is None:
            return self._options.max_value_tokens
        if tool.name not in self._longest:
            self._longest[tool.name] = longest_call([tool], self._options)
        free = self._room - self._longest[tool.name]
        return max(1, min(self._options.max_value_tokens, free // max(1, len(tool.parameters))))

    def _free_value(
        self, branch: Branch, grammar: ValueGrammar, state: ValueState, limit: int
    ) -> Steps[tuple[str, list[float], bool]]:
        """Let the model write a literal; text, log-probabilities of its tokens, and whether it was cut off."""
        logprobs: list[float] = []
        while True:
            pick = yield from branch.next_token(state, "free")
            logprobs.append(pick.logprob)
            step = state.step(pick.piece)
            if step is None:
                raise RuntimeError(f"token {pick.token} was admitted and then refused")
            rest = len(state.tail + pick.piece) - len(step.value.encode() + step.tail)
            state.apply(step)
            if step.closed:
                branch.trim(rest)
                return state.text, logprobs, False
            if len(logprobs) >= limit and not state.finish_character():
                suffix = close_literal(state.text, grammar)
                branch.write(suffix)
                return state.text + suffix, logprobs, True
            branch.settle()


def _by_next_key(orders: Sequence[Order], depth: int) -> dict[str, list[Order]]:
    """Orders grouped by the key at ``depth``; empty where they end."""
    groups: dict[str, list[Order]] = {}
    for order in orders:
        if depth < len(order):
            groups.setdefault(order[depth], []).append(order)
    return groups


def _shared_keys(tool: ToolSpec, orders: Sequence[Order], depth: int) -> Iterator[ParameterSpec]:
    """The keys from ``depth`` on, as far as all orders have the same ones."""
    for keys in zip(*(order[depth:] for order in orders), strict=True):
        if len(set(keys)) > 1:
            return
        yield tool.parameter(keys[0])


def _demand_distinct(texts: Sequence[str], what: str) -> None:
    """DocumentationError if one text is the beginning of another: a call could not tell them apart."""
    ordered = sorted(texts)
    for shorter, longer in itertools.pairwise(ordered):
        if longer.startswith(shorter):
            raise DocumentationError(
                f"{what}: {shorter!r} is the beginning of {longer!r}, so a call cannot tell them apart; rename one"
            )


def forced_bytes(tool: ToolSpec, options: DecodeOptions) -> int:
    """An upper bound on the tokens of a call of ``tool`` without its free values."""
    form = options.call_format
    text = tool.name + form.opener + form.bracket + form.end + form.closer
    keys = sum(len((form.separator + form.key(p.name)).encode()) + 8 for p in tool.parameters)
    return len(text.encode()) + keys


def longest_call(tools: Sequence[ToolSpec], options: DecodeOptions) -> int:
    """Tokens that must be free behind a prompt so that any of the tools can be called."""
    return max(forced_bytes(t, options) + _choice_bytes(t, options) for t in tools)


def _choice_bytes(tool: ToolSpec, options: DecodeOptions) -> int:
    """Bytes of the longest enum members, or one token for each free value."""
    notation = options.call_format.notation
    grammars = [value_grammar(p, notation, options.value_constraint) for p in tool.parameters]
    return sum(max(len(w.encode()) for w in g.choices) if g.choices else 1 for g in grammars)
