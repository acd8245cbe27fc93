"""Runs the tasks of the trial, one after another, into a file that an interrupted run goes on with."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from eval.agents.clients import Ask, Tool
from eval.agents.judge import judge
from eval.agents.tasks import Task
from eval.agents.world import World
from eval.report.table import Table
from tooldecoding.files.json_lines import read_object
from tooldecoding.files.result_file import ResultFile

_COLUMNS: Final = frozenset({"right"})
_LEGEND: Final = (
    "Right: all calls that are wanted ran, none that changes something and is not, and the answer says what it has to. "
    "Wrong actions: calls of the latter kind. Asked: a question where nothing was missing. No words: tasks with an "
    "answer that holds JSON, marks or documentation."
)


def run_trial(
    begin: Callable[[Sequence[Tool]], Ask], path: Path, tasks: Sequence[Task], tell: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Return the rows of tasks; those that stand in the file are not run again.

    Parameters
    ----------
    begin : callable
        Begins a conversation with some tools.
    path : Path
        JSON lines: what was said and done, the verdict, and the seconds, of one task each.
    tell : callable
        Is told each row, in one line.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = ResultFile(path, _COLUMNS)
    try:
        for number, task in enumerate(tasks, 1):
            if task.name not in file.done:
                row = _run(task, begin)
                file.write([row])
                reasons = "right" if row["right"] else "; ".join(row["reasons"])
                tell(f"{number}/{len(tasks)} {task.name}: {reasons} ({row['seconds']:.1f} s)")
    finally:
        file.close()
    known = {task.name for task in tasks}
    rows = [read_object(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["id"] in known]


def trial_table(rows: Sequence[Mapping[str, Any]], title: str) -> Table:
    """Return the verdicts by kind of task, and of all."""
    kinds = [*dict.fromkeys(row["kind"] for row in rows), "all"]
    cells = []
    for kind in kinds:
        own = [row for row in rows if kind in (row["kind"], "all")]
        wrong = sum(len(row["wrong_actions"]) for row in own)
        asked, no_words = sum(row["asked"] for row in own), sum(row["no_words"] for row in own)
        seconds = sum(row["seconds"] for row in own) / max(1, sum(len(row["said"]) for row in own))
        right = sum(row["right"] for row in own)
        figures = (*map(str, (len(own), right, wrong, asked, no_words)), f"{seconds:.1f}")
        cells.append((kind, *figures))
    heads = ("kind", "tasks", "right", "wrong actions", "asked", "no words", "seconds a message")
    return Table(title, heads, tuple(cells), 1, notes=(_LEGEND,))


def _run(task: Task, begin: Callable[[Sequence[Tool]], Ask]) -> dict[str, Any]:
    world, answers, actions = World(), list[str](), list[list[Any]]()
    ask = begin(world.tools())
    started = time.perf_counter()
    for said in task.turns:
        world.actions = []
        answers.append(ask(said))
        actions.append(world.actions)
    seconds = time.perf_counter() - started
    shown = [[{"name": a.name, "arguments": dict(a.arguments)} for a in turn] for turn in actions]
    row = {"id": task.name, "kind": task.kind, "said": list(task.turns), "did": shown, "answers": answers}
    return row | judge(task, answers, actions) | {"seconds": round(seconds, 2)}
