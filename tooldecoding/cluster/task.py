"""What the workers of a cluster do."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

I = TypeVar("I")  # noqa: E741  # an item
R = TypeVar("R")  # its result

I_contra = TypeVar("I_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)


class Loaded(Protocol[I_contra, R_co]):
    """A task in a worker, with its model."""

    @property
    def about(self) -> Mapping[str, Any]:
        """What the driver asks of a worker. ``identity`` must be the same in all of them."""

    def run(self, items: Sequence[I_contra]) -> Sequence[R_co]:
        """Return the results of a group in its sequence. A pure function: a group may run again elsewhere."""


class Task(Protocol[I_contra, R_co]):
    """A task as the driver has it; it is pickled, and loaded once in each worker."""

    def load(self) -> Loaded[I_contra, R_co]:
        """Load the model; ToolDecodingError if it cannot be loaded."""

    def beginning(self, item: I_contra) -> str:
        """Name what the item's prompt begins with: items of one name are served by one prefix cache."""

    def given_up(self, item: I_contra, reason: str) -> R_co:
        """Return the result of an item that no worker could finish."""
