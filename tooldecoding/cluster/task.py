"""What workers do, in this process or in a cluster."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from transformers import PreTrainedModel, PreTrainedTokenizerBase

I = TypeVar("I")  # noqa: E741  # an item
R = TypeVar("R")  # its result

I_contra = TypeVar("I_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

About = Mapping[str, Any]
"""What is worth knowing of a worker: its ``device``, and the ``identity`` of its model."""


class Loaded(Protocol[I_contra, R_co]):
    """A task with its model."""

    @property
    def about(self) -> About:
        """What is worth knowing of it; ``device`` at least."""

    def run(self, items: Sequence[I_contra]) -> Sequence[R_co]:
        """Return the results of a group in its sequence. A pure function: a group may run again elsewhere."""


class Task(Protocol[I_contra, R_co]):
    """What every worker does; it can be pickled."""

    def loaded(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Loaded[I_contra, R_co]:
        """Return the task with its model; once in each worker."""

    def beginning(self, item: I_contra) -> str:
        """Name what the item's prompt begins with: items of one name are served by one prefix cache."""


class Workers(Protocol[I, R_co]):
    """Decodes a stream of groups."""

    @property
    def about(self) -> About:
        """Where they compute: ``device``."""

    def spread(
        self, groups: Iterable[Sequence[I]], ready: Callable[[About], None] = ...
    ) -> Iterator[tuple[Sequence[I], Sequence[R_co]]]:
        """Yield groups with their results, as they come; every item exactly once.

        Parameters
        ----------
        groups : iterable
            Workers in a cluster may regroup the items.
        ready : callable
            Called once, before the first results, with what is worth knowing of the first worker.
        """


class Solo:
    """The only worker: this process. Groups keep their sequence, and are read as they are needed."""

    def __init__(self, loaded: Loaded[Any, Any]) -> None:
        self._loaded = loaded

    @property
    def about(self) -> About:
        """As ``Loaded.about``."""
        return self._loaded.about

    def spread(
        self, groups: Iterable[Sequence[Any]], ready: Callable[[About], None] = lambda about: None
    ) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
        """Yield each group with its results."""
        ready(self.about)
        for group in groups:
            yield group, self._loaded.run(group)
