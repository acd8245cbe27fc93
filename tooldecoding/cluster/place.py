"""Where a command runs its model: in this process, or in the workers of a cluster."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.cluster.task import I, R, Solo, Task, Workers
from tooldecoding.models.loading import load_quietly, load_tokenizer_quietly
from tooldecoding.models.sources import REFERENCE_MODEL
from tooldecoding.options.ray_options import RayOptions


class Place(Protocol):
    """Where a model runs.

    Attributes
    ----------
    tokenizer : PreTrainedTokenizerBase
        The model's, in this process.
    """

    tokenizer: PreTrainedTokenizerBase

    def workers(self, task: Task[I, R]) -> AbstractContextManager[Workers[I, R]]:
        """Return workers for a task."""


class Here:
    """This process; loads the model."""

    def __init__(self, options: RayOptions) -> None:
        self.model, self.tokenizer = load_quietly(options.model, **options.loading)

    def workers(self, task: Task[I, R]) -> AbstractContextManager[Workers[I, R]]:
        """Return this process as the only worker."""
        return nullcontext(Solo(task.loaded(self.model, self.tokenizer)))


class There:
    """A cluster that this process has joined; each worker loads the model, this process only the tokenizer."""

    def __init__(self, options: RayOptions, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer = tokenizer
        self._options = options

    def workers(self, task: Task[I, R]) -> AbstractContextManager[Workers[I, R]]:
        """Return the workers, which start with ``spread`` and end with it; ConfigError if the cluster is too small."""
        from tooldecoding.cluster.ray_data import RayWorkers

        options = self._options
        load = partial(_load, _absolute(options.model), options.loading)
        return nullcontext(RayWorkers(task, load, options.actors or 1, options.gpus_per_actor))


@contextmanager
def place_of(options: RayOptions) -> Iterator[Place]:
    """Return where the options say that the model runs; a cluster is left, or ended, with the block.

    Raises
    ------
    ToolDecodingError
        If the model cannot be loaded, or there is no such cluster.
    """
    if options.ray is None:
        yield Here(options)
        return
    from tooldecoding.cluster.connection import connected

    tokenizer = load_tokenizer_quietly(options.model, options.trust_remote_code, revision=options.revision)
    with connected(options.ray):
        yield There(options, tokenizer)


def _load(model: str, arguments: Mapping[str, Any], device: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load a model in a worker; on the device that it got, unless the arguments name another place."""
    if not arguments["device"] and not arguments["device_map"]:
        arguments = {**arguments, "device": device}
    return load_quietly(model, **arguments)


def _absolute(model: str) -> str:
    """Workers have another working directory."""
    return str(Path(model).resolve()) if model != REFERENCE_MODEL and Path(model).exists() else model
