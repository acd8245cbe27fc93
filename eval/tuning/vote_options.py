"""The settings that ``tune`` compares."""

from dataclasses import dataclass, replace

from tooldecoding.options import DecodeOptions
from voting.orders import OrderScheme
from voting.stopping import Stopping


@dataclass(frozen=True)
class VoteOptions:
    """Which orders are decoded and how they are voted: fields of ``DecodeOptions`` by the same names."""

    order_limit: int
    optional_share: float = 0.5
    stopping: Stopping = "none"
    stopping_level: float = 0.05
    orders: OrderScheme = "shuffled"

    @property
    def label(self) -> str:
        """All fields as a text; part of the ids in ``again.jsonl`` and ``latency.jsonl``."""
        return ",".join(f"{name}={value}" for name, value in self.__dict__.items())

    def applied(self, options: DecodeOptions) -> DecodeOptions:
        """Return ``options`` with these fields."""
        return replace(options, **self.__dict__)
