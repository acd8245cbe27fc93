"""What is done with many items, and where: in this process, or in the workers of a cluster."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.models.identity import identify
from tooldecoding.models.places import input_device

I = TypeVar("I")  # noqa: E741  # an item
R = TypeVar("R")  # its result

Task = Callable[[PreTrainedModel, PreTrainedTokenizerBase], Callable[[Sequence[I]], Iterable[tuple[int, R]]]]
"""Takes a model, once in each worker; returns what yields the number and the result of each item of a group.

It can be pickled. What it returns is a pure function: a group may run again elsewhere.
"""

Ready = Callable[[Mapping[str, str]], None]
"""Called once, before the first results, with the identity of the model."""

Spread = Callable[[Iterable[Sequence[I]], Ready | None], Iterator[tuple[Sequence[I], Sequence[R]]]]
"""Groups -> items with their results, as they come; every item exactly once. A cluster may regroup the items."""


def no_beginning(_: Any) -> str:
    """Keep the sequence of the items."""
    return ""


class Place(Protocol):
    """Where a model runs.

    Attributes
    ----------
    tokenizer : PreTrainedTokenizerBase
        The model's, in this process.
    device : str
        What computes.
    """

    tokenizer: PreTrainedTokenizerBase
    device: str

    def start(self, task: Task[I, R], beginning: Callable[[I], str] = no_beginning) -> Spread[I, R]:
        """Return what does a task.

        Parameters
        ----------
        beginning : callable
            Names what an item's prompt begins with: a cluster brings items of one name together, for one prefix cache.
        """


class Here:
    """This process. Groups keep their sequence, and are read as they are needed."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.device = str(input_device(model))

    def start(self, task: Task[I, R], beginning: Callable[[I], str] = no_beginning) -> Spread[I, R]:
        """As ``Place``."""
        run = task(self.model, self.tokenizer)

        def spread(groups: Iterable[Sequence[I]], ready: Ready | None) -> Iterator[tuple[Sequence[I], Sequence[R]]]:
            if ready is not None:
                ready(identify(self.model, self.tokenizer))
            for group in groups:
                for number, result in run(group):
                    yield [group[number]], [result]

        return spread
