"""Score a model on held-out material by teacher forcing: ``python -m training.evaluate --model DIR --sgd DIR``."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import torch
import typer
from torch import Tensor

from tooldecoding.cli.ending import end_well
from tooldecoding.models.loading import load_quietly
from training.encoding.encode import Encoded
from training.evaluation.examples import encode_held_out, held_out_examples
from training.evaluation.scores import score_answers


def main(
    model: Annotated[Path, typer.Option(help="Folder of the model and its tokenizer.")],
    sgd: Annotated[Path | None, typer.Option(help="Folder of SGD; left out if absent.")] = None,
    examples: Annotated[int, typer.Option(help="Examples of each kind.")] = 100,
    most_tokens: Annotated[int, typer.Option(help="Examples are cut there.")] = 4096,
) -> None:
    """Print the scores of a model on held-out material as one JSON object."""
    network, tokenizer = load_quietly(str(model), device="cpu", dtype="fp32")

    @torch.no_grad()
    def correct(sequences: Sequence[Encoded]) -> list[Tensor]:
        out = []
        for sequence in sequences:
            ids = torch.tensor([sequence.ids])
            out.append(network(ids, use_cache=False).logits[0, :-1].argmax(-1) == ids[0, 1:])
        return out

    rows = {}
    for name, drawn in held_out_examples(sgd, examples).items():
        encoded = encode_held_out(drawn, tokenizer, most_tokens)
        rows[name] = asdict(score_answers(encoded, correct(encoded)))
    typer.echo(json.dumps(rows, indent=1))


if __name__ == "__main__":
    sys.exit(end_well(lambda: typer.run(main)))
