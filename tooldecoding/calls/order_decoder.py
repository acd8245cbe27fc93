"""One call in several orders of its required keys, decoded together (paper, section 3.2)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from lookup.dictionary import ParameterSpec
from lookup.values.grammar import ValueGrammar
from lookup.values.literal_values import close_literal, read_value
from tooldecoding.calls.drafts import Drafts
from tooldecoding.calls.prepared_tools import PreparedTool
from tooldecoding.calls.value_state import ValueState
from tooldecoding.engines.steps import Steps, gather
from tooldecoding.options import DecodeOptions
from tooldecoding.tokens.branch import Branch
from voting import CandidateCall, CandidateValue, VotedCall, agrees, draw_orders, order_ranks, orders_needed

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


class _Finished(NamedTuple):
    """An order that is decoded, on a branch that has read its call."""

    candidate: CandidateCall
    branch: Branch


class OrderDecoder:
    """Decodes the orders of one call.

    Parameters
    ----------
    prompt : str
        Where values are likely to stand.
    room : int or None
        Tokens that a call may take in the model's context.
    keep_branches : bool
        Whether the branches of finished orders are kept, one for each different call, for ``branch_of``.

    Attributes
    ----------
    candidates : tuple of CandidateCall
        One for each decoded order.
    possible : int
        How many orders there are.
    """

    def __init__(
        self, tool: PreparedTool, options: DecodeOptions, prompt: str, room: int | None, keep_branches: bool
    ) -> None:
        spec = tool.spec
        self._tool = tool
        self._spec = spec
        self._options = options
        self._format = options.call_format
        self._drafts = Drafts(prompt, options)
        self._keep_branches = keep_branches
        self._finished: dict[frozenset[tuple[str, str]], _Finished] = {}
        self._orders = draw_orders([p.name for p in spec.required], options.order_limit, options.orders, options.seed)
        self._limit = options.max_value_tokens
        if room is not None:
            self._limit = max(1, min(self._limit, (room - tool.longest) // max(1, len(spec.parameters))))
        self._places = {p.name: place for place, p in enumerate(spec.parameters)}
        self.candidates: tuple[CandidateCall, ...] = ()
        self.possible = len(self._orders)

    def decode(self, branch: Branch) -> Steps[tuple[CandidateCall, ...]]:
        """Decode the orders behind the name and bracket, in rounds until the vote is settled; the candidates."""
        options = self._options
        waiting = [_Waiting(branch, self._orders, ())]
        while count := orders_needed(
            self.candidates, self._spec, self.possible, options.stopping, options.stopping_level, options.optional_share
        ):
            begun = self._orders[len(self.candidates) : len(self.candidates) + count]
            decoded, waiting = yield from self._round(begun, waiting)
            self.candidates += decoded
        for left in waiting:
            left.branch.release()
        return self.candidates

    def branch_of(self, voted: VotedCall) -> Branch | None:
        """The kept branch of an order that wrote the voted call, the nearest to documentation order; None without one.

        All others are released.
        """
        same = [f for f in self._finished.values() if agrees(f.candidate, voted, self._spec)]
        own = min(same, key=self._rank).branch if same else None
        for finished in self._finished.values():
            if finished.branch is not own:
                finished.branch.end()
        return own

    def _rank(self, finished: _Finished) -> tuple[int, ...]:
        return order_ranks(finished.candidate.order, self._places)

    def _round(
        self, orders: Sequence[Order], waiting: Sequence[_Waiting]
    ) -> Steps[tuple[tuple[CandidateCall, ...], list[_Waiting]]]:
        """Decode some of the orders that wait; their candidates, and what waits now."""
        this = _Round(frozenset(orders), [])
        parts = []
        for group in waiting:
            if this.orders.isdisjoint(group.orders):
                this.waiting.append(group)
            else:
                parts.append(self._required(group.branch, group.orders, group.values, this))
        results = yield from gather(parts)
        by_order = {c.order: c for candidates in results for c in candidates}
        return tuple(by_order[order] for order in orders), this.waiting

    def _required(
        self, branch: Branch, orders: Sequence[Order], values: tuple[CandidateValue, ...], this: _Round
    ) -> Steps[list[CandidateCall]]:
        """Continue all orders that agree on the keys so far; what they share is decoded once."""
        groups = _by_next_key(orders, len(values))
        while len(groups) == 1:  # no recursion here: a tool may have hundreds of keys
            [key] = groups
            values = (*values, (yield from self._required_value(branch, key, orders, len(values))))
            groups = _by_next_key(orders, len(values))
        if not groups:
            candidate = yield from self._optional(branch, orders[0], values)
            return [candidate]
        begun = {key: group for key, group in groups.items() if not this.orders.isdisjoint(group)}
        left = [order for key, group in groups.items() if key not in begun for order in group]
        forks = yield from branch.forks(len(begun) + bool(left), len(groups))
        if left:
            this.waiting.append(_Waiting(forks.pop(), left, values))
        parts = [
            self._required_key(fork, key, group, values, this)
            for fork, (key, group) in zip(forks, begun.items(), strict=True)
        ]
        results = yield from gather(parts)
        return [candidate for result in results for candidate in result]

    def _required_key(
        self, branch: Branch, key: str, orders: Sequence[Order], values: tuple[CandidateValue, ...], this: _Round
    ) -> Steps[list[CandidateCall]]:
        value = yield from self._required_value(branch, key, orders, len(values))
        candidates = yield from self._required(branch, orders, (*values, value), this)
        return candidates

    def _required_value(self, branch: Branch, key: str, orders: Sequence[Order], depth: int) -> Steps[CandidateValue]:
        """Inject the required key that all orders have at ``depth``, and decode its value."""
        branch.write((self._format.separator if depth else "") + self._format.key(key))
        coming = partial(self._shared_keys, orders, depth + 1)
        value = yield from self._value(branch, self._spec.parameter(key), coming)
        return value

    def _shared_keys(self, orders: Sequence[Order], depth: int) -> Iterator[ParameterSpec]:
        """The keys from ``depth`` on, as far as all orders have the same ones."""
        for keys in zip(*(order[depth:] for order in orders), strict=True):
            if len(set(keys)) > 1:
                return
            yield self._spec.parameter(keys[0])

    def _optional(self, branch: Branch, order: Order, values: tuple[CandidateValue, ...]) -> Steps[CandidateCall]:
        """Let the model choose among the unused optional keys and the end of the call."""
        form = self._format
        unused = list(self._spec.optional)
        while unused:
            number, _ = yield from branch.choose(self._tool.keys(unused, first=not values))
            if number == len(unused):
                break
            value = yield from self._value(branch, unused.pop(number), tuple)
            values = (*values, value)
        else:
            branch.write(form.end)
        pairs = form.separator.join(form.key(v.key) + v.text for v in values)
        text = f"{self._spec.name}{form.bracket}{pairs}{form.end}"
        candidate = CandidateCall(self._spec.name, order, values, text, branch.all_ids)
        self._keep(_Finished(candidate, branch))
        return candidate

    def _keep(self, finished: _Finished) -> None:
        """Keep the branch of a finished order, or release it."""
        same = frozenset((v.key, v.text) for v in finished.candidate.values)
        known = self._finished.get(same)
        if not self._keep_branches or (known and self._rank(known) < self._rank(finished)):
            finished.branch.end()
            return
        self._finished[same] = finished
        if known:
            known.branch.end()

    def _value(
        self, branch: Branch, spec: ParameterSpec, coming: Callable[[], Iterable[ParameterSpec]]
    ) -> Steps[CandidateValue]:
        """Decode one value behind its key; ``coming`` gives the keys that are going to be injected behind it."""
        grammar = self._tool.grammar(spec)
        if grammar.choices is not None:
            number, logprobs = yield from branch.choose(self._tool.members(spec, grammar.choices))
            text, truncated = grammar.choices[number], False
        else:
            branch.write(grammar.opener)
            state = ValueState(grammar, self._format)
            branch.draft = lambda: "" if state.tail else self._drafts.expected(spec, grammar, state.text, coming())
            text, logprobs, truncated = yield from self._free_value(branch, grammar, state)
            branch.draft = None
        self._drafts.note(spec.name, text)
        mean = sum(logprobs) / len(logprobs) if logprobs else 0.0
        return CandidateValue(spec.name, read_value(text, spec, self._format.notation), text, mean, truncated)

    def _free_value(
        self, branch: Branch, grammar: ValueGrammar, state: ValueState
    ) -> Steps[tuple[str, list[float], bool]]:
        """Let the model write a literal; text, log-probabilities of its tokens, and whether it was cut off."""
        logprobs: list[float] = []
        while True:
            pick = yield from branch.next_token(state)
            logprobs.append(pick.logprob)
            step = state.step(pick.piece)
            if step is None:
                raise RuntimeError(f"token {pick.token} was admitted and then refused")
            begun = len(state.tail)
            state.apply(step)
            if step.closed:
                branch.keep(step.value.encode()[begun:], "free")
                return state.text, logprobs, False
            branch.take(pick, "free")
            if len(logprobs) >= self._limit and not state.finish_character():
                suffix = close_literal(state.text, grammar)
                branch.write(suffix)
                return state.text + suffix, logprobs, True


def _by_next_key(orders: Sequence[Order], depth: int) -> dict[str, list[Order]]:
    """Orders grouped by the key at ``depth``; empty where they end."""
    groups: dict[str, list[Order]] = {}
    for order in orders:
        if depth < len(order):
            groups.setdefault(order[depth], []).append(order)
    return groups
