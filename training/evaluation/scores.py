"""Teacher-forced scores: tokens of answers, names, values and whole answers that are right.

Greedy decoding writes an answer exactly if and only if the most probable token is right at each of its positions given
the right tokens before it. So one forward pass per sequence gives all figures.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from training.answer import CONTEXT, NAME, TEXT, VALUE
from training.encoding.encode import Encoded


@dataclass(frozen=True)
class Score:
    """Shares over all answers.

    Attributes
    ----------
    answers, values : int
        How many there are.
    token_accuracy : float
        Tokens of answers that are right.
    names : float
        Answers with all names right in all tokens.
    each_value : float
        Single values that are right in all tokens, including their end.
    all_values : float
        Answers with all values right, given the right keys: what decoding with injected keys can reach.
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
    """Yield the longest stretches of tokens whose kinds are all ``inside``."""
    start = None
    for place, kind in enumerate([*kinds, CONTEXT]):
        if inside(kind) and start is None:
            start = place
        elif not inside(kind) and start is not None:
            yield slice(start, place)
            start = None


def score_answers(sequences: Sequence[Encoded], correct: Sequence[Tensor]) -> Score:
    """Score the answers of some sequences; what the assistant says in a chat is not scored.

    Parameters
    ----------
    correct : sequence of Tensor (T - 1,), bool
        For each sequence, whether the most probable token is right, for the tokens from the second on.
    """
    tokens: list[bool] = []
    values: list[bool] = []
    answers = names = all_values = exact = 0
    for sequence, predicted in zip(sequences, correct, strict=True):
        good = [False, *predicted.tolist()]
        for span in spans(sequence.kinds, lambda kind: kind != CONTEXT):
            scored = [(kind, hit) for kind, hit in zip(sequence.kinds[span], good[span], strict=True) if kind != TEXT]
            kinds, hits = [kind for kind, _ in scored], [hit for _, hit in scored]
            if TEXT in sequence.kinds[span] and NAME not in kinds:
                continue
            each = [all(hits[value]) for value in spans(kinds, lambda kind: kind == VALUE)]
            tokens += hits
            values += each
            answers += 1
            names += all(hit for hit, kind in zip(hits, kinds, strict=True) if kind == NAME)
            all_values += all(each)
            exact += all(hits)
    return Score(
        answers=answers,
        values=len(values),
        token_accuracy=sum(tokens) / max(1, len(tokens)),
        names=names / max(1, answers),
        each_value=sum(values) / max(1, len(values)),
        all_values=all_values / max(1, answers),
        exact=exact / max(1, answers),
    )
