"""How much of the documentation prompts print: the least that is not significantly less accurate than all of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from eval.metrics.accuracy import Accuracy
from eval.tuning.choice import p_of_loss
from eval.tuning.collect import Collector
from eval.tuning.decision import Decision
from eval.tuning.derive import Deriver
from eval.tuning.evidence import Evidence
from eval.tuning.tuning_prompts import TuningPrompt
from eval.tuning.verdicts import Verdicts, accuracy
from eval.tuning.vote_options import VoteOptions
from tooldecoding.options.decode_options import Detail


@dataclass(frozen=True)
class DetailPrompts:
    """The prompts with some of the documentation, and how many tokens each has (0 if it cannot be made)."""

    prompts: Sequence[TuningPrompt]
    tokens: Sequence[int]


@dataclass(frozen=True)
class DetailRow:
    """One way to print the documentation, decoded with one order.

    Attributes
    ----------
    detail : {"full", "signatures", "names"}
    right : Accuracy
    p : float or None
        One-sided p-value of its loss against the full documentation; None for that itself.
    tokens : float
        Mean tokens of a prompt.
    """

    detail: Detail
    right: Accuracy
    p: float | None
    tokens: float


def compare_details(
    by_detail: Mapping[Detail, DetailPrompts],
    verdicts: Verdicts,
    base: VoteOptions,
    decision: Decision,
    collector: Collector,
    seed: int,
) -> list[DetailRow]:
    """Decode all prompts with one order for each detail, in a folder of its own, and compare with the first one."""
    single = replace(base, order_limit=1)
    right: dict[Detail, Mapping[str, bool]] = {}
    rows = []
    for detail, given in by_detail.items():
        own = replace(collector, folder=collector.folder / f"documentation-{detail}")
        own.folder.mkdir(exist_ok=True)
        deriver = Deriver(given.prompts, own.candidates(given.prompts, single), own.again, verdicts.scored)
        evidence = Evidence(given.prompts, deriver, verdicts)
        right[detail] = evidence.right(single, single)
        first = next(iter(right.values()))
        loss = p_of_loss(right[detail], first, evidence.dialogues, decision.rule, seed)
        made = [tokens for tokens in given.tokens if tokens]
        p = None if len(right) == 1 else loss
        rows.append(DetailRow(detail, accuracy(right[detail]), p, fmean(made) if made else 0.0))
    return rows


def choose_detail(rows: Sequence[DetailRow], level: float) -> Detail:
    """Return the last detail, the shortest one, that is not significantly worse than the first."""
    return next(row.detail for row in reversed(rows) if row.p is None or row.p > level)
