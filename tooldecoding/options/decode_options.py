"""What a decode does."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import Field as Bounds

from lookup.dictionary import UnknownKeys
from lookup.grammar.value_grammar import Constraint
from tooldecoding.decoding.calibration import USUAL
from tooldecoding.errors import ConfigError
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.options.option import (
    Count,
    CountOrNone,
    Finite,
    NotNegative,
    Positive,
    Share,
    check_all,
    described,
    option,
)
from voting import DEFAULT_OPTIONAL_SHARE, DEFAULT_ORDER_LIMIT, OrderScheme

AUTO: Final = "auto"
"""The ``format`` of a chat model: the one in which its chat template writes calls."""

TOOL_CHOICES: Final = ("auto", "required", "none")
"""The values of ``tool_choice`` that are not the name of a tool."""

Strategy = Literal["auto", "packed", "batched"]
"""How branches share a forward pass; ``auto`` takes packed if the model supports it."""

OptionalArguments = Literal["grounded", "all"]
"""Which optional arguments a call keeps; see ``tooldecoding.grounding``."""

Ask = Literal["never", "ungrounded", "unsure", "both"]
"""When a question takes the place of a call."""

Detail = Literal["full", "signatures", "summaries", "names"]
"""How much of the documentation a prompt prints; see ``tooldecoding.chat.documentation``."""

PROMPT_CACHE_MB: Final = 1024
"""Default memory, in MiB, for the KV caches of former prompts."""


@described
@dataclass(frozen=True)
class DecodeOptions:
    """What a decode does; the fields are also options of ``tooldecoding decode`` and keys of its YAML files.

    Raises
    ------
    ConfigError
        If a value has the wrong type or is out of bounds.

    See Also
    --------
    voting.draw_orders : ``orders`` and ``order_limit``.
    tooldecoding.decoding.calibration : ``min_confidence``, ``confidence_offset`` and ``confidence_slope``.
    """

    format: str = option(
        AUTO, "How calls are written; auto is the chat model's own, else api-bank.", choices=(AUTO, *CALL_FORMATS)
    )
    documentation: Detail = option(
        "full",
        "What a prompt prints of each tool: everything; its signature, without descriptions; its name with the first "
        "sentence of its description; or its name. The chosen tool is then shown in full.",
    )
    order_limit: Count = option(
        DEFAULT_ORDER_LIMIT, "Most orders of the required keys (oc in the paper); 1 is without order consistency."
    )
    orders: OrderScheme = option("shuffled", "Which orders; aggregated is documented, reversed and shuffled-once.")
    value_constraint: Constraint = option(
        "typed", "typed refuses values of a wrong type or outside the enum; free only drops them in the vote."
    )
    tool_choice: str | None = option(
        None,
        "Whether to call: auto lets the model decide; a name calls that tool.",
        metavar="auto|required|none|NAME",
        expected="auto, required, none or a tool's name",
        default_text="auto for messages, else required",
    )
    # most reference calls of UltraTool, a benchmark whose documentation names no required keys, leave some out
    unknown_keys: UnknownKeys = option(
        "optional", "What a key counts as if the documentation does not say whether it is required."
    )
    seed: Annotated[int, Bounds(ge=-(2**63), lt=2**63)] = option(
        0, "Seed of the shuffled orders, and of sampled text.", expected="a whole number of 64 bits"
    )
    max_value_tokens: Count | None = option(
        None,
        "Most tokens of a value that the model writes freely; a longer one is cut, and its call is not valid.",
        metavar="N",
        default_text="what max_tokens and the context leave",
    )
    max_text_tokens: Count = option(1024, "Most tokens of free text (tool choice auto and none).")
    max_tokens: Count | None = option(
        None, "Most tokens of the whole answer; a call that goes beyond is cut or left out.", metavar="N"
    )
    max_thinking_tokens: CountOrNone = option(
        2048, "Most tokens that a model thinks before it answers; 0 closes its thinking at once."
    )
    temperature: NotNegative = option(0.0, "Of free text; 0 takes the likeliest token. Calls are always greedy.")
    top_p: Share = option(1.0, "Free text is sampled from the likeliest tokens with this probability together.")
    top_k: CountOrNone = option(0, "Free text is sampled from so many of the likeliest tokens; 0 for all.")
    repetition_penalty: Positive = option(1.0, "Divides the logits of tokens that free text repeats; 1 is none.")
    stop: tuple[str, ...] = option((), "Text that ends free text.", metavar="TEXT", expected="texts")
    max_calls: Count = option(16, "Most parallel calls, in formats that allow several; with more the answer is cut.")
    next_call_threshold: Annotated[float, Bounds(ge=-math.inf)] | None = option(
        None,
        "Another call follows if the model writes one, or if its log-odds are above this when it is asked beside the "
        "writing; inf never asks.",
        metavar="T",
        expected="a number or inf",
        default_text="0 for messages, if the model's chat template prints tools; else inf",
    )
    draft_tokens: CountOrNone = option(
        32, "Most draft tokens per forward pass; 0 for none. Changes the number of passes, not the calls."
    )
    optional_share: Share = option(
        DEFAULT_OPTIONAL_SHARE, "An optional key is kept if more than this share of the orders has it."
    )
    optional_arguments: OptionalArguments = option(
        "grounded", "Which optional arguments a call keeps: all, or those that the conversation says."
    )
    ask: Ask | None = option(
        None,
        "What is asked back in place of a call: ungrounded, for required arguments that the conversation does not say; "
        "unsure, where the call is below min_confidence; both; never.",
        default_text="ungrounded for messages, where the model decides whether to call; else never",
    )
    never_ask: tuple[str, ...] = option(
        (), "An argument that the model may work out by itself.", metavar="[TOOL.]KEY", expected="keys"
    )
    min_confidence: Share | None = option(
        None, "Mark calls, and arguments, that are right with a probability below this.", metavar="P"
    )
    confidence_offset: Finite = option(
        USUAL.offset, "The confidence of a call is 1 / (1 + exp(-(offset + slope * ln(score)))); tune fits both."
    )
    confidence_slope: NotNegative = option(USUAL.slope, "See confidence_offset.")

    def __post_init__(self) -> None:
        check_all(self)

    @property
    def choice(self) -> str:
        """``tool_choice``; ``required`` if there is none, for what a prompt waits for is a call."""
        return "required" if self.tool_choice is None else self.tool_choice

    def in_conversation(self) -> Self:
        """Return these options for messages: the model decides, and what nobody said is asked for, unless they say."""
        choice = self.tool_choice or "auto"
        return replace(self, tool_choice=choice, ask=self.ask or ("ungrounded" if choice == "auto" else "never"))

    @property
    def asks_unsaid(self) -> bool:
        """Whether a question takes the place of a call with a required argument that nobody said."""
        return self.ask in ("ungrounded", "both")

    @property
    def asks_unsure(self) -> bool:
        """Whether a question takes the place of a call below ``min_confidence``."""
        return self.ask in ("unsure", "both")

    @property
    def asks_for_further_calls(self) -> bool:
        """Whether a branch beside the writing is asked behind each call whether another one follows."""
        return self.call_format.parallel and self.max_calls > 1 and self.next_call_threshold not in (None, math.inf)

    @property
    def call_format(self) -> CallFormat:
        """The call format that ``format`` names; API-Bank's for ``auto``, which chat replaces by the model's own."""
        return CALL_FORMATS["api-bank" if self.format == AUTO else self.format]


def demand_arguments(tokenizer: object, strategy: object, prompt_cache_mb: object) -> None:
    """ConfigError unless a decoder's arguments besides its options are of their kinds."""
    if not hasattr(tokenizer, "decode"):
        raise ConfigError(f"tokenizer: expected the model's tokenizer, got {type(tokenizer).__name__}")
    if strategy not in get_args(Strategy):
        raise ConfigError(f"strategy: expected {', '.join(get_args(Strategy))}, got {strategy!r}")
    if not isinstance(prompt_cache_mb, int) or prompt_cache_mb < 0:
        raise ConfigError(f"prompt_cache_mb: expected a whole number of 0 or more, got {prompt_cache_mb!r}")


def demand_full(options: DecodeOptions, taker: str) -> None:
    """ConfigError if the documentation shall be printed shorter, where ``taker`` takes a prompt that holds it."""
    if options.documentation != "full":
        raise ConfigError(
            f"documentation: {options.documentation} shortens what templates print of the tools, but {taker} takes a "
            "prompt as it stands; leave it out"
        )


def _texts(given: Any) -> Any:
    """Return one text, or a list of texts, as a tuple; anything else as it is."""
    return (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list) else given


def changed(options: DecodeOptions, given: Mapping[str, Any], instead: DecodeOptions | None = None) -> DecodeOptions:
    """Return the options of a decode, with the given fields, without what else a command was told.

    Parameters
    ----------
    instead : DecodeOptions, optional
        Options that take the place of ``options``.

    Raises
    ------
    ConfigError
        For a wrong value, an unknown name, with the nearest, or ``instead`` of another type.
    """
    if not isinstance(instead, DecodeOptions | None):
        raise ConfigError(f"options: expected DecodeOptions, got {type(instead).__name__}; give fields as keywords")
    known = [field.name for field in fields(DecodeOptions)]
    given = {name: _texts(value) if name in ("stop", "never_ask") else value for name, value in given.items()}
    for name in given:
        if name not in known:
            nearest = get_close_matches(name, known, n=1, cutoff=0.0)[0]
            raise ConfigError(f"unknown option {name!r}; did you mean {nearest!r}? Known: {', '.join(known)}")
    return DecodeOptions(**{name: getattr(instead or options, name) for name in known} | given)
