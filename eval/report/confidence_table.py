"""How well the scores of runs tell right answers with calls from wrong ones, run against run."""

from collections.abc import Sequence
from math import ceil
from typing import Final

from eval.report.finished_run import Run
from eval.report.table import NONE, Table, counted, probability
from eval.statistics import Accuracy, auroc_gain
from eval.tuning.confidence import LabelledCall, ranking

_SUREST: Final = (0.25, 0.5, 0.75, 1.0)
"""Shares of the answers."""

Answers = dict[tuple[str, str], LabelledCall]
"""Benchmark and id -> answer."""


def answers(run: Run) -> Answers:
    """Return the answers that have a score."""
    verdicts = {verdict.id: verdict for verdict in run.scores}
    found = {}
    for cost in run.costs:
        verdict = verdicts[cost.id]
        # greedy's texts have scores, too, if they call nothing
        if cost.score is not None and not (run.about.method == "greedy" and verdict.error_class == "awareness"):
            found[run.about.benchmark, cost.id] = LabelledCall(cost.score, verdict.correct, verdict.dialogue or cost.id)
    return found


def surest_first(found: Answers) -> list[bool]:
    """Return whether each answer is right."""
    return [answer.right for answer in sorted(found.values(), reverse=True)]


def confidence_table(runs: Sequence[Run], title: str = "Confidence") -> Table:
    """Return a row for each model and method; runs of one name, on several benchmarks, are taken together."""
    by_name: dict[tuple[str, str], Answers] = {}
    for run in runs:
        by_name.setdefault((run.about.model, run.name), {}).update(answers(run))
    first: dict[str, Answers] = {}
    rows = []
    for (model, name), found in by_name.items():
        if found:
            right = surest_first(found)
            parts = [right[: ceil(len(right) * part)] for part in _SUREST]
            cells = [counted(Accuracy(sum(part), len(part)), True) for part in parts]
            rank = ranking(list(found.values()))
            gain = _gain(first[model], found) if model in first else (NONE,) * 3
            first.setdefault(model, found)
            rows.append((model, name, str(len(found)), NONE if rank is None else f"{rank:.3f}", *cells, *gain))
    notes = (
        "AUROC: in how many pairs of a right and a wrong answer with calls the right one has the higher score. Then "
        "per cent right of the surest answers.",
        "Gain: AUROC minus that of the model's first row, on the answers that both have, each with its own verdicts; "
        "95 % interval and two-sided p by a paired bootstrap over dialogues, each row by itself.",
    )
    columns = ("model", "method", "answers", "AUROC", *(f"surest {part:.0%}" for part in _SUREST))
    return Table(title, (*columns, "in both", "gain", "p"), tuple(rows), 2, notes=notes)


def _gain(first: Answers, other: Answers) -> tuple[str, str, str]:
    common = [key for key in first if key in other]
    dialogues = [(benchmark, first[benchmark, each].dialogue) for benchmark, each in common]
    found = auroc_gain([other[key][:2] for key in common], [first[key][:2] for key in common], dialogues)
    if found is None:
        return str(len(common)), NONE, NONE
    gain, p = found
    return str(len(common)), f"{gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})", probability(p)
