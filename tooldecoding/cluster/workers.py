"""The workers of a command, this process or actors in a Ray cluster, and what they do with groups of items."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.models.loading import Tell, load_quietly, load_tokenizer, quiet
from tooldecoding.models.sources import REFERENCE_MODEL, identify, input_device
from tooldecoding.options.model_options import RayOptions

if TYPE_CHECKING:
    from tooldecoding.cluster.ray_data import RayWorkers

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


Workers: TypeAlias = "LocalWorker | RayWorkers"


@contextmanager
def workers_of(options: RayOptions, tell: Tell) -> Iterator[Workers]:
    """Return the workers that the options name; a cluster is left, or ended, with the block.

    ``tell``: as ``load_quietly`` takes it.

    ToolDecodingError if the model cannot be loaded, or there is no such cluster.
    """
    if options.ray is None:
        yield LocalWorker(*load_quietly(options.model, tell=tell, **options.loading))
        return
    from tooldecoding.cluster.connection import connected
    from tooldecoding.cluster.ray_data import RayWorkers

    with quiet(options.model, options.trust_remote_code, tell):
        tokenizer = load_tokenizer(options.model, options.trust_remote_code, revision=options.revision)
    with connected(options.ray):
        model = options.model
        if model != REFERENCE_MODEL and Path(model).exists():
            model = str(Path(model).resolve())  # workers have another working directory
        load = partial(_load, model, options.loading)
        yield RayWorkers(tokenizer, load, options.actors or 1, options.gpus_per_actor)


def _load(model: str, arguments: Mapping[str, Any], device: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load a model in a worker; on the device that it got, unless the arguments name another place."""
    if not arguments["device"] and not arguments["device_map"]:
        arguments = {**arguments, "device": device}
    return load_quietly(model, **arguments)
