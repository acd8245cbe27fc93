"""Whether each value of a call is right: by each order alone, and by votes over them.

What a call has for a key, a value or nothing, is right if the benchmark accepts the reference call with it, whatever
else is wrong. Only samples with one reference call count that is itself accepted, and only if one call of the same tool
was decoded.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from eval.benchmarks.function_calls import SCORED_FORMATS
from eval.benchmarks.samples import Benchmark, Judgement, Sample
from eval.votes.first_orders import LIKELIEST, likeliest, votes
from eval.votes.value_slot import Kind, ValueSlot
from lookup.dictionary import ParameterSpec
from tooldecoding.formats.call_format import Call
from voting import merge

if TYPE_CHECKING:
    from eval.tuning.decoded_prompt import DecodedCall

Judge = Callable[[Sample, str], Judgement]


def value_slots(
    sample: Sample, decoded: "Sequence[DecodedCall]", optional_share: float, benchmark: Benchmark, judge: Judge
) -> list[ValueSlot]:
    """Return the slots of one sample; none if its values cannot be judged.

    Parameters
    ----------
    decoded : sequence of DecodedCall
        The calls decoded for the sample.
    optional_share : float
        As in ``voting.merge``.
    judge : callable
        The benchmark's, or one that remembers its verdicts.
    """
    if len(sample.calls) != 1 or len(decoded) != 1 or decoded[0].tool.name != sample.calls[0].name:
        return []
    questions = _Questions(sample, benchmark, judge)
    if not questions.accepts(sample.calls[0].arguments):
        return []
    [call] = decoded
    keys, orders = [p.name for p in call.tool.required], [c.order for c in call.candidates]

    def arguments(places: Sequence[int]) -> Mapping[str, Any]:
        return merge([call.candidates[n] for n in places], call.tool, optional_share).arguments

    alone = [arguments([n]) for n in range(len(orders))]
    voted = {name: arguments(places) for name, places in votes(len(orders)).items()}
    voted |= {name: alone[likeliest(call.candidates[:count])] for count, name in LIKELIEST.items()}
    return [
        ValueSlot(
            id=sample.id,
            dialogue=sample.dialogue,
            tool=call.tool.name,
            key=spec.name,
            kind=kind,
            keys=len(keys),
            type="enum" if spec.value_type.enum else spec.value_type.kind,
            places=[order.index(spec.name) for order in orders if spec.name in order] if kind == "required" else [],
            orders=[questions.right(kind, spec.name, given) for given in alone],
            votes={name: questions.right(kind, spec.name, given) for name, given in voted.items()},
        )
        for spec in call.tool.parameters
        for kind in questions.kinds(spec)
    ]


class _Questions:
    """The right answers of a sample with one reference call."""

    def __init__(self, sample: Sample, benchmark: Benchmark, judge: Judge) -> None:
        self._sample = sample
        [self._reference] = sample.calls
        self._format = SCORED_FORMATS[benchmark.call_format]
        self._open = benchmark.open_keys(sample)
        self._judge = judge

    def kinds(self, spec: ParameterSpec) -> tuple[Kind, ...]:
        """Return what is asked about a parameter."""
        if spec.required:
            return ("required",)
        if spec.name in self._open:
            return ()
        return ("optional", "presence") if spec.name in self._reference.arguments else ("presence",)

    def right(self, kind: Kind, key: str, given: Mapping[str, Any]) -> bool:
        """Whether the arguments of a call answer a question right."""
        arguments = dict(self._reference.arguments)
        if kind == "presence" and key in given and key in arguments:
            return True
        arguments.pop(key, None)
        return self.accepts({**arguments, key: given[key]} if key in given else arguments)

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the benchmark accepts a call of the reference's tool."""
        text = self._format.render([Call(self._reference.name, dict(arguments))])
        return self._judge(self._sample, text).correct
