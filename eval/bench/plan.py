"""What the command line asks of a bench, checked."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from eval.bench.words import MOST_KEYS
from eval.errors import EvalError
from tooldecoding.formats.known_formats import CALL_FORMATS

GREEDY: Final = "greedy"
BEAMS: Final = "beam"
"""``beam6`` is beam search with six beams."""
MOST_BEAMS: Final = 64


@dataclass(frozen=True)
class Plan:
    """The settings of a bench.

    Attributes
    ----------
    model : str, optional
        Folder or hub id.
    shapes : tuple of str
        Shapes of random models; empty where there is a model.
    tokenizer : str, optional
        Folder of the tokenizer that the shapes are built around; by default one is trained for each.
    prompt_tokens, required, value_tokens, copied, format, seed
        See ``workload.Ask``.
    order_limits : tuple of int
    against : tuple of str
        Methods beside Tool Decoding.
    batches : tuple of int
    device, dtype : str, optional
    trust_remote_code : bool
        Whether code in the model's folder may be run.
    repeat : int
        Rounds that count.
    threads : int, optional
    draft_tokens : int, optional
        Of ``DecodeOptions``; its default where there is none.
    minutes : float, optional
        No round begins behind so many.
    """

    model: str | None
    shapes: tuple[str, ...]
    tokenizer: str | None
    prompt_tokens: int
    required: int
    value_tokens: int
    copied: float
    format: str
    seed: int
    order_limits: tuple[int, ...]
    against: tuple[str, ...]
    batches: tuple[int, ...]
    device: str | None
    dtype: str | None
    repeat: int
    threads: int | None
    draft_tokens: int | None
    minutes: float | None
    trust_remote_code: bool

    def to_json(self) -> dict[str, Any]:
        """All settings by name."""
        return asdict(self)

    @property
    def models(self) -> tuple[str, ...]:
        """What is measured, one after the other."""
        return self.shapes or ((self.model,) if self.model else ())


def make_plan(given: Mapping[str, Any], shapes: Sequence[str], peers: Sequence[str]) -> Plan:
    """The plan that options ask for, lists as texts separated by commas.

    Parameters
    ----------
    given : mapping
        Field -> value; ``shape`` and ``against``, ``order_limit`` and ``batch`` as written.
    shapes, peers : sequence of str
        What is known.

    Raises
    ------
    EvalError
        For anything unknown or impossible.
    """
    values = dict(given)
    shape = values.pop("shape")
    if (values["model"] is None) == (shape is None):
        raise EvalError(f"bench needs --model or --shape, not both; shapes: {', '.join(shapes)}")
    if shape is None and values["tokenizer"] is not None:
        raise EvalError("--tokenizer belongs to --shape; a model has its own")
    plan = Plan(
        trust_remote_code=bool(values.pop("trust_remote_code")),
        shapes=_names("shape", shape, shapes) if shape is not None else (),
        order_limits=_numbers("order-limit", values.pop("order_limit")),
        batches=_numbers("batch", values.pop("batch")),
        against=_methods(values.pop("against"), peers),
        **values,
    )
    _demand_possible(plan)
    return plan


def _demand_possible(plan: Plan) -> None:
    for name in ("prompt_tokens", "required", "value_tokens", "repeat", "threads"):
        value = getattr(plan, name)
        if value is not None and value < 1:
            raise EvalError(f"--{name.replace('_', '-')}: must be 1 or more, got {value}")
    if plan.tokenizer is not None and not Path(plan.tokenizer).is_dir():
        raise EvalError(f"--tokenizer: expected a folder with a tokenizer's files, got {plan.tokenizer!r}")
    if plan.required > MOST_KEYS:
        raise EvalError(f"--required: must be {MOST_KEYS} or less, got {plan.required}")
    if not 0 <= plan.copied <= 1:
        raise EvalError(f"--copied: must be a share from 0 to 1, got {plan.copied:g}")
    if plan.draft_tokens is not None and plan.draft_tokens < 0:
        raise EvalError(f"--draft-tokens: must be 0 or more, got {plan.draft_tokens}")
    if plan.minutes is not None and not plan.minutes > 0:
        raise EvalError(f"--minutes: must be above 0, got {plan.minutes:g}")
    if plan.format not in CALL_FORMATS:
        raise EvalError(f"--format: unknown format {plan.format!r}; known: {', '.join(CALL_FORMATS)}")


def _numbers(option: str, text: str) -> tuple[int, ...]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise EvalError(f"--{option}: expected whole numbers separated by commas, got {text!r}") from None
    if min(numbers) < 1:
        raise EvalError(f"--{option}: numbers must be 1 or more, got {text!r}")
    return tuple(sorted(set(numbers)))


def _names(option: str, text: str, known: Sequence[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in known:
            raise EvalError(f"--{option}: unknown {option} {name!r}; known: {', '.join(known)}")
    return names


def _methods(text: str, peers: Sequence[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(","))) if text.strip() else ()
    for name in names:
        if name != GREEDY and name not in peers and beams_of(name) is None:
            known = ", ".join([GREEDY, "beamN (N beams)", *peers])
            raise EvalError(f"--against: unknown method {name!r}; known: {known}")
    return names


def beams_of(name: str) -> int | None:
    """The beams of ``beamN``, 2 to 64; None for other names."""
    digits = name.removeprefix(BEAMS)
    if digits == name or not digits.isascii() or not digits.isdigit():
        return None
    return int(digits) if 2 <= int(digits) <= MOST_BEAMS else None
