"""Where a command runs its model: in this process, or in the workers of a cluster."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from transformers import PreTrainedTokenizerBase

from tooldecoding.cluster.model_source import ModelSource
from tooldecoding.cluster.task import I, R, Solo, Task, Workers
from tooldecoding.models.loading import load_quietly, load_tokenizer_quietly
from tooldecoding.models.sources import REFERENCE_MODEL
from tooldecoding.options.ray_options import RayOptions

if TYPE_CHECKING:
    from tooldecoding.cluster.cluster import Cluster


class Place(Protocol):
    """Where a model runs.

    Attributes
    ----------
    tokenizer : PreTrainedTokenizerBase
        The model's, in this process.
    """

    tokenizer: PreTrainedTokenizerBase

    def workers(self, task: Task[I, R]) -> AbstractContextManager[Workers[I, R]]:
        """Return workers for a task; those of a cluster end with the block."""


class Here:
    """This process; loads the model."""

    def __init__(self, options: RayOptions) -> None:
        self._model, self.tokenizer = load_quietly(options.model, **options.loading)

    def workers(self, task: Task[I, R]) -> AbstractContextManager[Workers[I, R]]:
        """Return this process as the only worker."""
        return nullcontext(Solo(task.loaded(self._model, self.tokenizer)))


class There:
    """A cluster; each worker loads the model, this process only the tokenizer."""

    def __init__(self, options: RayOptions, tokenizer: PreTrainedTokenizerBase, cluster: "Cluster") -> None:
        self.tokenizer = tokenizer
        self._cluster = cluster
        device = options.device if options.device or options.device_map else cluster.device
        self._source = ModelSource(_absolute(options.model), options.loading | {"device": device})

    def workers(self, task: Task[I, R]) -> AbstractContextManager[Workers[I, R]]:
        """Start the workers."""
        return self._cluster.crew(task, self._source)


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
    from tooldecoding.cluster.cluster import joined

    tokenizer = load_tokenizer_quietly(options.model, options.trust_remote_code, revision=options.revision)
    with joined(options) as cluster:
        yield There(options, tokenizer, cluster)


def _absolute(model: str) -> str:
    """Workers have another working directory."""
    return str(Path(model).resolve()) if model != REFERENCE_MODEL and Path(model).exists() else model
