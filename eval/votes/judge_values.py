"""Whether each value of a call is right: by each order alone, and by votes over them.

What a call has for a key, a value or nothing, is right if the benchmark accepts the reference call with it, whatever
else is wrong. Only samples with one reference call count that is itself accepted, and only if one call of the same tool
was decoded.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from eval.benchmarks.samples import Benchmark, Sample
from eval.methods.sample_prompts import Prompter
from eval.runs.predictions import PredictionRow
from eval.tuning.decoded_prompt import read_decoded, revote
from eval.votes.value_slot import ALL, COUNTS, LIKELIEST, SlotKind, ValueSlot
from lookup.dictionary import ParameterSpec
from tooldecoding.decoding.decoded_call import DecodedCall
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.request import Request
from voting import CandidateCall


def run_values(rows: Sequence[PredictionRow], benchmark: Benchmark, prompter: Prompter, place: str) -> list[ValueSlot]:
    """Return the slots of all predictions that have candidates.

    EvalError if candidates are malformed, or a prediction is not the vote over them.

    ``place``: the file of the predictions, for messages.
    """
    slots = []
    for sample, _, row in rows:
        if row.get("candidates"):
            request = prompter.request(sample)
            decoded = read_decoded(row, f"{place}, {sample.id}", request)
            slots += value_slots(sample, decoded.calls, request, benchmark)
    return slots


def value_slots(
    sample: Sample, decoded: Sequence[DecodedCall], request: Request, benchmark: Benchmark
) -> list[ValueSlot]:
    """Return the slots of one sample; none if its values cannot be judged.

    Parameters
    ----------
    decoded : sequence of DecodedCall
        The calls decoded for the sample.
    request : Request
        What was decoded: the vote leaves out what its conversation does not say.
    """
    # reference book(city="Rome", nights=2); orders book(city="Rome", nights=3), book(nights=2, city="Rome, IT"):
    # city is right by the first order, nights by the second, for each value is judged within the reference
    if len(sample.calls) != 1 or len(decoded) != 1 or decoded[0].name != sample.calls[0].name:
        return []
    questions = _Questions(sample, benchmark)
    if not questions.accepts(sample.calls[0].arguments):
        return []
    [call] = decoded
    tool = request.tools.decided(request.options.unknown_keys)[call.name]
    orders = [candidate.order for candidate in call.candidates]

    def arguments(candidates: Sequence[CandidateCall]) -> Mapping[str, Any]:
        return revote(candidates, request).arguments

    # a vote over more orders than there are is the one over all of them
    votes = {str(count): arguments(call.candidates[:count]) for count in COUNTS} | {ALL: arguments(call.candidates)}
    votes |= {name: arguments([likeliest(call.candidates[:count])]) for count, name in LIKELIEST.items()}
    alone = [arguments([candidate]) for candidate in call.candidates]
    return [
        ValueSlot(
            id=sample.id,
            dialogue=sample.dialogue,
            tool=tool.name,
            key=spec.name,
            kind=kind,
            keys=len(tool.required),
            type="enum" if spec.value_type.enum else spec.value_type.kind,
            places=[order.index(spec.name) for order in orders if spec.name in order] if kind == "required" else [],
            orders=[questions.right(kind, spec.name, given) for given in alone],
            votes={name: questions.right(kind, spec.name, given) for name, given in votes.items()},
        )
        for spec in tool.parameters
        for kind in questions.kinds(spec)
    ]


def likeliest(candidates: Sequence[CandidateCall]) -> CandidateCall:
    """Return the call whose required values have the highest mean log-probability; the first if equal."""

    def mean(call: CandidateCall) -> float:
        logprobs = [value.logprob for value in call.values if value.key in call.order]
        return sum(logprobs) / len(logprobs) if logprobs else 0.0

    return max(candidates, key=mean)


class _Questions:
    """The right answers of a sample with one reference call."""

    def __init__(self, sample: Sample, benchmark: Benchmark) -> None:
        [self._reference] = sample.calls
        self._format = CALL_FORMATS[benchmark.call_format]
        self._open = benchmark.open_keys(sample)
        self._is_right = cache(lambda text: benchmark.judge(sample, text).correct)  # orders often agree

    def kinds(self, spec: ParameterSpec) -> tuple[SlotKind, ...]:
        """Return what is asked about a parameter."""
        if spec.required:
            return ("required",)
        if spec.name in self._open:
            return ()
        return ("optional", "presence") if spec.name in self._reference.arguments else ("presence",)

    def right(self, kind: SlotKind, key: str, given: Mapping[str, Any]) -> bool:
        """Whether the arguments of a call answer a question right."""
        arguments = dict(self._reference.arguments)
        if kind == "presence" and key in given and key in arguments:
            return True
        arguments.pop(key, None)
        return self.accepts({**arguments, key: given[key]} if key in given else arguments)

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the benchmark accepts a call of the reference's tool."""
        return self._is_right(self._format.render([Call(self._reference.name, dict(arguments))]))
