"""The table: one row for each vocabulary, and below it what came otherwise."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from boundaries.judge import Against, Case, Judge, Miss, Verdict

AGAINST: tuple[Against, ...] = ("noise", "second-choice")


@dataclass
class Tally:
    """What was found with one vocabulary; calls of a list of several are counted apart.

    Attributes
    ----------
    unreachable : int
        Cases that the tokenizer cannot write behind the tokens of their prompt.
    """

    vocabulary: str
    tried: Counter[str] = field(default_factory=Counter)
    misses: list[Miss] = field(default_factory=list)
    unreachable: int = 0
    passes: int = 0

    def add(self, case: Case, against: Against, verdict: Verdict) -> None:
        """Count one verdict."""
        if not verdict.tried:
            self.unreachable += against == "noise"
            return
        kind = "parallel" if len(case.calls) > 1 else against
        self.tried[kind] += 1
        self.passes += verdict.passes if kind == "noise" else 0
        if verdict.miss:
            self.misses.append(verdict.miss)

    def count(self, against: Against | None, kind: str | None = None) -> int:
        """Misses of single calls of a kind; ``against`` None: of lists of several calls."""
        return sum(
            (len(m.case.calls) > 1 if against is None else len(m.case.calls) == 1 and m.against == against)
            and kind in (None, m.kind)
            for m in self.misses
        )


def check(judge: Judge, cases: Iterable[Case], against: Sequence[Against], tally: Tally) -> Tally:
    """Judge all cases; what was found so far stands in ``tally`` when it is interrupted."""
    for case in cases:
        for kind in against:
            tally.add(case, kind, judge.judge(case, kind))
    return tally


def print_table(tallies: Sequence[Tally], console: Console) -> None:
    """Misses by vocabulary and kind."""
    table = Table(title="Calls that a model wants in the tokenizer's own tokens, and those that came otherwise")
    table.add_column("vocabulary")
    columns = ("calls", "text", "path", "error", "with a second choice", "text", "path", "error")
    for name in (*columns, "lists of calls", "missed", "unreachable", "passes/call"):
        table.add_column(name, justify="right")
    for found in tallies:
        cells: list[str] = []
        for against in AGAINST:
            cells.append(str(found.tried[against]))
            cells += (str(found.count(against, kind)) for kind in ("text", "path", "error"))
        calls = found.tried["noise"]
        cells += [str(found.tried["parallel"]), str(found.count(None)), str(found.unreachable)]
        table.add_row(found.vocabulary, *cells, f"{found.passes / calls:.2f}" if calls else "-")
    console.print(table)


def print_misses(tallies: Sequence[Tally], limit: int) -> None:
    """The first ``limit`` misses of each vocabulary, single calls first, each on a line of its own."""
    for found in tallies:
        if found.misses:
            print(f"\n{found.vocabulary}: {len(found.misses)} misses")
            for miss in sorted(found.misses, key=lambda m: len(m.case.calls))[:limit]:
                print(f"  {miss}")
