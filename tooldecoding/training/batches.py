"""Token batches with loss weights, and the curriculum that chooses what they hold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from tooldecoding.training.dialogue import Segment, TrainingDialogue, segments
from tooldecoding.training.drills import recall, repeated_ids
from tooldecoding.training.sgd import SgdDialogues
from tooldecoding.training.synthetic import Size, make_dialogue
from tooldecoding.training.tokenizer import SPECIAL

CONTEXT_WEIGHT = 0.1


@dataclass(frozen=True)
class Encoded:
    """Token ids of one sequence and, per token, whether it belongs to a call."""

    ids: list[int]
    is_call: list[bool]


@dataclass(frozen=True)
class Batch:
    """``ids`` (B, T) right-padded; ``is_call`` (B, T) bool; ``weight`` (B, T), 0 on padding."""

    ids: Tensor
    is_call: Tensor
    weight: Tensor


@dataclass(frozen=True)
class Stage:
    """What the curriculum draws from ``start`` (share of the training time) on."""

    start: float
    size: Size
    drill_share: float
    sgd_share: float
    max_tokens: int
    batch_tokens: int


CURRICULUM = (
    Stage(0.0, Size(), 1.0, 0.0, 256, 4096),
    Stage(0.08, Size(tools=1, parameters=2, calls=3), 0.4, 0.0, 320, 4096),
    Stage(0.14, Size(tools=2, parameters=4, calls=4), 0.15, 0.0, 512, 4096),
    Stage(0.2, Size(), 0.05, 0.5, 768, 6144),
    Stage(0.45, Size(), 0.02, 0.5, 960, 6144),
)


def stage_at(progress: float, curriculum: Sequence[Stage] = CURRICULUM) -> Stage:
    """The last stage that has started at ``progress`` (0 to 1)."""
    return [stage for stage in curriculum if stage.start <= progress][-1]


def encode(parts: Sequence[Segment], tokenizer: PreTrainedTokenizerFast, max_tokens: int) -> Encoded | None:
    """Encode segment by segment, up to the last call that fits; ``None`` if not even the first does."""
    ids: list[int] = []
    is_call: list[bool] = []
    kept = 0
    for part in parts:
        new = tokenizer.encode(part.text, add_special_tokens=False)
        ids += new
        is_call += [part.is_call] * len(new)
        if len(ids) > max_tokens:
            break
        if part.is_call:
            kept = len(ids)
    return Encoded(ids[:kept], is_call[:kept]) if kept else None


def collate(sequences: Sequence[Encoded], pad: int) -> Batch:
    """Right-pad to the longest; causal attention then needs no mask."""
    width = max(len(s.ids) for s in sequences)
    ids = torch.full((len(sequences), width), pad, dtype=torch.long)
    is_call = torch.zeros((len(sequences), width), dtype=torch.bool)
    weight = torch.zeros((len(sequences), width))
    for row, s in enumerate(sequences):
        ids[row, : len(s.ids)] = torch.tensor(s.ids)
        is_call[row, : len(s.ids)] = torch.tensor(s.is_call)
        weight[row, : len(s.ids)] = CONTEXT_WEIGHT
    weight[is_call] = 1.0
    return Batch(ids, is_call, weight)


def group(sequences: Sequence[Encoded], batch_tokens: int, pad: int) -> list[Batch]:
    """Batches of similar lengths with at most ``batch_tokens`` tokens each, padding included."""
    batches: list[Batch] = []
    current: list[Encoded] = []
    for sequence in sorted(sequences, key=lambda s: len(s.ids)):
        if current and (len(current) + 1) * len(sequence.ids) > batch_tokens:
            batches.append(collate(current, pad))
            current = []
        current.append(sequence)
    if current:
        batches.append(collate(current, pad))
    return batches


def draw_dialogue(stage: Stage, sgd: SgdDialogues | None, rng: Random) -> TrainingDialogue:
    """One dialogue of the stage's mixture; without SGD all are synthetic."""
    if sgd is not None and rng.random() < stage.sgd_share:
        return sgd.draw(rng)
    return make_dialogue(rng, stage.size)


class Material:
    """An endless seeded source of batches."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast, sgd: SgdDialogues | None, seed: int) -> None:
        self.tokenizer = tokenizer
        self.sgd = sgd
        self.rng = Random(f"material-{seed}")

    def sequence(self, stage: Stage) -> Encoded | None:
        """One sequence of the stage; ``None`` where its first call lies beyond ``max_tokens``."""
        rng = self.rng
        if rng.random() < stage.drill_share:
            if rng.random() < 0.5:
                return Encoded(*repeated_ids(rng, len(SPECIAL), len(self.tokenizer)))
            return encode(recall(rng), self.tokenizer, stage.max_tokens)
        return encode(segments(draw_dialogue(stage, self.sgd, rng), rng), self.tokenizer, stage.max_tokens)

    def batches(self, stage: Stage) -> Iterator[Batch]:
        """The batches of one pool of sequences, in random order."""
        pool: list[Encoded] = []
        while sum(len(s.ids) for s in pool) < 4 * stage.batch_tokens:
            sequence = self.sequence(stage)
            if sequence is not None:
                pool.append(sequence)
        batches = group(pool, stage.batch_tokens, self.tokenizer.convert_tokens_to_ids("<pad>"))
        self.rng.shuffle(batches)
        yield from batches
