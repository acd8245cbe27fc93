"""What workers do with groups of items, and the worker that is this process."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.models.sources import identify, input_device

Item = TypeVar("Item")
Result = TypeVar("Result")

MakeGroupDecoder = Callable[
    [PreTrainedModel, PreTrainedTokenizerBase], Callable[[Sequence[Item]], Iterable[tuple[int, Result]]]
]
"""Takes a model, once in each worker; returns what yields the number and the result of each item of a group.

It can be pickled. What it returns is a pure function: a group may run again elsewhere.
"""

OnModelLoaded = Callable[[Mapping[str, str]], None]
"""Called once, before the first results, with the identity of the model."""

Pairs = Iterator[tuple[Sequence[Item], Sequence[Result]]]
MapGroups = Callable[[Iterable[Sequence[Item]], OnModelLoaded | None], Pairs[Item, Result]]
"""Groups -> items with their results, as they come; every item exactly once."""


class LocalWorker:
    """This process. Groups keep their sequence, and are read as they are needed.

    Attributes
    ----------
    tokenizer : PreTrainedTokenizerBase
        The model's, in this process.
    device : str
        What computes.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.device = str(input_device(model))

    def start(self, make: MakeGroupDecoder[Item, Result]) -> MapGroups[Item, Result]:
        """Return what decodes groups."""
        decode = make(self.model, self.tokenizer)

        def map_groups(groups: Iterable[Sequence[Item]], on_model_loaded: OnModelLoaded | None) -> Pairs[Item, Result]:
            if on_model_loaded is not None:
                on_model_loaded(identify(self.model, self.tokenizer))
            for group in groups:
                for number, result in decode(group):
                    yield [group[number]], [result]

        return map_groups
