"""The settings of a decode."""

from dataclasses import dataclass
from typing import Literal, get_args

from lookup.schema import UnknownKeys
from lookup.value_grammar import Constraint
from tooldecoding.call_format import CALL_FORMATS, CallFormat
from tooldecoding.errors import ConfigError
from voting.orders import DEFAULT_ORDER_LIMIT, OrderStrategy


@dataclass(frozen=True)
class DecodeOptions:
    """What a decode does; every field is also an option of ``tooldecoding decode``.

    Attributes
    ----------
    format : str
        Call format, a name in ``CALL_FORMATS``.
    order_limit : int
        Most orders of the required keys (the paper's *oc*), 1 or more; 1 decodes without order consistency.
    orders : {"shuffled", "documented", "reversed", "shuffled-once", "aggregated"}
        Which orders; see ``voting.draw_orders``.
    value_constraint : {"typed", "free"}
        ``typed`` admits only literals of the documented type and enum; ``free`` admits any literal and
        drops wrong ones when voting, as the paper does.
    tool_choice : str
        ``auto`` lets the model decide to call, ``required`` makes it, ``none`` forbids it, anything else
        is the name of the tool to call.
    unknown_keys : {"optional", "required"}
        What keys count as of which the documentation does not tell whether they are required. Where a corpus with such
        documentation has reference calls (UltraTool), most calls leave some of them out, hence ``optional``.
    seed : int
        Seed of the shuffled orders.
    max_value_tokens : int
        A free value is closed after so many tokens, and reported.
    max_text_tokens : int
        Free text (``auto``, ``none``) ends after so many tokens.
    max_calls : int
        Most parallel calls, in formats that allow several.
    """

    format: str = "api-bank"
    order_limit: int = DEFAULT_ORDER_LIMIT
    orders: OrderStrategy = "shuffled"
    value_constraint: Constraint = "typed"
    tool_choice: str = "required"
    unknown_keys: UnknownKeys = "optional"
    seed: int = 0
    max_value_tokens: int = 128
    max_text_tokens: int = 256
    max_calls: int = 16

    def __post_init__(self) -> None:
        one_of = {
            "format": tuple(CALL_FORMATS),
            "orders": get_args(OrderStrategy),
            "value_constraint": ("typed", "free"),
            "unknown_keys": get_args(UnknownKeys),
        }
        for name, known in one_of.items():
            if getattr(self, name) not in known:
                raise ConfigError(f"unknown {name} {getattr(self, name)!r}; known: {', '.join(known)}")
        for name in ("order_limit", "max_value_tokens", "max_text_tokens", "max_calls"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigError(f"{name} must be a whole number of 1 or more, got {value!r}")

    @property
    def call_format(self) -> CallFormat:
        """The call format itself."""
        return CALL_FORMATS[self.format]


TOOL_CHOICES = ("auto", "required", "none")
"""The values of ``tool_choice`` that are no tool's name."""

Strategy = Literal["auto", "packed", "batched"]
"""How branches share a forward pass; ``auto`` takes packed where the model supports it."""
