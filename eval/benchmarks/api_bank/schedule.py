"""Rules of the tools for agendas, reminders, meetings and alarms: rows that belong to the user of a token.

A row is found by its text or by its time, exactly. Recorded queries show rows whole. A recorded change or deletion that
no such row explains shows one, too: its text and time are taken from the call. The agenda's time is not, for the
agenda's rows are found by text only (all calls of the fixtures agree: a call with another text and the recorded time
finds nothing). In the official data no such call depends on an earlier one of its dialogue, so that rows which the
dialogue itself adds are not told apart.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from eval.benchmarks.api_bank.rule import (
    TIME,
    ApiCall,
    Arguments,
    Check,
    Database,
    Dialogue,
    Execution,
    Tool,
    ToolFailure,
    demand,
    read_time,
    same_call,
    same_result,
)


@dataclass(frozen=True)
class _Table:
    """A table.

    Attributes
    ----------
    text, times
        The keys by which its rows are found.
    others : tuple of str
        Further keys of a call.
    check : callable
        Of all its tools but the one that deletes.
    needs_text : bool
        Whether an empty text is refused by all its tools, not only by the one that adds.
    """

    name: str
    text: str
    times: tuple[str, ...]
    others: tuple[str, ...]
    check: Check
    needs_text: bool = False

    def matches(self, row: Mapping[str, Any], user: str, arguments: Arguments) -> bool:
        """Whether a call of a user finds a row."""
        time = arguments.get("from_time") or arguments.get(self.times[0])
        by_text = bool(self.text) and row.get(self.text) == arguments.get(self.text)
        return row.get("username") == user and (by_text or row.get(self.times[0]) == time)


def _similar(
    text: str, exact: tuple[str, ...] = (), form: Callable[[str], str] = str, others_equal: bool = False
) -> Check:
    """More than half of the words are common to both texts; other keys are equal, those named or all."""

    def check(tool: Tool, call: ApiCall, truth: ApiCall) -> bool:
        one, two = (set(form(c.input[text]).split(" ")) for c in (call, truth))
        rest, other = ({k: v for k, v in c.input.items() if k != text} for c in (call, truth))
        equal = rest == other if others_equal else all(rest[k] == other[k] for k in exact)
        return len(one & two) / len(one | two) > 0.5 and equal and same_result(tool, call, truth)

    return check


def _same_deletion(tool: Tool, call: ApiCall, truth: ApiCall) -> bool:
    """After success only the time counts. A meeting has no key ``time``: KeyError, as in the official checker."""
    if truth.output == call.output == "success":
        return bool(call.input["time"] == truth.input["time"])
    return same_result(tool, call, truth)


_AGENDA_CHECK: Final = _similar("content", ("time", "location"))
_TABLES: Final = (
    _Table("Agenda", "content", ("time",), ("location",), _AGENDA_CHECK),
    _Table("Reminder", "content", ("time",), (), _similar("content", ("time",), str.lower), needs_text=True),
    # attendees are a text in a call, and a list in all recordings, so that it is never right there
    _Table(
        "Meeting",
        "meeting_topic",
        ("start_time", "end_time"),
        ("location", "attendees"),
        _similar("meeting_topic", others_equal=True),
    ),
    _Table("Alarm", "", ("time",), (), same_call),
)

SHARING_TRUTH: Final = frozenset({"AddMeeting", "ModifyMeeting", "QueryMeeting"})
"""Tools whose checker takes ``meeting_topic`` out of the recorded input: checking the same turn again is a KeyError."""


def learn(dialogues: Sequence[Dialogue], database: Database) -> None:
    """Rows that queries show, then those that only changes and deletions show."""
    calls = [call for dialogue in dialogues for call in dialogue]
    for table in _TABLES:
        rows = database.rows.setdefault(table.name, [])
        for call in calls:
            if call.name == f"Query{table.name}" and isinstance(call.output, dict) and call.output not in rows:
                rows.append(call.output)
        for call in calls:
            user = database.tokens.get(call.text("token"), call.text("token"))
            changes = call.name in (f"Delete{table.name}", f"Modify{table.name}")
            if changes and not any(table.matches(row, user, call.input) for row in rows):
                row = {"username": user}
                if table.text:
                    row[table.text] = call.text(table.text)
                if table.name != "Agenda":
                    row[table.times[0]] = call.text("from_time") or call.text(table.times[0])
                rows.append(row)


def _run(verb: str, table: _Table, call: Execution) -> Any:
    given = call.given
    for key in ("from_time", "to_time") if "from_time" in given else table.times:
        read_time(given[key], TIME)
    if table.text and (verb == "Add" or table.needs_text):
        demand(call.text(table.text), f"the {table.text} is empty")
    user = call.database.owner(given)
    if verb == "Add":
        return "success"
    rows = call.database.rows.get(table.name, ())
    row = next((row for row in rows if table.matches(row, user, given)), None)
    if row is None:
        raise ToolFailure(f"the user has no {table.name.lower()} of this text or time")
    return row if verb == "Query" else "success"


def _tool(verb: str, table: _Table) -> Tool:
    keys = ("token", *filter(None, (table.text, *table.times, *table.others)))
    if (verb, table.name) == ("Modify", "Alarm"):
        keys = ("token", "from_time", "to_time")
    check = _same_deletion if verb == "Delete" and table.text else table.check
    return Tool(f"{verb}{table.name}", dict.fromkeys(keys), partial(_run, verb, table), check)


TOOLS: Final = tuple(_tool(verb, table) for table in _TABLES for verb in ("Add", "Modify", "Delete", "Query"))
