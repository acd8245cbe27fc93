"""What calls took in a recorded run, in the tokens of the tokenizer that is planned for."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from eval.errors import EvalError
from eval.report.finished_run import Cost, Run


@dataclass(frozen=True)
class Call:
    """What one sample took.

    Attributes
    ----------
    prompt : float
        Tokens of its prompt.
    passes : float
        Forward passes, the prompt's among them.
    positions : float
        Token positions computed behind the prompt, over all orders.
    written : float
        Tokens that were forced or chosen, over all orders.
    """

    prompt: float
    passes: float
    positions: float
    written: float

    @property
    def slots(self) -> float:
        """The most slots of the KV cache that it can take: slots of dropped tokens and ended orders are reused."""
        return self.prompt + self.positions


@dataclass(frozen=True)
class Trace:
    """The calls of one run, as means."""

    name: str
    calls: tuple[Call, ...]

    def mean(self, what: str) -> float:
        """Return the mean of an attribute of the calls."""
        return fmean(getattr(call, what) for call in self.calls)

    @property
    def longest(self) -> float:
        """Slots of the largest call: all rows of a KV cache are as long."""
        return max(call.slots for call in self.calls)


@dataclass(frozen=True)
class Tokens:
    """Tokens of the prompts, and of the same calls in both tokenizers.

    Attributes
    ----------
    recorded, planned : mapping
        Sample id -> tokens of its prompt, in the run's tokenizer and in that which is planned for.
    factor : float
        Tokens of calls in the tokenizer that is planned for, divided by those in the run's; 1 if they are the same.
    """

    recorded: dict[str, int]
    planned: dict[str, int]
    factor: float


def read_trace(run: Run, tokens: Tokens) -> Trace:
    """Return the trace of a run.

    What is computed behind the prompt is multiplied by ``tokens.factor``: passes and positions follow the tokens of a
    call. The prompt itself is counted in the tokenizer that is planned for.

    Raises
    ------
    EvalError
        If a sample has no counters, or nothing was decoded.
    """
    if not run.costs:
        raise EvalError(f"{run.folder}: no sample was decoded")
    calls = [_call(run, name, cost, tokens) for name, cost in run.costs.items()]
    return Trace(run.name, tuple(calls))


def _call(run: Run, name: str, cost: Cost, tokens: Tokens) -> Call:
    passes, positions = recorded(run, name, cost)
    behind = max(0.0, positions - tokens.recorded[name])
    prompt_passes = min(1.0, passes)
    return Call(
        prompt=tokens.planned[name],
        passes=prompt_passes + (passes - prompt_passes) * tokens.factor,
        positions=behind * tokens.factor,
        written=written(cost) * tokens.factor,
    )


def recorded(run: Run, name: str, cost: Cost) -> tuple[float, float]:
    """Return forward passes and positions as they were counted; EvalError if they were not."""
    passes, positions = cost.counters.forward_passes, cost.counters.positions
    if passes is None or positions is None:
        raise EvalError(f"{run.folder / 'predictions.jsonl'}: {name} has no counters of forward passes and positions")
    return passes, positions


def written(cost: Cost) -> float:
    """Return the tokens that were forced or chosen over all orders; 0 for methods that count none."""
    counters = cost.counters
    kinds: Sequence[float | None] = (counters.forced_tokens, counters.constrained_tokens, counters.free_tokens)
    return sum(count or 0 for count in kinds)
