"""Where a command runs its model, and what is done there: in this process, or in the workers of a cluster."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.models.loading import load_quietly, load_tokenizer_quietly
from tooldecoding.models.sources import REFERENCE_MODEL, identify, input_device
from tooldecoding.options.model_options import RayOptions

if TYPE_CHECKING:
    from tooldecoding.cluster.ray_data import There

I = TypeVar("I")  # noqa: E741  # an item
R = TypeVar("R")  # its result

Task = Callable[[PreTrainedModel, PreTrainedTokenizerBase], Callable[[Sequence[I]], Iterable[tuple[int, R]]]]
"""Takes a model, once in each worker; returns what yields the number and the result of each item of a group.

It can be pickled. What it returns is a pure function: a group may run again elsewhere.
"""

Ready = Callable[[Mapping[str, str]], None]
"""Called once, before the first results, with the identity of the model."""

Spread = Callable[[Iterable[Sequence[I]], Ready | None], Iterator[tuple[Sequence[I], Sequence[R]]]]
"""Groups -> items with their results, as they come; every item exactly once."""


class Here:
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

    def start(self, task: Task[I, R]) -> Spread[I, R]:
        """Return what does a task."""
        run = task(self.model, self.tokenizer)

        def spread(groups: Iterable[Sequence[I]], ready: Ready | None) -> Iterator[tuple[Sequence[I], Sequence[R]]]:
            if ready is not None:
                ready(identify(self.model, self.tokenizer))
            for group in groups:
                for number, result in run(group):
                    yield [group[number]], [result]

        return spread


Place: TypeAlias = "Here | There"
"""Where a model runs."""


@contextmanager
def place_of(options: RayOptions) -> Iterator[Place]:
    """Return where the options say that the model runs; a cluster is left, or ended, with the block.

    Raises
    ------
    ToolDecodingError
        If the model cannot be loaded, or there is no such cluster.
    """
    if options.ray is None:
        yield Here(*load_quietly(options.model, **options.loading))
        return
    from tooldecoding.cluster.connection import connected
    from tooldecoding.cluster.ray_data import There

    tokenizer = load_tokenizer_quietly(options.model, options.trust_remote_code, revision=options.revision)
    with connected(options.ray):
        load = partial(_load, _absolute(options.model), options.loading)
        yield There(tokenizer, load, options.actors or 1, options.gpus_per_actor)


def _load(model: str, arguments: Mapping[str, Any], device: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load a model in a worker; on the device that it got, unless the arguments name another place."""
    if not arguments["device"] and not arguments["device_map"]:
        arguments = {**arguments, "device": device}
    return load_quietly(model, **arguments)


def _absolute(model: str) -> str:
    """Workers have another working directory."""
    return str(Path(model).resolve()) if model != REFERENCE_MODEL and Path(model).exists() else model
