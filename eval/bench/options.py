"""What a bench can be told."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field as Bounds

from eval.errors import EvalError
from eval.options import PEER_METHODS
from tooldecoding.options.model_options import DEVICE_HELP, MODEL_HELP, TRUST_HELP
from tooldecoding.options.option import Count, CountOrNone, Share, check_all, option

GREEDY: Final = "greedy"

SHAPE_NAMES: Final = ("tiny", "llama-134m", "llama-1b", "llama-7b", "mistral-7b")
"""The shapes in ``eval.bench.subject``."""

HEADS: Final = ("patient", "appointment", "doctor", "hospital", "account", "meeting", "hotel", "flight")
TAILS: Final = ("name", "date", "code", "city", "time", "phone", "number", "reason")
"""Words of the keys; each of the first goes with each of the second."""

Numbers = Annotated[tuple[Count, ...], Bounds(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """What is measured.

    ConfigError if a value has the wrong type or is out of bounds. EvalError for an unknown method or tokenizer, and for
    anything but either a model or shapes.
    """

    model: str | None = option(None, MODEL_HELP)
    shapes: tuple[str, ...] = option(
        (),
        "Random weights of these shapes, one after the other.",
        flag="--shape",
        choices=SHAPE_NAMES,
        commas=True,
    )
    tokenizer: str | None = option(
        None,
        "Folder of the tokenizer that shapes are built around.",
        metavar="DIR",
        default_text="that of the reference model",
    )
    prompt_tokens: Count = option(1000, "Tokens of the prompt; in a batch 20 % more or less.")
    required: Annotated[int, Bounds(ge=1, le=len(HEADS) * len(TAILS))] = option(4, "Required keys of the tool.")
    value_tokens: Count = option(8, "Tokens of each value.")
    copied: Share = option(0.5, "Share of the values that stand in the prompt.", metavar="SHARE")
    seed: int = option(0, "Seed of weights, prompts, values, orders, and the sequence of methods.")
    order_limits: Numbers = option((1, 4, 12), "Order limits of Tool Decoding.", flag="--order-limit", commas=True)
    against: tuple[str, ...] = option(
        (GREEDY, "beam6", *PEER_METHODS),
        "greedy, beamN (N beams), and libraries of the extra bench.",
        metavar="METHOD,…",
        expected="names of methods",
        commas=True,
    )
    batches: Numbers = option((1,), "Prompts that are decoded together.", flag="--batch", commas=True)
    device: str | None = option(None, DEVICE_HELP, default_text="a GPU if there is one")
    dtype: Literal["fp32", "bf16", "fp16", "auto"] | None = option(
        None, "Type of the weights.", default_text="fp32 on the CPU, else bf16 for a shape or the checkpoint's own"
    )
    repeat: Count = option(5, "Rounds that count; all methods run once in each.")
    draft_tokens: CountOrNone | None = option(
        None, "Most draft tokens of Tool Decoding per forward pass; 0 for none.", default_text="that of decode"
    )
    trust_remote_code: bool = option(False, TRUST_HELP)
    out: str = option("runs/bench", "Folder of bench.json.", metavar="DIR")

    def __post_init__(self) -> None:
        check_all(self)
        if (self.model is None) == (not self.shapes):
            raise EvalError(f"bench needs --model or --shape, not both; shapes: {', '.join(SHAPE_NAMES)}")
        if not self.shapes and self.tokenizer is not None:
            raise EvalError("--tokenizer belongs to --shape; a model has its own")
        if self.tokenizer is not None and not Path(self.tokenizer).is_dir():
            raise EvalError(f"--tokenizer: expected a folder with a tokenizer's files, got {self.tokenizer!r}")
        for name in self.against:
            if name not in (GREEDY, *PEER_METHODS) and beams_of(name) is None:
                known = ", ".join([GREEDY, "beamN (N beams)", *PEER_METHODS])
                raise EvalError(f"--against: unknown method {name!r}; known: {known}")

    def to_json(self) -> Mapping[str, Any]:
        """Return by name what decides the figures."""
        return {name: value for name, value in vars(self).items() if name != "out"}

    @property
    def models(self) -> tuple[str, ...]:
        """What is measured, one after the other."""
        return self.shapes or ((self.model,) if self.model else ())


def beams_of(name: str) -> int | None:
    """Return the beams of ``beamN``, 2 to 64; None for other names."""
    found = re.fullmatch(r"beam([2-9]|[1-5][0-9]|6[0-4])", name)
    return int(found[1]) if found else None
