"""How ``tooldecoding eval`` makes predictions."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import Field as Bounds

from eval.benchmarks.samples import Benchmark
from eval.errors import EvalError
from tooldecoding.formats.known_formats import BENCHMARK_FORMATS, CALL_FORMATS
from tooldecoding.options.decode_options import AUTO
from tooldecoding.options.model_options import RayOptions
from tooldecoding.options.option import Count, NotNegative, option
from voting.merge import DEFAULT_OPTIONAL_SHARE

MethodName = Literal[
    "greedy", "beam", "tooldec", "xgrammar", "llguidance", "llama-cpp", "self-consistency", "tool-decoding"
]

PEER_METHODS: Final = ("xgrammar", "llguidance")
"""Other libraries, each by the name of its package."""

_ENGINES: Final = {"greedy": "transformers", "beam": "transformers", "llama-cpp": "llama.cpp"}
"""What runs the model of some methods."""

MOST_SHOTS: Final = 8
"""The paper's largest number of in-context examples (table 3)."""


@dataclass(frozen=True)
class EvalOptions(RayOptions):
    """How predictions are made; each method uses the options that concern it.

    ``format`` and ``template`` have the benchmark's own as defaults, see ``benchmark_defaults``.

    ConfigError if a value has the wrong type or is out of bounds. EvalError if the template asks for another format
    than ``format``, or has no use for another option.
    """

    method: MethodName = option("tool-decoding", "How calls are decoded.")
    template: Literal["api-bank", "bfcl", "chat"] | None = option(
        None,
        "How the prompt prints documentation and dialogue; chat gives both to the model's chat template.",
        default_text="the benchmark's",
    )
    beams: Annotated[int, Bounds(ge=2)] = option(6, "Beams of the method beam.")
    samples: Count = option(12, "Samples of the method self-consistency.")
    sample_temperature: NotNegative = option(0.7, "Its temperature.")
    shots: Annotated[int, Bounds(ge=0, le=MOST_SHOTS)] = option(0, "In-context examples, from other dialogues.")
    limit: Count | None = option(None, "Take so many samples, drawn with --seed.", default_text="all")
    format: str = option(
        "api-bank",
        "How calls are written.",
        choices=(AUTO, *CALL_FORMATS),
        default_text="the benchmark's; that of the chat template with --template chat",
    )
    # a sample is a conversation, and so has the default of messages
    tool_choice: Literal["auto", "required"] = option("auto", "Whether the model decides that there is a call.")
    seed: int = option(0, "Seed of orders, samples, examples and resamples.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.template == "chat" and self.shots:
            raise EvalError("--shots has no place in --template chat; leave it out")
        own = _ENGINES.get(self.method, self.engine)
        if self.engine not in ("auto", own):
            raise EvalError(f"the method {self.method} is that of {own}; leave --engine out")
        if self.upstream is not None and self.method != "tool-decoding":
            raise EvalError(f"a server runs the model (--upstream), and the method {self.method} needs it here")
        if self.method == "llama-cpp" and (self.template != "chat" or self.tool_choice != "required"):
            raise EvalError("the method llama-cpp writes one call as JSON; give --template chat --tool-choice required")
        if self.template not in (None, "chat") and self.format not in (AUTO, *(f.name for f in BENCHMARK_FORMATS)):
            raise EvalError(
                f"the template {self.template} does not ask the model for calls in the format {self.format}; "
                "--template chat asks for the chat template's own"
            )

    @property
    def loading(self) -> dict[str, Any]:
        """See LoadOptions; some methods are those of one engine."""
        return {**super().loading, "engine": _ENGINES.get(self.method, self.engine)}

    @property
    def takes_dialects(self) -> bool:
        """Whether a chat model may begin calls in its own way, for no format was named."""
        return self.template == "chat" and self.format == AUTO and self.method == "tool-decoding"

    @property
    def label(self) -> str:
        """The method with what distinguishes it: ``tool-decoding, 12 orders``."""
        match self.method:
            case "beam":
                return f"beam {self.beams}"
            case "self-consistency":
                plural = "s" if self.samples > 1 else ""
                return f"self-consistency, {self.samples} sample{plural} at {self.sample_temperature:g}"
            case "tool-decoding":
                usual = self.optional_share == DEFAULT_OPTIONAL_SHARE
                share = "" if usual else f", optional share {self.optional_share:g}"
                return f"tool-decoding, {self._orders}{share}"
            case _:
                return self.method

    @property
    def _orders(self) -> str:
        if self.orders in ("documented", "reversed", "shuffled-once"):
            return f"{self.orders} order"
        if self.orders == "aggregated":
            return "three orders aggregated"
        return f"{self.order_limit} orders" if self.order_limit > 1 else "1 order"


def benchmark_defaults(benchmark: Benchmark) -> dict[str, Any]:
    """Return the benchmark's own template, and ``auto``, which stands for the format that the template asks for."""
    return {"format": AUTO, "template": "bfcl" if benchmark.call_format == "pythonic" else "api-bank"}
