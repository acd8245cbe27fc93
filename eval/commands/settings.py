"""Settings of ``tooldecoding eval``."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from tooldecoding.cli.config import ModelOptions
from tooldecoding.errors import ConfigError
from voting.merge import DEFAULT_OPTIONAL_SHARE

MethodName = Literal["greedy", "beam", "tooldec", "tool-decoding"]
METHOD_NAMES: tuple[MethodName, ...] = get_args(MethodName)
ToolDecForm = Literal["call", "react"]
EvalTemplate = Literal["api-bank", "bfcl"]

MOST_SHOTS = 8
"""The paper's largest number of in-context examples (table 3)."""


@dataclass(frozen=True)
class EvalOptions(ModelOptions):
    """How predictions are made; what ``ModelOptions`` and ``DecodeOptions`` say holds for the methods that use it.

    Attributes
    ----------
    method : {"greedy", "beam", "tooldec", "tool-decoding"}
        ``beam`` is beam search of ``beams`` beams.
    tooldec_form : {"call", "react"}
        What TOOLDEC writes: ``name(args)``, or ReAct's action with its input as JSON.
    tool_choice : str
        ``auto`` by default, for the decision to call is part of what is evaluated.
    format : str, optional
        By default the benchmark's own call format.
    template : {"api-bank", "bfcl"}, optional
        How prompts print documentation and dialogue; by default as the benchmark does.
    prompt_template : str, optional
        File with the text of the prompt, such as the benchmark's official one.
    chat : bool
        Whether the prompt is a user's message in the model's chat template.
    shots : int
        In-context examples, 0 to 8, drawn from other dialogues.
    limit : int, optional
        Decode so many samples, drawn with ``seed``.
    """

    method: MethodName = "tool-decoding"
    tooldec_form: ToolDecForm = "call"
    tool_choice: str = "auto"
    template: EvalTemplate | None = None
    prompt_template: str | None = None
    chat: bool = False
    beams: int = 6
    shots: int = 0
    limit: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method not in METHOD_NAMES:
            raise ConfigError(f"unknown method {self.method!r}; known: {', '.join(METHOD_NAMES)}")
        if not 0 <= self.shots <= MOST_SHOTS:
            raise ConfigError(f"shots must be 0 to {MOST_SHOTS}, got {self.shots}")
        if self.beams < 2:
            raise ConfigError(f"beams must be 2 or more, got {self.beams}; --method greedy has one")
        if self.limit is not None and self.limit < 1:
            raise ConfigError(f"limit must be 1 or more, got {self.limit}")

    @property
    def label(self) -> str:
        """The method with what distinguishes it: ``tool-decoding, 12 orders``."""
        match self.method:
            case "beam":
                return f"beam {self.beams}"
            case "tooldec":
                return "tooldec" if self.tooldec_form == "call" else "tooldec, ReAct"
            case "tool-decoding":
                return ", ".join(["tool-decoding", self._orders, *self._voting])
            case _:
                return self.method

    @property
    def _orders(self) -> str:
        if self.orders in ("documented", "reversed", "shuffled-once"):
            return f"{self.orders} order"
        if self.orders == "aggregated":
            return "three orders aggregated"
        return f"{self.order_limit} orders" if self.order_limit > 1 else "1 order"

    @property
    def _voting(self) -> list[str]:
        """What differs from the default in how orders are voted on."""
        stopping = "" if self.stopping == "none" else f"{self.stopping} stopping"
        share = "" if self.optional_share == DEFAULT_OPTIONAL_SHARE else f"optional share {self.optional_share:g}"
        return [text for text in (stopping, share) if text]

    def to_json(self) -> dict[str, Any]:
        """All settings by name."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in self.__dict__.items()}
