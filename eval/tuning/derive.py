"""Derives what other vote options would have given, from the candidates of one decode.

The orders of a limit are the first orders of a larger one, so its vote is a vote over the first candidates. In formats
with several calls, what follows a call depends on its voted text. If other options vote another text, the candidates
that would follow were never decoded: that prompt is decoded again with those options.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from eval.methods.scored_text import ScoredText
from eval.tuning.decoded_prompt import DecodedPrompt
from eval.tuning.tuning_prompts import TuningPrompt
from eval.tuning.vote_options import VoteOptions
from lookup.dictionary import ToolSpec
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.options import DecodeOptions
from voting import CandidateCall, VotedCall, draw_orders, merge
from voting.stopping import orders_needed

DecodeAgain = Callable[[Sequence[TuningPrompt], VoteOptions], Mapping[str, DecodedPrompt]]
"""Decodes prompts with some options; returns prompt id -> decoded prompt."""


@dataclass(frozen=True)
class Outcome:
    """What some vote options give for one prompt.

    Attributes
    ----------
    text : str
        The prediction, as it is scored; empty if decoding failed.
    written : str
        The prediction as it was decoded.
    calls : tuple of VotedCall
    orders_used, orders_possible : int
        Orders decoded over all calls, and the number that the limit allows.
    error : str
    """

    text: str
    written: str
    calls: tuple[VotedCall, ...]
    orders_used: int
    orders_possible: int
    error: str = ""


@dataclass
class Deriver:
    """Derives outcomes, and decodes again what cannot be derived.

    Attributes
    ----------
    prompts : sequence of TuningPrompt
    decoded : dict
        Prompt id -> its decodes so far.
    decode_again : callable
    again : dict
        Vote options -> number of prompts that had to be decoded again.
    scored : ScoredText, optional
        What is scored of a prediction; by default its text.
    """

    prompts: Sequence[TuningPrompt]
    decoded: dict[str, list[DecodedPrompt]]
    decode_again: DecodeAgain
    scored: ScoredText | None = None
    again: dict[VoteOptions, int] = field(default_factory=dict)
    _known: dict[VoteOptions, dict[str, Outcome]] = field(default_factory=dict)

    def outcomes(self, options: VoteOptions) -> dict[str, Outcome]:
        """Return prompt id -> outcome, in the order of the prompts."""
        if options not in self._known:
            found = {prompt.id: self._derive(prompt, options) for prompt in self.prompts}
            missing = [prompt for prompt in self.prompts if found[prompt.id] is None]
            self.again[options] = len(missing)
            for identifier, decoded in (self.decode_again(missing, options) if missing else {}).items():
                self.decoded[identifier].append(decoded)
            self._known[options] = {
                prompt.id: outcome
                for prompt in self.prompts
                if (outcome := found[prompt.id] or self._derive(prompt, options)) is not None
            }
        return self._known[options]

    def _derive(self, prompt: TuningPrompt, options: VoteOptions) -> Outcome | None:
        if prompt.request is None:
            return Outcome("", "", (), 0, 0, prompt.error)
        attempts = (derive(decoded, options, prompt.request.options) for decoded in self.decoded[prompt.id])
        found = next((outcome for outcome in attempts if outcome), None)
        if found is None or self.scored is None:
            return found
        calls = [Call(call.name, call.arguments) for call in found.calls]
        return replace(found, text=self.scored.of_calls(found.text, calls))


def derive(decoded: DecodedPrompt, vote_options: VoteOptions, options: DecodeOptions) -> Outcome | None:
    """Return what ``vote_options`` would have given; None if the candidates do not tell.

    Parameters
    ----------
    options : DecodeOptions
        Those of the prompt; ``vote_options`` take precedence.
    """
    before = decoded.options
    same = before == vote_options
    if not same and (
        before.stopping != "none"
        or before.orders != vote_options.orders
        or before.order_limit < vote_options.order_limit
    ):
        return None
    if decoded.error:
        return Outcome("", "", (), 0, 0, decoded.error)
    call_format = options.call_format
    calls: list[VotedCall] = []
    used = possible = 0
    for number, call in enumerate(decoded.calls):
        candidates = call.candidates[: vote_options.order_limit]
        taken = candidates if same else candidates[: orders_until_settled(candidates, call.tool, vote_options)]
        voted = merge(taken, call.tool, vote_options.optional_share)
        calls.append(voted)
        used += len(taken)
        possible += order_count(call.tool, vote_options, options.seed)
        text = call_format.render_call(voted.name, voted.arguments, number)
        if text != call.committed and _may_continue(call_format, number, options):
            return None
    text = decoded.with_calls([Call(c.name, c.arguments) for c in calls], call_format)
    return Outcome(text, text, tuple(calls), used, possible)


def _may_continue(call_format: CallFormat, number: int, options: DecodeOptions) -> bool:
    """Whether the model saw the text of a call, to decide whether another call follows."""
    return call_format.parallel and number + 1 < options.max_calls


def order_count(tool: ToolSpec, options: VoteOptions, seed: int) -> int:
    """Return the number of orders for a tool if nothing stops them."""
    return len(draw_orders([p.name for p in tool.required], options.order_limit, options.orders, seed))


def orders_until_settled(candidates: Sequence[CandidateCall], tool: ToolSpec, options: VoteOptions) -> int:
    """Return the number of candidates that adaptive stopping decodes until the vote is settled; all without a rule."""
    total, done = len(candidates), 0
    while more := orders_needed(
        candidates[:done], tool, total, options.stopping, options.stopping_level, options.optional_share
    ):
        done = min(total, done + more)
    return done
