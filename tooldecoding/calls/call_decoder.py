"""Tool mode: decode one call in several orders, vote, commit the voted call, go on (paper, section 3)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tooldecoding.calls.order_decoder import OrderDecoder
from tooldecoding.calls.prepared_tools import PreparedTool, PreparedTools
from tooldecoding.engines.steps import Steps
from tooldecoding.formats.call_format import Call
from tooldecoding.options import DecodeOptions
from tooldecoding.tokens.branch import Branch
from voting import CandidateCall, VotedCall, carries, merge


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


class CallDecoder:
    """Decodes the calls of one prompt on a branch.

    Parameters
    ----------
    tools : PreparedTools
        The tools that may be called.
    only : str, optional
        The one that must be called.
    prompt : str
        Where values are likely to stand.
    context : int or None
        Tokens that the model has positions for.
    """

    def __init__(
        self,
        tools: PreparedTools,
        only: str | None,
        options: DecodeOptions,
        prompt: str,
        context: int | None,
        clock: PhaseClock,
    ) -> None:
        self._tools = tools
        self._only = only
        self._options = options
        self._format = options.call_format
        self._prompt = prompt
        self._context = context
        self._clock = clock

    def decode(self, branch: Branch, called: PreparedTool | None = None) -> Steps[tuple[list[DecodedCall], str]]:
        """Decode calls behind the opener, which ``branch`` has just written; returns them and their text.

        Parameters
        ----------
        called : PreparedTool, optional
            The first call's tool, where its name and bracket are written, too.
        """
        form = self._format
        calls: list[DecodedCall] = []
        branch.draft_tokens = self._options.draft_tokens
        while True:
            with self._clock.phase("name"):
                tool = called or (yield from self._name(branch))
            called = None
            more = form.parallel and len(calls) + 1 < self._options.max_calls
            branch, *rest = yield from branch.forks(2 if more else 1)
            orders = OrderDecoder(tool, self._options, self._prompt, self._room_behind(branch), keep_branches=more)
            with self._clock.phase("values"):
                candidates = yield from orders.decode(branch)
            with self._clock.phase("vote"):
                voted = merge(candidates, tool.spec, self._options.optional_share)
            confidences = tuple(map(self._options.confidence, voted.parameters))
            calls.append(DecodedCall(voted, candidates, orders.possible, confidences, self._options.min_confidence))
            if not rest:
                break
            branch = self._committed(rest[0], orders, tool, voted)
            if not (yield from self._goes_on(branch)):
                break
        return calls, form.render([Call(c.voted.name, c.voted.arguments) for c in calls])

    def _name(self, branch: Branch) -> Steps[PreparedTool]:
        """Let the model choose a tool."""
        if self._only is not None:
            branch.write(self._only + self._format.bracket)
            return self._tools[self._only]
        number, _ = yield from branch.choose(self._tools.names)
        return self._tools.tools[number]

    def _room_behind(self, branch: Branch) -> int | None:
        return None if self._context is None else self._context - branch.length - len(branch.pending.text)

    def _committed(self, named: Branch, orders: OrderDecoder, tool: PreparedTool, voted: VotedCall) -> Branch:
        """The branch on which the model is asked for another call: it has read the voted call as a model writes it.

        That is the branch of the order, nearest to documentation order, that wrote just this call, in the model's own
        literals and sequence of keys. Where no order wrote all of it, the voted literals stand behind the name, in
        documentation order.
        """
        own = orders.branch_of(voted)
        if own is not None:
            named.release()
            return own
        form, written = self._format, [value for c in orders.candidates for value in c.values]
        literals = {
            p.key: next(v.text for v in written if v.key == p.key and carries(v, p, tool.spec.parameter(p.key)))
            for p in voted.parameters
        }
        named.write(form.separator.join(form.key(key) + text for key, text in literals.items()) + form.end)
        return named

    def _goes_on(self, branch: Branch) -> Steps[bool]:
        """Let the model choose to add another call behind the one that ``branch`` has written."""
        room = self._room_behind(branch)
        goes_on = False
        if room is None or room >= self._tools.longest:
            with self._clock.phase("next"):
                number, _ = yield from branch.choose(self._tools.another)
            goes_on = number == 0
        if not goes_on:
            branch.end()
        return goes_on
