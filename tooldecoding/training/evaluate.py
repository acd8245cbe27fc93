"""Held-out measurement: call-token accuracy and exact greedy calls, on unseen tools and services.

``python -m tooldecoding.training.evaluate --model DIR --sgd DIR`` prints one JSON object.
A greedy call is exact if and only if the most probable token is right at every token of the call given
the right ones before it, so both figures come from one forward pass a sequence.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Annotated, Any

import torch
import typer
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from tooldecoding.training.batches import Encoded, encode, group
from tooldecoding.training.dialogue import TrainingDialogue, segments
from tooldecoding.training.sgd import SgdDialogues
from tooldecoding.training.synthetic import dialogues


@dataclass(frozen=True)
class Score:
    """Shares over all calls of the dialogues; teacher-forced within a dialogue."""

    calls: int
    token_accuracy: float
    exact_calls: float


def held_out_synthetic(count: int, seed: int = 1_000_003) -> list[TrainingDialogue]:
    """Dialogues about tools whose nouns training never uses."""
    return list(islice(dialogues(seed, held_out=True), count))


def held_out_sgd(folder: Path, count: int, seed: int = 1_000_003) -> list[TrainingDialogue]:
    """Dialogues of SGD dev whose services all are absent from train."""
    seen = {tool["service"] for tool in json.loads((folder / "train_tools.json").read_text(encoding="utf-8"))}
    services = {tool["service"] for tool in json.loads((folder / "dev_tools.json").read_text(encoding="utf-8"))}
    return list(islice(SgdDialogues(folder, "dev", frozenset(services - seen)).stream(seed), count))


def encode_all(
    items: Sequence[TrainingDialogue], tokenizer: PreTrainedTokenizerFast, max_tokens: int = 1280
) -> list[Encoded]:
    """The dialogues with keys in documentation order; those whose first call does not fit are left out."""
    rng = Random(0)
    encoded = (encode(segments(item, rng, shuffled_share=0.0), tokenizer, max_tokens) for item in items)
    return [sequence for sequence in encoded if sequence is not None]


def exact_spans(right: Tensor, is_call: Tensor) -> list[bool]:
    """For each call of one row, whether all its tokens are right; both tensors (T,) bool."""
    spans: list[bool] = []
    inside = False
    for good, member in zip(right.tolist(), is_call.tolist(), strict=True):
        if member and not inside:
            spans.append(True)
        if member:
            spans[-1] = spans[-1] and good
        inside = member
    return spans


@torch.no_grad()
def score(model: Any, sequences: Sequence[Encoded], pad: int, batch_tokens: int = 8192) -> Score:
    """Score a causal LM on encoded dialogues."""
    right_tokens = tokens = 0
    exact: list[bool] = []
    for batch in group(sequences, batch_tokens, pad):
        logits = model(batch.ids, use_cache=False).logits
        right = logits[:, :-1].argmax(-1) == batch.ids[:, 1:]
        member = batch.is_call[:, 1:]
        right_tokens += int((right & member).sum())
        tokens += int(member.sum())
        for row in range(len(right)):
            exact += exact_spans(right[row], member[row])
    return Score(len(exact), right_tokens / max(1, tokens), sum(exact) / max(1, len(exact)))


def main(
    model: Annotated[Path, typer.Option(help="Folder of the model and its tokenizer.")],
    sgd: Annotated[Path | None, typer.Option(help="Folder of SGD; left out if absent.")] = None,
    count: Annotated[int, typer.Option(help="Dialogues of each kind.")] = 100,
) -> None:
    """Print call-token accuracy and the share of exact greedy calls on held-out material."""
    tokenizer = AutoTokenizer.from_pretrained(model)
    network = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).eval()
    sets = {"synthetic": held_out_synthetic(count)}
    if sgd is not None:
        sets["sgd_unseen_services"] = held_out_sgd(sgd, count)
    rows = {
        name: asdict(score(network, encode_all(items, tokenizer), tokenizer.pad_token_id))
        for name, items in sets.items()
    }
    typer.echo(json.dumps(rows, indent=1))


if __name__ == "__main__":
    typer.run(main)
