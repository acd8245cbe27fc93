"""The settings of a decode."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, Literal, get_args

from lookup.dictionary import UnknownKeys
from lookup.values.grammar import Constraint
from tooldecoding.errors import ConfigError
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from voting import (
    DEFAULT_OPTIONAL_SHARE,
    DEFAULT_ORDER_LIMIT,
    DEFAULT_STOPPING_LEVEL,
    Calibration,
    OrderScheme,
    Stopping,
    VotedParameter,
    confidence,
)


@dataclass(frozen=True)
class DecodeOptions:
    """What a decode does; every field but ``calibration`` is also an option of ``tooldecoding decode``.

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
    draft_tokens : int
        Most tokens of a value, and of what follows it, that are tried at once where they are expected; 0 decodes
        them one by one. It changes the number of passes, not what is decoded.
    optional_share : float
        An optional key is kept when more than this share of the candidates carry it with a valid value; 0 to 1.
    stopping : {"none", "exact", "posterior"}
        Whether all orders are decoded at once, or in rounds until the vote is settled; see ``voting.orders_needed``.
    stopping_level : float
        ``posterior`` stops when the probability that a winner changes is below it; 0 to 0.5.
    min_confidence : float, optional
        Parameters below it are marked as needing confirmation; 0 to 1. See ``voting.confidence``.
    calibration : tuple of three floats, optional
        Intercept and the weights of vote share and mean log-probability; see ``voting.Calibration``.
    """

    format: str = "api-bank"
    order_limit: int = DEFAULT_ORDER_LIMIT
    orders: OrderScheme = "shuffled"
    value_constraint: Constraint = "typed"
    tool_choice: str = "required"
    unknown_keys: UnknownKeys = "optional"
    seed: int = 0
    max_value_tokens: int = 128
    max_text_tokens: int = 256
    max_calls: int = 16
    draft_tokens: int = 32
    optional_share: float = DEFAULT_OPTIONAL_SHARE
    stopping: Stopping = "none"
    stopping_level: float = DEFAULT_STOPPING_LEVEL
    min_confidence: float | None = None
    calibration: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        one_of = {
            "format": tuple(CALL_FORMATS),
            "orders": get_args(OrderScheme),
            "value_constraint": ("typed", "free"),
            "unknown_keys": get_args(UnknownKeys),
            "stopping": get_args(Stopping),
        }
        for name, known in one_of.items():
            if getattr(self, name) not in known:
                raise ConfigError(f"unknown {name} {getattr(self, name)!r}; known: {', '.join(known)}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise ConfigError(f"seed must be a whole number, got {self.seed!r}")
        if not isinstance(self.tool_choice, str):
            raise ConfigError(f"tool_choice must be auto, required, none or a tool's name, got {self.tool_choice!r}")
        for name in ("order_limit", "max_value_tokens", "max_text_tokens", "max_calls"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigError(f"{name} must be a whole number of 1 or more, got {value!r}")
        if isinstance(self.draft_tokens, bool) or not isinstance(self.draft_tokens, int) or self.draft_tokens < 0:
            raise ConfigError(f"draft_tokens must be a whole number of 0 or more, got {self.draft_tokens!r}")
        for name, most in (("optional_share", 1), ("stopping_level", 0.5), ("min_confidence", 1)):
            value = getattr(self, name)
            if not (_is_number(value) and 0 <= value <= most) and (name, value) != ("min_confidence", None):
                raise ConfigError(f"{name} must be a number from 0 to {most}, got {value!r}")
        if self.calibration is not None and not (
            isinstance(self.calibration, tuple)
            and len(self.calibration) == len(fields(Calibration))
            and all(_is_number(n) and math.isfinite(n) for n in self.calibration)
        ):
            raise ConfigError(f"calibration must be {CALIBRATION}, got {self.calibration!r}")

    @property
    def call_format(self) -> CallFormat:
        """The call format itself."""
        return CALL_FORMATS[self.format]

    def confidence(self, parameter: VotedParameter) -> float:
        """How sure the vote is of a parameter, calibrated where there is a calibration."""
        return confidence(parameter, None if self.calibration is None else Calibration(*self.calibration))


def changed(options: DecodeOptions, given: Mapping[str, Any]) -> DecodeOptions:
    """The options with fields by name; ConfigError for a wrong value or an unknown name, with the nearest known one."""
    known = [field.name for field in fields(DecodeOptions)]
    for name in given:
        if name not in known:
            nearest = get_close_matches(name, known, n=1, cutoff=0.0)[0]
            raise ConfigError(f"unknown option {name!r}; did you mean {nearest!r}? Known: {', '.join(known)}")
    return replace(options, **given)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


CALIBRATION = "a list of three numbers: intercept, weight of the vote share, weight of the mean log-probability"
"""What ``calibration`` must be, for messages."""

TOOL_CHOICES = ("auto", "required", "none")
"""The values of ``tool_choice`` that are no tool's name."""

Strategy = Literal["auto", "packed", "batched"]
"""How branches share a forward pass; ``auto`` takes packed where the model supports it."""

PROMPT_CACHE_MB = 1024
"""MiB for the KV caches of former prompts, where nothing else is said."""
