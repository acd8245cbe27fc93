"""Votes over different orders, and of different methods, on the same values."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eval.metrics.accuracy import Estimate
from eval.metrics.significance import clustered, sign_flips
from eval.votes.value_slot import KINDS, Kind, ValueSlot

Question = tuple[str, str, Kind]
"""Sample id, key and kind."""
_Answers = dict[Question, bool]
_NOTHING: Final = Estimate(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class VoteRow:
    """One vote of one method.

    Attributes
    ----------
    method, vote : str
    right : dict
        Kind -> values that are right.
    calls : int
        Calls of which all that is asked is right.
    gain : Estimate
        The share of required values that are right, minus that of the first row.
    p : float
        Of the gain: paired permutation test, dialogues as units.
    better, worse : int
        Tools whose required values gain, or lose. All calls of a tool have the same orders.
    """

    method: str
    vote: str
    right: Mapping[Kind, int]
    calls: int
    gain: Estimate
    p: float
    better: int
    worse: int


@dataclass(frozen=True)
class VoteRows:
    """Votes on the values that all of them have.

    Attributes
    ----------
    rows : sequence of VoteRow
    values : dict
        Kind -> number of values.
    calls : int
    left_out : int
        Values that some vote lacks: its orders were not decoded, or the method called another tool.
    """

    rows: Sequence[VoteRow]
    values: Mapping[Kind, int]
    calls: int
    left_out: int


def vote_rows(slots_by_method: Mapping[str, Sequence[ValueSlot]]) -> VoteRows:
    """Compare all votes of all methods; the first vote of the first method is the base of the gains."""
    by_vote: dict[tuple[str, str], _Answers] = {}
    asked: dict[Question, ValueSlot] = {}
    for method, slots in slots_by_method.items():
        for slot in slots:
            question = slot.id, slot.key, slot.kind
            asked.setdefault(question, slot)
            for vote, right in slot.votes.items():
                by_vote.setdefault((method, vote), {})[question] = right
    common = {q: slot for q, slot in asked.items() if all(q in answers for answers in by_vote.values())}
    base = next(iter(by_vote.values()), {})
    return VoteRows(
        [_row(method, vote, answers, base, common) for (method, vote), answers in by_vote.items()],
        {kind: sum(slot.kind == kind for slot in common.values()) for kind in KINDS},
        len({slot.id for slot in common.values()}),
        len(asked) - len(common),
    )


def _row(method: str, vote: str, answers: _Answers, base: _Answers, common: Mapping[Question, ValueSlot]) -> VoteRow:
    required = {question: slot for question, slot in common.items() if slot.kind == "required"}
    differences = [int(answers[question]) - int(base[question]) for question in required]
    dialogues = [slot.dialogue for slot in required.values()]
    of_tool: Counter[str] = Counter()
    for slot, difference in zip(required.values(), differences, strict=True):
        of_tool[slot.tool] += difference
    wrong = {slot.id for question, slot in common.items() if not answers[question]}
    return VoteRow(
        method,
        vote,
        {kind: sum(answers[q] for q, slot in common.items() if slot.kind == kind) for kind in KINDS},
        len({slot.id for slot in common.values()} - wrong),
        clustered(differences, dialogues) if required else _NOTHING,
        sign_flips(differences, dialogues),
        sum(gain > 0 for gain in of_tool.values()),
        sum(gain < 0 for gain in of_tool.values()),
    )
