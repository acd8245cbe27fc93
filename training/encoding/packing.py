"""Rows of one length, filled with sequences to the last token, and the places in them that are learnt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor

from training.encoding.encode import CONTEXT, KEY, NAME, VALUE, Encoded

CONTEXT_WEIGHT = 0.1
"""Loss weight of a token that is no answer's; one of an answer weighs 1, with two exceptions."""
KEY_WEIGHT = 0.4
"""Loss weight of a key's tokens, since the next key cannot be known where keys are shuffled."""
DECISION_WEIGHT = 2.0
"""Loss weight of the first token of a name or a value, which decides on the others."""
MEMBERS = 64
"""Most members of a sequence and its beginning."""

Drawer = Callable[[int], Encoded | None]
"""A maximum of tokens -> a sequence of at most that many, or ``None`` if what was drawn does not fit."""


@dataclass(frozen=True)
class Batch:
    """Packed rows.

    Attributes
    ----------
    ids, row_of : Tensor (B, T), int64
        Tokens, and what each belongs to: ``MEMBERS`` times the number of the sequence in its row, plus the member.
    places : Tensor (K,), int64
        Where in the flattened ids the tokens to be predicted stand.
    weight : Tensor (K,), float32
    is_answer : Tensor (K,), bool
    """

    ids: Tensor
    row_of: Tensor
    places: Tensor
    weight: Tensor
    is_answer: Tensor

    def to(self, device: torch.device) -> "Batch":
        """The batch on a device."""
        return Batch(*(t.to(device) for t in (self.ids, self.row_of, self.places, self.weight, self.is_answer)))


def fill_row(length: int, draw: Drawer, fill: Drawer, tries: int = 3) -> list[Encoded]:
    """Sequences of together ``length`` tokens: drawn ones while they fit, then some of ``fill``, cut where needed."""
    row: list[Encoded] = []
    room, misses = length, 0
    while room > 0 and misses < tries:
        sequence = draw(room)
        if sequence is None:
            misses += 1
            continue
        row.append(sequence)
        room -= len(sequence.ids)
    while room > 0:
        sequence = fill(room)
        if sequence is None:
            raise ValueError(f"nothing fits into the {room} tokens at a row's end")
        row.append(Encoded(sequence.ids[:room], sequence.kinds[:room]))
        room -= len(row[-1].ids)
    return row


def collate(rows: Sequence[Sequence[Encoded]], learnt_share: float, rng: Random) -> Batch:
    """A batch of full rows.

    Of all tokens, a share of ``learnt_share`` is predicted: those of answers, and as many others at random as there is
    room for, whose weight is raised to make up for the rest. Where there are more tokens of answers, some are left out.
    """
    ids = torch.tensor([[i for s in row for i in s.ids] for row in rows])
    row_of = torch.tensor([[MEMBERS * n + m for n, s in enumerate(row) for m in s.members or [0] * len(s.ids)]
                           for row in rows])  # fmt: skip
    answers: list[int] = []
    weights: dict[int, float] = {}
    others: list[int] = []
    at = 0
    for row in rows:
        for sequence in row:
            beginnings = {0} | {n for n, m in enumerate(sequence.members) if m > 1 and m != sequence.members[n - 1]}
            for offset, kind in enumerate(sequence.kinds):
                if offset not in beginnings:
                    (others if kind == CONTEXT else answers).append(at + offset)
                    weights[at + offset] = _weight(kind, sequence.kinds[offset - 1])
            at += len(sequence.ids)
    count = int(ids.numel() * learnt_share)
    chosen = answers if len(answers) <= count else rng.sample(answers, count)
    drawn = rng.sample(others, min(len(others), count - len(chosen)))
    lacking = count - len(chosen) - len(drawn)
    places = [*chosen, *drawn, *answers[:1] * lacking]
    weight = torch.zeros(count)
    weight[: len(chosen)] = torch.tensor([weights[place] for place in chosen])
    if drawn:
        weight[len(chosen) : len(chosen) + len(drawn)] = CONTEXT_WEIGHT * len(others) / len(drawn)
    is_answer = torch.zeros(count, dtype=torch.bool)
    is_answer[: len(chosen)] = True
    return Batch(ids, row_of, torch.tensor(places), weight, is_answer)


def _weight(kind: int, before: int) -> float:
    if kind == KEY:
        return KEY_WEIGHT
    return DECISION_WEIGHT if kind in (NAME, VALUE) and before != kind else 1.0
