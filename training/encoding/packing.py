"""Rows packed with sequences to the last token, and the tokens in them whose loss is computed."""

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor

from training.answer import CONTEXT, KEY, NAME, TEXT, VALUE
from training.encoding.encode import Encoded

CONTEXT_WEIGHT = 0.1
"""Loss weight of a token outside answers. Tokens of answers weigh 1, except as follows."""
KEY_WEIGHT = 0.4
"""Loss weight of a key's tokens: where keys are shuffled, nobody can know the next one."""
TEXT_WEIGHT = 0.2
"""Loss weight of prose: nobody can know its words. Its first token, which decides against a call, weighs 1."""
DECISION_WEIGHT = 2.0
"""Loss weight of the first token of a name or value, which decides the rest."""
IDS_PER_SEQUENCE = 64
"""Size of the range of ``Batch.sequence_ids`` for one sequence: its shared prefix and up to 63 continuations."""

Drawer = Callable[[int], Encoded | None]
"""Maximum of tokens -> a sequence of at most that many, or ``None`` if the drawn one does not fit."""


class Batch(NamedTuple):
    """Packed rows.

    Attributes
    ----------
    ids : Tensor (B, T), int64
        Tokens.
    sequence_ids : Tensor (B, T), int64
        ``IDS_PER_SEQUENCE`` times the number of the sequence in its row, plus the number of the continuation.
    targets : Tensor (K,), int64
        Indices into the flattened ids of the tokens to predict.
    weight : Tensor (K,), float32
        Loss weight of each target.
    is_answer : Tensor (K,), bool
        Whether the target is part of an answer.
    """

    ids: Tensor
    sequence_ids: Tensor
    targets: Tensor
    weight: Tensor
    is_answer: Tensor

    def to(self, device: torch.device) -> "Batch":
        """Return the batch on a device."""
        return Batch(*(tensor.to(device) for tensor in self))


def fill_row(length: int, draw: Drawer, fill: Drawer, tries: int = 3) -> list[Encoded]:
    """Return sequences of ``length`` tokens in total.

    Sequences are drawn until ``tries`` of them did not fit; ``fill`` makes the rest, cut to the room that is left.
    """
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
    """Make a batch of full rows.

    A share of ``learnt_share`` of all tokens are targets: those of answers, then a random sample of the others, whose
    weight is raised to stand for all others. If answers have more tokens than that, a random sample of them is used.
    """
    ids = torch.tensor([[i for s in row for i in s.ids] for row in rows])
    sequence_ids = torch.tensor([[IDS_PER_SEQUENCE * n + c for n, s in enumerate(row) for c in _continuations(s)]
                                 for row in rows])  # fmt: skip
    weights, others = _predictable([sequence for row in rows for sequence in row])
    answers = list(weights)
    count = int(ids.numel() * learnt_share)
    chosen = answers if len(answers) <= count else rng.sample(answers, count)
    drawn = rng.sample(others, min(len(others), count - len(chosen)))
    lacking = count - len(chosen) - len(drawn)  # filled with a token of weight 0, so that all batches have one shape
    targets = [*chosen, *drawn, *answers[:1] * lacking]
    weight = torch.zeros(count)
    weight[: len(chosen)] = torch.tensor([weights[target] for target in chosen])
    if drawn:
        weight[len(chosen) : len(chosen) + len(drawn)] = CONTEXT_WEIGHT * len(others) / len(drawn)
    return Batch(ids, sequence_ids, torch.tensor(targets), weight, torch.arange(count) < len(chosen))


def _continuations(sequence: Encoded) -> Sequence[int]:
    return sequence.continuations or [0] * len(sequence.ids)


def _predictable(sequences: Sequence[Encoded]) -> tuple[dict[int, float], list[int]]:
    """Return the loss weight of each token of an answer by its index, and the indices of the other tokens.

    The first token of a sequence, and of each continuation but the first, has no token before it to predict it from.
    """
    weights: dict[int, float] = {}
    others: list[int] = []
    start = 0
    for sequence in sequences:
        parts = _continuations(sequence)
        for n, kind in enumerate(sequence.kinds):
            if n == 0 or (parts[n] > 1 and parts[n] != parts[n - 1]):
                continue
            if kind == CONTEXT:
                others.append(start + n)
            else:
                weights[start + n] = _weight(kind, sequence.kinds[n - 1])
        start += len(sequence.ids)
    return weights, others


def _weight(kind: int, before: int) -> float:
    if kind == KEY:
        return KEY_WEIGHT
    if kind == TEXT and before == TEXT:
        return TEXT_WEIGHT
    return DECISION_WEIGHT if kind in (NAME, VALUE) and before != kind else 1.0
