"""Where a command runs its model: in this process, or in the workers of a cluster."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from transformers import PreTrainedTokenizerBase

from tooldecoding.cluster.task import I, R, Solo, Task, Workers
from tooldecoding.models.loading import load_quietly, load_tokenizer_quietly
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
        """Return workers for a task; those of a cluster end with the block."""


class Here:
    """This process; loads the model."""

    def __init__(self, options: RayOptions) -> None:
        self._model, self.tokenizer = load_quietly(options.model, **options.loading)

    def workers(self, task: Task[I, R]) -> AbstractContextManager[Workers[I, R]]:
        """Return this process as the only worker."""
        return nullcontext(Solo(task.loaded(self._model, self.tokenizer)))


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
    from tooldecoding.cluster.ray_data import There

    tokenizer = load_tokenizer_quietly(options.model, options.trust_remote_code, revision=options.revision)
    with connected(options.ray):
        yield There(options, tokenizer)
