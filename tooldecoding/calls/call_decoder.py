"""The loop over the calls of a prompt: choose a tool, decode its orders, vote, commit the voted call, go on."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from tooldecoding.calls.decoded_call import DecodedCall
from tooldecoding.calls.names import NextCall
from tooldecoding.calls.order_decoder import OrderDecoder
from tooldecoding.calls.prepared_tools import PreparedTool, PreparedTools
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.thinking import NO_ANSWER, Answer
from tooldecoding.options import DecodeOptions
from tooldecoding.tokens.branch import Branch
from voting import VotedCall, carries, confidence, merge


class DecodedPrompt(NamedTuple):
    """What was written behind a prompt; special tokens are characters (``tooldecoding.tokens.special_texts``).

    Attributes
    ----------
    text : str
        Free text, then the calls.
    calls : list of DecodedCall
    answer : Answer
        The free text without marks.
    cut : bool
        Whether the free text ended at its limit, or a call is left out because it goes beyond ``max_tokens``.
    repeated : bool
        Whether the model wrote a call again: it is left out, and ended the answer.
    """

    text: str
    calls: list[DecodedCall]
    answer: Answer = NO_ANSWER
    cut: bool = False
    repeated: bool = False


class CallDecoder:
    """Decodes the calls of one prompt on a branch.

    Parameters
    ----------
    tools : PreparedTools
        The tools that may be called.
    only : str, optional
        The name of the tool that must be called.
    prompt : str
        Text in which values are likely to stand.
    fits : callable
        Whether the text of all calls is within the limit of tokens; a call behind which it is not is left out.
    voted : callable, optional
        Called with each call once it is voted.
    in_values : callable, optional
        Returns a context in which the orders of each call are decoded.
    """

    def __init__(
        self,
        tools: PreparedTools,
        only: str | None,
        options: DecodeOptions,
        prompt: str,
        fits: Callable[[str], bool],
        voted: Callable[[DecodedCall], None] | None = None,
        in_values: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._tools = tools
        self._only = only
        self._options = options
        self._format = tools.call_format
        self._prompt = prompt
        self._fits = fits
        self._voted = voted
        self._in_values = in_values

    async def decode(self, branch: Branch, called: PreparedTool | None = None) -> DecodedPrompt:
        """Decode calls behind the opener, the last text of ``branch``; free text is not in the result.

        Parameters
        ----------
        called : PreparedTool, optional
            The tool of the first call, if its name and bracket are written already.
        """
        calls: list[DecodedCall] = []
        text = ""
        branch.draft_tokens = self._options.draft_tokens
        while True:
            number = len(calls)
            tool = called or await self._name(branch, number)
            next_call = self._next_call(number + 1)
            more = next_call is not None
            orders = OrderDecoder(tool, number, self._options, self._prompt, keep_branches=more)
            branch, *committing = await branch.forks(2 if more else 1, beginning=orders.beginning)
            call = await self._call(branch, tool, orders)
            longer = self._format.render([Call(c.name, c.arguments) for c in (*calls, call)])
            repeated = call.identity in [earlier.identity for earlier in calls]
            fits = repeated or self._fits(longer)
            if fits and not repeated:
                calls.append(call)
                text = longer
                if self._voted is not None:
                    self._voted(call)
            if next_call is None:
                return DecodedPrompt(text, calls, NO_ANSWER, not fits, repeated)
            branch = self._committed(committing[0], orders, tool, call.voted)
            if repeated or not fits:
                branch.end()
                return DecodedPrompt(text, calls, NO_ANSWER, not fits, repeated)
            goes_on, name = await self._goes_on(branch, next_call)
            if not goes_on:
                return DecodedPrompt(text, calls)
            called = None if name is None else self._tools[name]

    def _next_call(self, number: int) -> NextCall | None:
        """Return the choice between a further call, by its number, and the end; None if there is no choice."""
        if not self._format.parallel or number >= self._options.max_calls:
            return None
        return self._tools.next_call(number, self._only)

    async def _name(self, branch: Branch, number: int) -> PreparedTool:
        """Let the model choose a tool by the name trie, unless one is given."""
        if self._only is not None:
            branch.write(self._only + self._format.bracket_of(number))
            return self._tools[self._only]
        chosen = await self._tools.names(number).choose(branch)
        return self._tools.tools[chosen]

    async def _call(self, branch: Branch, tool: PreparedTool, orders: OrderDecoder) -> DecodedCall:
        """Decode the arguments in several orders, and vote."""
        options = self._options
        with self._in_values():
            candidates = await orders.decode(branch)
        voted = merge(candidates, tool.spec, options.optional_share)
        confidences = tuple(map(confidence, voted.parameters))
        return DecodedCall(voted, candidates, orders.possible, confidences, options.min_confidence)

    def _committed(self, named: Branch, orders: OrderDecoder, tool: PreparedTool, voted: VotedCall) -> Branch:
        """Return a branch that has read the voted call, as the model itself would write it.

        This is the branch of an order that wrote exactly this call. If there is none, the voted literals are written
        behind the name, in documentation order.
        """
        own = orders.branch_of(voted)
        if own is not None:
            named.release()
            return own
        call_format, written = self._format, [value for c in orders.candidates for value in c.values]
        literals = {
            p.key: next(v.text for v in written if v.key == p.key and carries(v, p, tool.spec.parameter(p.key)))
            for p in voted.parameters
        }
        pairs = [call_format.key(key) + literals[key] for key in call_format.ordered(literals)]
        named.write(call_format.separator.join(pairs) + call_format.end_of(not pairs))
        return named

    async def _goes_on(self, branch: Branch, next_call: NextCall) -> tuple[bool, str | None]:
        """Let the model choose whether another call follows, if there is room for one; ends the branch if not."""
        room = branch.room_behind
        goes_on, name = False, None
        if room is None or room >= self._tools.longest:
            goes_on, name = await next_call.choose(branch)
        if not goes_on:
            branch.end()
        return goes_on, name
