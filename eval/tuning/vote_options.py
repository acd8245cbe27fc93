"""A variant: the settings of a decode that ``tune`` compares, everything else being equal."""

from dataclasses import dataclass, replace

from tooldecoding.options import DecodeOptions
from voting.orders import OrderScheme
from voting.stopping import Stopping


@dataclass(frozen=True)
class VoteOptions:
    """Fields of ``DecodeOptions`` by the same names."""

    order_limit: int
    optional_share: float = 0.5
    stopping: Stopping = "none"
    stopping_level: float = 0.05
    orders: OrderScheme = "shuffled"

    @property
    def label(self) -> str:
        """All fields, as they stand in the ids of rows that were decoded again."""
        return ",".join(f"{name}={value}" for name, value in self.__dict__.items())

    def applied(self, options: DecodeOptions) -> DecodeOptions:
        """``options`` with the fields of this variant."""
        return replace(options, **self.__dict__)
