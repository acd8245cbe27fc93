"""What a variant gives for every prompt: voted from the candidates of another decode where that is exact.

An order limit takes the first orders of a larger one, so its vote is a vote over the first candidates. In formats with
several calls, what follows a call depends on its voted text. Where a variant votes another text than the one that was
committed, the candidates behind it were never decoded: that prompt is decoded again with the variant itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from eval.tuning.decoded_prompt import DecodedPrompt, whole_text, written
from eval.tuning.tuning_prompts import TuningPrompt
from eval.tuning.vote_options import VoteOptions
from lookup.dictionary import ToolSpec
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.options import DecodeOptions
from voting import CandidateCall, VotedCall, draw_orders, merge
from voting.stopping import orders_needed

DecodeAgain = Callable[[Sequence[TuningPrompt], VoteOptions], Mapping[str, DecodedPrompt]]
"""Decodes prompts with a variant; item id -> record."""


@dataclass(frozen=True)
class Outcome:
    """What a variant gives for one prompt.

    Attributes
    ----------
    text : str
        The prediction; empty where decoding failed.
    calls : tuple of VotedCall
    orders_used, orders_possible : int
        Orders decoded over all calls, and how many the limit allows.
    error : str
    """

    text: str
    calls: tuple[VotedCall, ...]
    orders_used: int
    orders_possible: int
    error: str = ""


@dataclass
class Deriver:
    """Outcomes of variants.

    Attributes
    ----------
    items : sequence of TuningPrompt
    records : dict
        TuningPrompt id -> records so far; those that are decoded again are added.
    decode_again : callable
    again : dict
        VoteOptions -> how many prompts had to be decoded again for it.
    """

    items: Sequence[TuningPrompt]
    records: dict[str, list[DecodedPrompt]]
    decode_again: DecodeAgain
    again: dict[VoteOptions, int] = field(default_factory=dict)
    _known: dict[VoteOptions, dict[str, Outcome]] = field(default_factory=dict)

    def outcomes(self, variant: VoteOptions) -> dict[str, Outcome]:
        """TuningPrompt id -> outcome, in the sequence of the items."""
        if variant not in self._known:
            found = {item.id: self._derive(item, variant) for item in self.items}
            missing = [item for item in self.items if found[item.id] is None]
            self.again[variant] = len(missing)
            for identifier, record in (self.decode_again(missing, variant) if missing else {}).items():
                self.records[identifier].append(record)
            self._known[variant] = {
                item.id: outcome
                for item in self.items
                if (outcome := found[item.id] or self._derive(item, variant)) is not None
            }
        return self._known[variant]

    def _derive(self, item: TuningPrompt, variant: VoteOptions) -> Outcome | None:
        if item.request is None:
            return Outcome("", (), 0, 0, item.error)
        attempts = (derive(record, variant, item.request.options) for record in self.records[item.id])
        return next((outcome for outcome in attempts if outcome), None)


def derive(record: DecodedPrompt, variant: VoteOptions, options: DecodeOptions) -> Outcome | None:
    """The outcome of a variant from the candidates of a record; None where they do not tell.

    Parameters
    ----------
    options : DecodeOptions
        Of the prompt; what the variant says goes before.
    """
    decoded = record.variant
    same = decoded == variant
    if not same and (
        decoded.stopping != "none" or decoded.orders != variant.orders or decoded.order_limit < variant.order_limit
    ):
        return None
    if record.error:
        return Outcome("", (), 0, 0, record.error)
    form = options.call_format
    calls: list[VotedCall] = []
    used = possible = 0
    for number, call in enumerate(record.calls):
        candidates = call.candidates[: variant.order_limit]
        taken = candidates if same else candidates[: orders_until_settled(candidates, call.tool, variant)]
        voted = merge(taken, call.tool, variant.optional_share)
        calls.append(voted)
        used += len(taken)
        possible += order_count(call.tool, variant, options.seed)
        text = written(voted.name, voted.arguments, form)
        if text != call.committed and _goes_on(form, number, options):
            return None
    text = whole_text(record.before, [Call(c.name, c.arguments) for c in calls], form)
    return Outcome(text, tuple(calls), used, possible)


def _goes_on(form: CallFormat, number: int, options: DecodeOptions) -> bool:
    """Whether the model saw the committed text of a call: to choose whether another one follows."""
    return form.parallel and number + 1 < options.max_calls


def order_count(tool: ToolSpec, variant: VoteOptions, seed: int) -> int:
    """Orders that a variant decodes for a tool if nothing stops it."""
    return len(draw_orders([p.name for p in tool.required], variant.order_limit, variant.orders, seed))


def orders_until_settled(candidates: Sequence[CandidateCall], tool: ToolSpec, variant: VoteOptions) -> int:
    """How many of the candidates adaptive stopping decodes before it calls the vote settled; all without a rule."""
    total, done = len(candidates), 0
    while more := orders_needed(
        candidates[:done], tool, total, variant.stopping, variant.stopping_level, variant.optional_share
    ):
        done = min(total, done + more)
    return done
