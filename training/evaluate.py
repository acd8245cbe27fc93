"""Held-out measurement by teacher forcing: tokens of answers, names, values, whole calls.

``python -m training.evaluate --model DIR --sgd DIR`` prints one JSON object. An answer is written exactly
by greedy decoding if and only if the most probable token is right at each of its tokens given the right ones before it,
so all figures come from one forward pass a sequence.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import torch
import typer
from torch import Tensor

from tooldecoding.cli.ending import end_well
from tooldecoding.models.loading import load_quietly
from training.encoding.encode import CONTEXT, NAME, VALUE, Encoded
from training.run.material import encode_held_out, held_out_examples

Correctness = Callable[[Sequence[Encoded]], list[Tensor]]
"""Sequences -> for each, whether the most probable token is right, (T - 1,) bool for the tokens from the second on."""


@dataclass(frozen=True)
class Score:
    """Shares over all answers.

    Attributes
    ----------
    answers, values : int
        How many there are.
    token_accuracy : float
        Tokens of answers.
    names : float
        Answers whose names are right in all tokens.
    each_value : float
        Single values that are right in all tokens, with their end.
    all_values : float
        Answers whose values all are right, given the right keys: what decoding with injected keys can reach.
    exact : float
        Answers that are right in all tokens: what plain greedy decoding can reach.
    """

    answers: int
    values: int
    token_accuracy: float
    names: float
    each_value: float
    all_values: float
    exact: float


def spans(kinds: Sequence[int], inside: Callable[[int], bool]) -> Iterator[slice]:
    """Stretches of tokens for which ``inside`` holds."""
    start = None
    for place, kind in enumerate([*kinds, CONTEXT]):
        if inside(kind) and start is None:
            start = place
        elif not inside(kind) and start is not None:
            yield slice(start, place)
            start = None


def count(sequences: Sequence[Encoded], right: Sequence[Tensor]) -> Score:
    """The score of some sequences; ``right`` as ``Correctness`` gives it."""
    tokens = good_tokens = answers = names = all_values = exact = 0
    values: list[bool] = []
    for sequence, correct in zip(sequences, right, strict=True):
        good = [False, *correct.tolist()]
        for span in spans(sequence.kinds, lambda kind: kind != CONTEXT):
            kinds, hits = sequence.kinds[span], good[span]
            each = [all(hits[value]) for value in spans(kinds, lambda kind: kind == VALUE)]
            values += each
            answers += 1
            tokens += len(hits)
            good_tokens += sum(hits)
            names += all(hit for hit, kind in zip(hits, kinds, strict=True) if kind == NAME)
            all_values += all(each)
            exact += all(hits)
    return Score(
        answers=answers,
        values=len(values),
        token_accuracy=good_tokens / max(1, tokens),
        names=names / max(1, answers),
        each_value=sum(values) / max(1, len(values)),
        all_values=all_values / max(1, answers),
        exact=exact / max(1, answers),
    )


def main(
    model: Annotated[Path, typer.Option(help="Folder of the model and its tokenizer.")],
    sgd: Annotated[Path | None, typer.Option(help="Folder of SGD; left out if absent.")] = None,
    examples: Annotated[int, typer.Option(help="Examples of each kind.")] = 100,
    most_tokens: Annotated[int, typer.Option(help="Examples are cut there.")] = 4096,
) -> None:
    """Print the scores of a model on held-out material."""
    network, tokenizer = load_quietly(str(model), device="cpu", dtype="fp32")

    def right(sequences: Sequence[Encoded]) -> list[Tensor]:
        out = []
        with torch.no_grad():
            for sequence in sequences:
                ids = torch.tensor([sequence.ids])
                out.append(network(ids, use_cache=False).logits[0, :-1].argmax(-1) == ids[0, 1:])
        return out

    rows = {}
    for name, drawn in held_out_examples(sgd, examples).items():
        encoded = encode_held_out(drawn, tokenizer, most_tokens)
        rows[name] = asdict(count(encoded, right(encoded)))
    typer.echo(json.dumps(rows, indent=1))


if __name__ == "__main__":
    sys.exit(end_well(lambda: typer.run(main)))
