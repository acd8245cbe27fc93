"""``tooldecoding bench agents``: verdicts on what was done and said, rows that a run goes on from."""

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli, assert_bad
from eval.agents.judge import judge
from eval.agents.tasks import TASKS
from eval.agents.trial import run_trial, trial_table
from eval.agents.world import World
from tooldecoding.chat.tools import read_tools

BY_NAME = {task.name: task for task in TASKS}


def done(*calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """The actions of some calls."""
    world = World()
    tools = {tool.__name__: tool for tool in world.tools()}
    for name, arguments in calls:
        tools[name](**arguments)
    return world.actions


TIMER, MAIL = ("set_timer", {"minutes": 25}), ("send_email", {"to": "x@y.org", "text": "Hi"})
FOUND = ("search_contacts", {"name": "Lopez"})
SENT = ("send_email", {"to": "M.Lopez@northwind.example", "text": "I will be 10 minutes late."})


@pytest.mark.parametrize(
    ("name", "answers", "actions", "right", "wrong", "asked"),
    [
        ("timer", ["It runs for 25 minutes."], [done(TIMER)], True, 0, False),
        ("timer", ["It runs for 25 minutes."], [done(TIMER, TIMER)], False, 1, False),
        ("timer", ["Done."], [done(TIMER)], False, 0, False),
        ("timer", [""], [done(TIMER)], False, 0, False),
        ("timer", ["How long?"], [done()], False, 0, True),
        ("timer", ['25: {"name": "set_timer"'], [done(TIMER)], False, 0, False),
        ("timer", ["<tool_response>25</tool_response>"], [done(TIMER)], False, 0, False),
        ("timer", ["25"], [done(TIMER, MAIL)], False, 1, False),
        ("message a contact", ["Sent."], [done(FOUND, SENT)], True, 0, False),
        ("which timer", ["How long?", "Set."], [[], done(("set_timer", {"minutes": 12}))], True, 0, False),
        ("which timer", ["Set.", "Set."], [done(TIMER), done(("set_timer", {"minutes": 12}))], False, 1, False),
        ("hello", ["Hello!"], [[]], True, 0, False),
    ],
)
def test_verdicts(name: str, answers: list[str], actions: Any, right: bool, wrong: int, asked: bool) -> None:
    found = judge(BY_NAME[name], answers, actions)
    assert (found["right"], len(found["wrong_actions"]), found["asked"]) == (right, wrong, asked), found
    assert found["right"] or found["reasons"]


def test_every_task_can_be_done_with_the_tools() -> None:
    assert len(BY_NAME) == len(TASKS) >= 40
    lookup = read_tools(World().tools()).lookup
    for task in TASKS:
        for wanted in task.calls:
            assert wanted.arguments.keys() <= {parameter.name for parameter in lookup[wanted.name].parameters}


def test_a_run_goes_on_in_its_file(tmp_path: Path) -> None:
    begun: list[int] = []

    def begin(tools: Any) -> Any:
        begun.append(len(tools))
        return lambda said: "Hi! How can I help?"

    told: list[str] = []
    path, tasks = tmp_path / "a" / "rows.jsonl", [BY_NAME["hello"], BY_NAME["thanks"]]
    first = run_trial(begin, path, tasks[:1], told.append)
    rows = run_trial(begin, path, tasks, told.append)
    assert rows[0] == first[0] and len(begun) == 2 and [row["id"] for row in rows] == ["hello", "thanks"]
    assert told[0].startswith("1/1 hello: right") and all(row["right"] for row in rows)
    table = trial_table(rows, "x")
    assert [row[:3] for row in table.rows] == [("small talk", "2", "2"), ("all", "2", "2")]
    with path.open("a") as file:
        file.write('{"id": "torn')
    assert len(run_trial(begin, path, tasks, told.append)) == 2


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    ran = cli("bench", "agents", "--limit", "1", "--out", str(out), "--max-text-tokens", "8", "--order-limit", "1")
    assert ran.code == 0 and "wrong actions" in ran.out, ran.err
    [row] = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    assert row["id"] == TASKS[0].name
    assert_bad(cli("bench", "agents", "--client", "openai", "--out", str(out)), "--url belongs to a client")
    assert_bad(cli("bench", "agents", "--url", "http://x", "--out", str(out)), "--url belongs to a client")
    nowhere = ("--client", "openai", "--url", "http://127.0.0.1:9/v1", "--out", str(out))
    assert_bad(cli("bench", "agents", *nowhere), "http://127.0.0.1:9/v1 cannot be reached")
