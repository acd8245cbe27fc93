"""The value slots of a run of ``eval``, from its predictions."""

from collections.abc import Sequence

from eval.benchmarks.samples import Benchmark
from eval.methods.sample_prompts import Prompter
from eval.runs.predictions import PredictionRow
from eval.tuning.decoded_prompt import VoteOptions, read_decoded
from eval.tuning.evidence import remembered
from eval.votes.judge_values import value_slots
from eval.votes.value_slot import ValueSlot


def run_values(rows: Sequence[PredictionRow], benchmark: Benchmark, prompter: Prompter, place: str) -> list[ValueSlot]:
    """Return the slots of all predictions that have candidates.

    Parameters
    ----------
    place : str
        The file of the predictions, for messages.

    Raises
    ------
    EvalError
        If candidates are malformed, or a prediction is not the vote over them.
    """
    options = prompter.settings
    vote = VoteOptions(options.order_limit, options.optional_share, options.stopping, options.stopping_level)
    judge = remembered(benchmark.judge)
    slots = []
    for sample, _, row in rows:
        if row.get("candidates"):
            written = {**row, "prediction": row.get("written", row["prediction"])}
            decoded = read_decoded(written, f"{place}, {sample.id}", prompter.request(sample), vote)
            slots += value_slots(sample, decoded.calls, options.optional_share, benchmark, judge)
    return slots
