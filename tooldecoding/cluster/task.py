"""What workers do, in this process or in a cluster."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# workers of tasks without a model do not import torch

I = TypeVar("I")  # noqa: E741  # an item
R = TypeVar("R")  # its result

I_contra = TypeVar("I_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)


class Loaded(Protocol[I_contra, R_co]):
    """A task with its model."""

    @property
    def about(self) -> Mapping[str, Any]:
        """What is worth knowing of it; ``device`` at least."""

    def run(self, items: Sequence[I_contra]) -> Sequence[R_co]:
        """Return the results of a group in its sequence. A pure function: a group may run again elsewhere."""


class Task(Protocol[I_contra, R_co]):
    """What every worker does; it can be pickled."""

    def loaded(self, model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> Loaded[I_contra, R_co]:
        """Return the task with its model; once in each worker."""

    def beginning(self, item: I_contra) -> str:
        """Name what the item's prompt begins with: items of one name are served by one prefix cache."""

    def given_up(self, item: I_contra, reason: str) -> R_co:
        """Return the result of an item that no worker could finish."""


class Workers(Protocol[I, R_co]):
    """Decodes a stream of groups."""

    @property
    def about(self) -> Mapping[str, Any]:
        """As ``Loaded.about``, of the first worker."""

    def arranged(self, groups: Iterable[Sequence[I]], size: int) -> Iterable[Sequence[I]]:
        """Return the items in groups of ``size`` as these workers serve them best."""

    def spread(
        self, groups: Iterable[Sequence[I]], most: int | None = None
    ) -> Iterator[tuple[Sequence[I], Sequence[R_co]]]:
        """Yield each group, or a part of it, with its results, as they come; every item exactly once.

        Parameters
        ----------
        groups : iterable
            Read as needed.
        most : int, optional
            Use so many workers at most, the same ones as long as they live.
        """


class Solo:
    """The only worker: this process. Groups keep their sequence."""

    def __init__(self, loaded: Loaded[Any, Any]) -> None:
        self._loaded = loaded

    @property
    def about(self) -> Mapping[str, Any]:
        """As ``Loaded.about``."""
        return self._loaded.about

    def arranged(self, groups: Iterable[Sequence[Any]], size: int) -> Iterable[Sequence[Any]]:
        """Return the groups as they are."""
        return groups

    def spread(
        self, groups: Iterable[Sequence[Any]], most: int | None = None
    ) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
        """Yield each group with its results."""
        for group in groups:
            yield group, self._loaded.run(group)
