"""Do weighted votes beat the majority? ``python -m eval.votes.weightings RUN ORDERS`` asks the first orders of a run.

A weighting is chosen on half of the dialogues and judged on the other half, over many random halves.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
import pandas as pd

from eval.report.finished_run import read_run
from eval.runs.run_folder import PREDICTIONS
from eval.validation import read_rows

MAJORITY: Final = "majority"
_SPLITS: Final = 1000


def _upper(values: pd.Series) -> pd.Series:
    return (values >= values.groupby("slot").transform("median")).astype(float)


WEIGHTINGS: Final[Mapping[str, Callable[[pd.DataFrame], pd.Series]]] = {
    MAJORITY: lambda v: 1.0 + 0 * v.place,
    "probability of the value": lambda v: np.exp(v.logprob),
    "its square": lambda v: np.exp(2 * v.logprob),
    "its eighth power": lambda v: np.exp(8 * v.logprob),
    "probability of the order": lambda v: np.exp(v.order_logprob),
    "the likelier half of the values": lambda v: _upper(v.logprob),
    "the likelier half of the orders": lambda v: _upper(v.order_logprob),
    "place from the front": lambda v: 1.0 + v.place,
    "place from the back": lambda v: 1.0 / (1 + v.place),
}
"""Weights of the values that orders have; ``logprob`` is the mean over a value's tokens, ``place`` counts from 0."""


def order_values(folder: Path) -> pd.DataFrame:
    """Return a row for each required value and order of a finished run, indexed by ``slot``; EvalError as ``read_run``.

    The columns are dialogue, order (a number), text, logprob, order_logprob (mean over its required values), place and
    right.
    """
    asked, found = read_run(folder).values, []
    rows = [row for _, row in read_rows(folder / PREDICTIONS, "is the run finished?")]
    candidates = {row["id"]: row.get("candidates", []) for row in rows}
    for slot in asked:
        for number, candidate in enumerate(candidates[slot.id] if slot.kind == "required" else []):
            values = {value["key"]: value for value in candidate["values"]}
            mean = np.mean([values[key]["logprob"] for key in candidate["order"]])
            own, about = values[slot.key], (slot.places[number], slot.orders[number])
            found.append((f"{slot.id} {slot.key}", slot.dialogue, number, own["text"], own["logprob"], mean, *about))
    names = ["slot", "dialogue", "order", "text", "logprob", "order_logprob", "place", "right"]
    return pd.DataFrame(found, columns=names).set_index("slot")


def right_by(values: pd.DataFrame, weights: pd.Series) -> pd.Series:
    """Return for each slot whether the text of the largest weight is right; of equal ones the likelier."""
    named = {"weight": "sum", "logprob": "mean", "order": "min", "right": "first"}
    texts = values.assign(weight=weights).groupby(["slot", "text"]).agg(named).round({"weight": 9})
    texts = texts.sort_values(["weight", "logprob", "order"], ascending=[False, False, True])
    return texts.groupby("slot").right.first()


def held_out_gains(right: pd.DataFrame, dialogues: pd.Series) -> np.ndarray:
    """Return the gain over the majority in points on each held-out half; a dialogue is never divided.

    Parameters
    ----------
    right : DataFrame of bool
        A row a slot, a column a weighting.
    dialogues : Series of str
        Of each slot.
    """
    rng, names, gains = Random(0), sorted(set(dialogues)), []
    for _ in range(_SPLITS):
        chosen_on = dialogues.isin(rng.sample(names, len(names) // 2))
        held_out = right[~chosen_on]
        gains.append(100 * (held_out[right[chosen_on].mean().idxmax()].mean() - held_out[MAJORITY].mean()))
    return np.array(gains)


def main(folder: Path, orders: int) -> None:
    """Print the share of right values by each weighting of so many orders, and the gain on held-out halves."""
    values = order_values(folder).query("order < @orders")
    right = pd.DataFrame({name: right_by(values, weigh(values)) for name, weigh in WEIGHTINGS.items()})
    print((100 * right.mean()).round(1).to_string())
    gains = held_out_gains(right, values.groupby("slot").dialogue.first())
    more, less = (f"{100 * share:.0f} %" for share in ((gains > 0).mean(), (gains < 0).mean()))
    print(f"chosen on one half, on the other: {gains.mean():+.2f} points, more in {more} and less in {less} of halves")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
