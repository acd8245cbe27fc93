"""One call in several orders of its required keys, decoded together (paper, section 3.2).

A single order writes its values one after the other. So each other required key begins a *draft branch* beside it, as
if an order began with this key. Its value is a draft: the order tries it in one pass when it comes to the key, and
keeps what the model prefers there. So the call is the same, and takes about as many passes as its longest value.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from lookup.dictionary import ParameterSpec
from lookup.errors import ToolDecodingError
from tooldecoding.decoding.compiled_tools import CompiledTool
from tooldecoding.decoding.decode_loop import Spawn, run_unless_cancelled, together
from tooldecoding.decoding.drafts import Drafts
from tooldecoding.decoding.order_tree import Order, OrderTree, Values, shared_keys
from tooldecoding.decoding.value_decoder import ValueDecoder
from tooldecoding.options import DecodeOptions
from tooldecoding.tokens.branch import Beginning, Branch, Tally
from voting import STOPPED, CandidateCall, VotedCall, agrees, draw_orders, is_settled, order_ranks


class OrderDecoder:
    """Decodes the orders of one call.

    Parameters
    ----------
    number : int
        The number of the call among those of a turn.
    prompt : str
        Where values are likely to stand.
    optional : sequence of ParameterSpec
        The optional keys that the call may have.
    keep_branches : bool
        Whether ``branch_of`` will be called: keeps one branch for each different call.
    """

    def __init__(
        self,
        tool: CompiledTool,
        number: int,
        options: DecodeOptions,
        prompt: str,
        optional: Sequence[ParameterSpec],
        keep_branches: bool,
    ) -> None:
        self._tool = tool
        self._optional = optional
        self._number = number
        self._options = options
        self._drafts = Drafts(prompt, tool, options.draft_tokens)
        required = tool.call_format.ordered([p.name for p in tool.spec.required])
        self._orders = draw_orders(required, options.order_limit, options.orders, options.seed)
        self._keep_branches = keep_branches
        self._finished: dict[Order, CandidateCall] = {}
        self._kept: dict[frozenset[tuple[str, str]], tuple[CandidateCall, Branch]] = {}
        self._is_settled = False
        """Whether the orders that are still decoded can no longer change the vote."""
        self._places = {p.name: place for place, p in enumerate(tool.spec.parameters)}

    @property
    def beginning(self) -> Beginning | None:
        """What all orders write at first, if that may be tried before their branch forks."""
        keys = shared_keys(self._orders)
        return self._drafts.beginning(keys) if keys and self._options.draft_tokens else None

    async def decode(self, branch: Branch) -> tuple[CandidateCall, ...]:
        """Decode the orders behind the name and bracket; a candidate for each."""
        values = ValueDecoder(self._tool, self._drafts, self._options, self._longest, lambda: self._is_settled)
        keys = self._keys_to_draft() if branch.can_escort else []
        branch, *others = await branch.forks(1 + len(keys), beginning=self.beginning)
        drafting = dict(zip(keys, others, strict=True))
        # first, so that orders can use what they have found behind a pass
        tasks = [await Spawn(self._draft(drafting, key, values)) for key in keys]
        tree = OrderTree(self._tool, values, partial(self._finish, values), self._stop)
        await together([tree.decode(branch, self._orders)])
        for task in tasks:
            task.cancel()
        for other in drafting.values():
            other.release()
        return tuple(self._finished[order] for order in self._orders)

    def _keys_to_draft(self) -> list[str]:
        """Return the required keys with which no order begins, without those that have only one value."""
        begun = {order[0] for order in self._orders if order}
        rest = [spec for spec in self._tool.spec.required if spec.name not in begun]
        return [spec.name for spec in rest if len(self._tool.grammar(spec).choices or "..") > 1]

    async def _draft(self, drafting: dict[str, Branch], key: str, values: ValueDecoder) -> None:
        """Write the value of a key on its draft branch, until an order comes to the key."""
        branch = drafting[key]
        branch.tally = Tally()  # its tokens are no part of the call
        branch.write(self._tool.call_format.key(key))
        value = values.decode(branch, self._tool.spec.parameter(key), left=0)
        with suppress(ToolDecodingError):  # an order may not come to a place where no token fits
            await run_unless_cancelled(lambda: self._drafts.begun[key] > 1, value)
        drafting.pop(key).release()

    def branch_of(self, voted: VotedCall) -> Branch | None:
        """Return the kept branch of a candidate that agrees with the voted call, or None; releases all others.

        Of several the one nearest to documentation order is taken.
        """
        same = [kept for kept in self._kept.values() if agrees(kept[0], voted, self._tool.spec)]
        own = min(same, key=lambda kept: self._rank(kept[0]))[1] if same else None
        for _, branch in self._kept.values():
            if branch is not own:
                branch.end()
        return own

    def _longest(self, key: str) -> int:
        """The longest literal of a key, in characters, that an order has written to its end; 0 if none has."""
        values = (value for candidate in self._finished.values() for value in candidate.values)
        return max((len(v.text) for v in values if v.key == key and not v.truncated), default=0)

    def _rank(self, candidate: CandidateCall) -> tuple[int, ...]:
        return order_ranks(candidate.order, self._places)

    async def _finish(self, decoder: ValueDecoder, branch: Branch, order: Order, required: Values) -> None:
        """Decode the optional keys of an order, and note its candidate."""
        values = await self._with_optional_keys(decoder, branch, required)
        if values and values[-1].why == STOPPED:
            self._stop(branch, [order], values)
        else:
            self._note(self._candidate(branch, order, values), branch)

    def _stop(self, branch: Branch, orders: Sequence[Order], values: Values) -> None:
        """Note orders that could no longer change the vote."""
        for order in orders:
            self._finished[order] = self._candidate(branch, order, values)
        branch.end()

    def _candidate(self, branch: Branch, order: Order, values: Values) -> CandidateCall:
        name, call_format = self._tool.spec.name, self._tool.call_format
        written = [call_format.key(v.key) + v.text for v in values if not v.is_lost]
        text = call_format.call_text(name, written, self._number)
        return CandidateCall(name, order, values, text, branch.all_ids, branch.all_labels)

    async def _with_optional_keys(self, decoder: ValueDecoder, branch: Branch, values: Values) -> Values:
        """Let the model choose among the unused keys and the end of the call until it ends it (paper, section 3.1)."""
        unused = list(self._optional)
        while unused := self._tool.fitting(unused, branch.room_behind):
            number, _ = await branch.choose(self._tool.optional_keys(unused, first=not values))
            if number == len(unused):
                return values
            value = await decoder.decode(branch, unused.pop(number), self._tool.left(()))
            values = (*values, value)
            if value.why == STOPPED:
                return values
        branch.write(self._tool.call_format.end_of(not values))
        return values

    def _note(self, candidate: CandidateCall, branch: Branch) -> None:
        """Note a decoded order; of orders with the same values the branch nearest to documentation order is kept."""
        self._finished[candidate.order] = candidate
        coming, share = len(self._orders) - len(self._finished), self._options.optional_share
        self._is_settled = coming > 0 and is_settled([*self._finished.values()], coming, self._tool.spec, share)
        values = frozenset((v.key, v.text) for v in candidate.values)
        known = self._kept.get(values)
        if not self._keep_branches or (known and self._rank(known[0]) < self._rank(candidate)):
            branch.end()
            return
        self._kept[values] = candidate, branch
        if known:
            known[1].end()
