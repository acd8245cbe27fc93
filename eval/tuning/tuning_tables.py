"""The tables that ``tune`` prints."""

from eval.metrics.accuracy import Estimate
from eval.report.table import NONE, Table, percent, probability, share
from eval.report.value_table import order_table, value_table, vote_table
from eval.tuning.latency import Latency
from eval.tuning.order_limits import LimitRow
from eval.tuning.order_sensitivity import Flips
from eval.tuning.results import Tuning

BUSY = 0.8
"""Below this share of processor time, other processes disturbed the latency on a CPU."""


def tables(tuning: Tuning) -> list[Table]:
    """Return all tables that have rows."""
    every = [
        _documentation_table(tuning),
        limit_table(tuning),
        _share_table(tuning),
        _stopping_table(tuning),
        _order_table(tuning),
        value_table(tuning.values),
        vote_table({"orders": tuning.values}),
        order_table("orders", tuning.values),
        _study_table(tuning),
    ]
    return [table for table in every if table.rows]


def _documentation_table(tuning: Tuning) -> Table:
    """Return accuracy and length of prompts by how much of the documentation they print."""
    chosen = tuning.about["settings"]["documentation"] if tuning.details else None
    rows, bold = [], set()
    for number, row in enumerate(tuning.details):
        p = NONE if row.p is None else probability(row.p)
        saved = f"{100 * (1 - row.tokens / tuning.details[0].tokens):.1f}" if tuning.details[0].tokens else NONE
        rows.append((row.detail, percent(row.right.estimate), p, f"{row.tokens:,.1f}", saved))
        if row.detail == chosen:
            bold |= {(number, column) for column in range(5)}
    notes = ("With one order. The chosen one is bold; everything below is decoded with it.",)
    columns = ("documentation", "accuracy", "p, loss", "prompt tokens", "saved %")
    return Table("Documentation in the prompt", columns, tuple(rows), 1, frozenset(bold), notes)


def limit_table(tuning: Tuning) -> Table:
    """Return accuracy, value errors and latency by order limit."""
    chosen = tuning.choice.limit
    rows = [_limit_row(tuning, row) for row in tuning.limits]
    bold = frozenset(
        (number, column)
        for number, row in enumerate(tuning.limits)
        if row.options.order_limit == chosen
        for column in range(len(rows[number]))
    )
    best = tuning.choice.best
    notes = [f"The chosen limit is bold. Over {tuning.samples} {'samples' if tuning.answers else 'prompts'}."]
    if tuning.answers:
        columns = ["limit", "accuracy", f"p, loss against {best}", "value errors", "removed"]
        notes.append("Accuracy with 95 % intervals; value errors removed, in %, of those of limit 1 (paper, table 4).")
    else:
        columns = ["limit", "agreement", f"p, below {tuning.decision.margin:g} % other", "values flipped"]
        notes.append(
            f"There are no answers: agreement is the share of prompts with the same calls as at limit "
            f"{tuning.largest_limit}, and this is not accuracy."
        )
    prompts = tuning.base.latency.prompts
    notes.append(
        f"Milliseconds of one prompt decoded alone: median (quartiles) over {prompts} prompts, interleaved; times 1: "
        "median ratio to limit 1 with its 95 % interval."
    )
    busy = tuning.base.latency.busy
    if "cpu" in tuning.about["machine"] and busy < BUSY:
        notes.append(
            f"The processor worked on this for {100 * busy:.0f} % of the time only: other processes disturbed the "
            "measurement."
        )
    if any(not row.candidate for row in tuning.limits):
        notes.append("Limit 1 is the base; it was not asked for and is no candidate.")
    if again := {row.options.order_limit: row.again for row in tuning.limits if row.again}:
        counts = ", ".join(f"{count} at limit {limit}" for limit, count in again.items())
        notes.append(f"Decoded again, because a call before another one was voted otherwise: {counts}.")
    if tuning.failures:
        fate = "count as wrong" if tuning.answers else "have no part in any figure"
        notes.append(f"Could not be decoded, and {fate}: {len(tuning.failures)}; the first: {tuning.failures[0]}.")
    return Table("Order limit", (*columns, "ms", "times 1", "passes"), tuple(rows), 0, bold, tuple(notes))


def _limit_row(tuning: Tuning, row: LimitRow) -> tuple[str, ...]:
    limit = row.options.order_limit
    p = tuning.choice.p.get(limit)
    cells = [str(limit), percent(row.right.estimate), NONE if p is None else probability(p)]
    if tuning.answers:
        reduction = tuning.reduction(row)
        cells += [str(row.value_errors), NONE if reduction is None or row is tuning.base else f"{reduction:.1f}"]
    else:
        cells.append(f"{share(row.flipped, row.parameters)} %" if row.parameters else NONE)
    return (*cells, _milliseconds(row.latency), _ratio(row.latency), f"{row.latency.passes:.1f}")


def _share_table(tuning: Tuning) -> Table:
    """Return accuracy and presence of optional keys by ``optional_share``."""
    rows: list[tuple[str, ...]] = []
    bold: set[tuple[int, int]] = set()
    deployed = tuning.deployed.optional_share if tuning.deployed else None
    for row in tuning.shares if any(row.presence.slots for row in tuning.shares) else ():
        if row.share == deployed:
            bold |= {(len(rows), column) for column in range(6)}
        presence = row.presence
        p = NONE if row.p is None else probability(row.p)
        scores = (presence.precision, presence.recall, presence.f1)
        rows.append((f"{row.share:g}", percent(row.right.estimate), p, *map(_number, scores)))
    notes: tuple[str, ...] = ()
    if rows:
        counted = tuning.shares[0].presence
        largest = tuning.largest_limit
        notes = (
            f"At limit {largest}; an optional key is kept if more than this share of the candidates carry it, so at 1 "
            "never. p: gain over the default, adjusted for all comparisons (Holm).",
            f"Presence is over {counted.slots} optional keys in calls of the right tool ({counted.calls}); keys that "
            "the reference leaves open do not count.",
        )
    columns = ("optional_share", "accuracy", "p, gain", "precision", "recall", "F1")
    return Table("Optional keys", columns, tuple(rows), 0, frozenset(bold), notes)


def _stopping_table(tuning: Tuning) -> Table:
    rows = []
    for row in tuning.stopping:
        saved = 1 - row.orders_used / row.orders_possible if row.orders_possible else 0.0
        rows.append(
            (
                row.options.stopping,
                str(row.options.order_limit),
                f"{row.orders_used:.2f} of {row.orders_possible:.2f}",
                f"{100 * saved:.1f} %",
                str(row.changed),
                percent(row.right.estimate),
                _milliseconds(row.latency) if row.latency else NONE,
                _ratio(row.latency) if row.latency else NONE,
            )
        )
    level = tuning.stopping[0].options.stopping_level if tuning.stopping else 0
    measure = "accuracy" if tuning.answers else "agreement"
    columns = ("stopping", "limit", "orders of a call", "saved", "changed", measure, "ms", "times none")
    notes = (
        f"Orders saved say nothing of time, since orders run side by side. posterior at "
        f"level {level:g}. Changed: prompts with other calls than without the rule.",
    )
    return Table("Adaptive stopping", columns, tuple(rows), 1, notes=notes)


def _order_table(tuning: Tuning) -> Table:
    found = tuning.sensitivity
    rows = [_flips_row(f"{keys} keys", flips) for keys, flips in sorted(found.by_keys.items())]
    if rows:
        rows.append(_flips_row("all", found.total))
    columns = ("required keys", "parameters", "documented/reversed", "documented/other", "reversed/other", "any")
    notes = (
        f"Per cent of the required parameters whose value differs between two orders of a call; other: the mean over "
        f"the orders decoded; any: not the same in all of them. First calls of {found.calls} prompts.",
    )
    return Table("Order sensitivity", columns, tuple(rows), 1, notes=notes)


def _flips_row(name: str, flips: Flips) -> tuple[str, ...]:
    counts = (flips.reversed / flips.parameters, flips.shuffled / flips.parameters)
    between = f"{100 * flips.reversed_shuffled / flips.comparable:.1f}" if flips.comparable else NONE
    return (
        name,
        str(flips.parameters),
        *(f"{100 * value:.1f}" for value in counts),
        between,
        share(flips.any, flips.parameters),
    )


def _study_table(tuning: Tuning) -> Table:
    study = tuning.study
    rows = [
        (
            scored.name,
            share(int(scored.right.sum()), len(scored.right)),
            _interval(scored.auroc),
            NONE if not number else _interval(scored.gain, sign="+"),
            _interval(scored.calibration_error),
        )
        for number, scored in enumerate(study.scored if study else ())
    ]
    notes: tuple[str, ...] = ()
    if study is not None:
        notes = (
            f"Values of {study.slots} parameters at limit {tuning.largest_limit}, 95 % bootstrap "
            "intervals over dialogues. A single pass is judged by its own values; the verdict on the vote's differs "
            f"for {study.changed}.",
            "A single pass and the vote's log-probability are exp of the mean over the tokens. Calibrated: logistic "
            "regression, of both share and log-probability for the vote, cross-validated by dialogue. ECE: expected "
            "calibration error, ten bins.",
        )
    columns = ("confidence", "right, %", "AUROC", "AUROC - single pass", "ECE")
    return Table("Confidence in a value", columns, tuple(rows), 1, notes=notes)


def _milliseconds(latency: Latency) -> str:
    return f"{latency.median_ms:.0f} ({latency.low_ms:.0f}-{latency.high_ms:.0f})"


def _ratio(latency: Latency) -> str:
    return f"{latency.ratio:.2f} ({latency.ratio_low:.2f}-{latency.ratio_high:.2f})"


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def _interval(estimate: Estimate, sign: str = "") -> str:
    return f"{estimate.value:{sign}.3f} ({estimate.low:{sign}.3f} to {estimate.high:{sign}.3f})"
