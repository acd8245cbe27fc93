"""Rules of the tools for agendas, reminders, meetings and alarms: rows that belong to the user of a token.

A row is found by its text or by its time, exactly. Recorded queries show rows whole. A recorded change or deletion that
no such row explains shows one, too: its text and time are taken from the call. The agenda's time is not, for the
agenda's rows are found by text only (all calls of the fixtures agree: a call with another text and the recorded time
finds nothing). In the official data no such call depends on an earlier one of its dialogue, so that rows which the
dialogue itself adds are not told apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from eval.benchmarks.api_bank.tools.accounts import owner
from eval.benchmarks.api_bank.tools.database import Database, Dialogue, RecordedCall, Replay
from eval.benchmarks.api_bank.tools.tool import (
    TIME,
    Arguments,
    Check,
    Response,
    Run,
    Tool,
    ToolFailure,
    read_time,
    same_call,
    same_result,
    word_overlap,
)


@dataclass(frozen=True)
class _Table:
    """Name of a table, and the keys of its rows by which they are found and checked."""

    name: str
    text: str | None
    times: tuple[str, ...]
    needs_text: bool = False
    found_by_time: bool = True


_AGENDA = _Table("Agenda", "content", ("time",), found_by_time=False)
_REMINDER = _Table("Reminder", "content", ("time",), needs_text=True)
_MEETING = _Table("Meeting", "meeting_topic", ("start_time", "end_time"))
_ALARM = _Table("Alarm", None, ("time",))
_TABLES: Final = {t.name: t for t in (_AGENDA, _REMINDER, _MEETING, _ALARM)}


def learn(dialogues: Sequence[Dialogue], database: Database) -> None:
    """Rows that queries show, then those that only changes and deletions show."""
    for dialogue in dialogues:
        for call in dialogue:
            for table in _TABLES.values():
                rows = database.rows.setdefault(table.name, [])
                if call.name == f"Query{table.name}" and isinstance(call.output, dict) and call.output not in rows:
                    rows.append(call.output)
    for dialogue in dialogues:
        for call in dialogue:
            for table in _TABLES.values():
                if call.name in (f"Delete{table.name}", f"Modify{table.name}"):
                    _learn_row(call, table, database)


def _learn_row(call: RecordedCall, table: _Table, database: Database) -> None:
    user = database.tokens.get(call.text("token"), call.text("token"))
    rows = database.rows[table.name]
    time = call.text("from_time") or call.text(table.times[0])
    text = call.text(table.text) if table.text else ""
    if any(_matches(row, user, text, time, table) for row in rows):
        return
    row = {"username": user}
    if table.text:
        row[table.text] = text
    if table.found_by_time:
        row[table.times[0]] = time
    rows.append(row)


def _matches(row: dict[str, Any], user: str, text: str, time: str, table: _Table) -> bool:
    by_text = table.text is not None and row.get(table.text) == text
    return row.get("username") == user and (by_text or row.get(table.times[0]) == time)


def _find(user: str, arguments: Arguments, table: _Table, replay: Replay) -> dict[str, Any]:
    time = arguments["from_time"] if "from_time" in arguments else arguments[table.times[0]]
    text = arguments[table.text] if table.text else ""
    for row in replay.database.rows.get(table.name, ()):
        if _matches(row, user, text, time, table):
            return row
    raise ToolFailure(f"the user has no {table.name.lower()} of this text or time")


def _check_form(arguments: Arguments, times: Sequence[str], needed_text: str | None) -> None:
    for key in times:
        read_time(arguments[key], TIME)
    if needed_text and not arguments[needed_text].strip():
        raise ToolFailure(f"the {needed_text} is empty")


def _add(table: _Table) -> Run:
    def run(arguments: Arguments, replay: Replay) -> str:
        _check_form(arguments, table.times, table.text)
        owner(arguments["token"], replay)
        return "success"

    return run


def _change(table: _Table, times: tuple[str, ...] = ()) -> Run:
    """Modify or delete."""

    def run(arguments: Arguments, replay: Replay) -> str:
        _check_form(arguments, times or table.times, table.text if table.needs_text else None)
        _find(owner(arguments["token"], replay), arguments, table, replay)
        return "success"

    return run


def _query(table: _Table) -> Run:
    def run(arguments: Arguments, replay: Replay) -> dict[str, Any]:
        _check_form(arguments, table.times, table.text if table.needs_text else None)
        return _find(owner(arguments["token"], replay), arguments, table, replay)

    return run


def _similar_content(*exact: str, ignore_case: bool = False) -> Check:
    def check(response: Response, truth: Response) -> bool:
        one, other = response.given["content"], truth.given["content"]
        if ignore_case:
            one, other = one.lower(), other.lower()
        similar = word_overlap(one, other) > 0.5
        return similar and all(response.given[k] == truth.given[k] for k in exact) and same_result(response, truth)

    return check


def _similar_meeting(response: Response, truth: Response) -> bool:
    """Attendees are a text in the response, and a list in all recordings, so that this is never right there."""
    similar = word_overlap(response.given["meeting_topic"], truth.given["meeting_topic"]) > 0.5
    one, other = dict(response.given), dict(truth.given)
    del one["meeting_topic"], other["meeting_topic"]
    return similar and one == other and same_result(response, truth)


def _same_deletion(response: Response, truth: Response) -> bool:
    """After success only the time counts. A meeting has no key ``time``: KeyError, as in the official checker."""
    if truth.output == response.output == "success":
        return bool(response.given["time"] == truth.given["time"])
    return same_result(response, truth)


_AGENDA_KEYS: Final = ("token", "content", "time", "location")
_REMINDER_KEYS: Final = ("token", "content", "time")
_MEETING_KEYS: Final = ("token", "meeting_topic", "start_time", "end_time", "location", "attendees")
_ALARM_KEYS: Final = ("token", "time")
_AGENDA_CHECK: Final = _similar_content("time", "location")
_REMINDER_CHECK: Final = _similar_content("time", ignore_case=True)

SHARING_TRUTH: Final = frozenset({"AddMeeting", "ModifyMeeting", "QueryMeeting"})
"""Tools whose checker takes ``meeting_topic`` out of the recorded input: checking the same turn again is a KeyError."""

TOOLS: Final = (
    Tool("AddAgenda", _AGENDA_KEYS, _add(_AGENDA), _AGENDA_CHECK),
    Tool("ModifyAgenda", _AGENDA_KEYS, _change(_AGENDA), _AGENDA_CHECK),
    Tool("DeleteAgenda", _AGENDA_KEYS, _change(_AGENDA), _same_deletion),
    Tool("QueryAgenda", _AGENDA_KEYS, _query(_AGENDA), _AGENDA_CHECK),
    Tool("AddReminder", _REMINDER_KEYS, _add(_REMINDER), _REMINDER_CHECK),
    Tool("ModifyReminder", _REMINDER_KEYS, _change(_REMINDER), _REMINDER_CHECK),
    Tool("DeleteReminder", _REMINDER_KEYS, _change(_REMINDER), _same_deletion),
    Tool("QueryReminder", _REMINDER_KEYS, _query(_REMINDER), _REMINDER_CHECK),
    Tool("AddMeeting", _MEETING_KEYS, _add(_MEETING), _similar_meeting),
    Tool("ModifyMeeting", _MEETING_KEYS, _change(_MEETING), _similar_meeting),
    Tool("DeleteMeeting", _MEETING_KEYS, _change(_MEETING), _same_deletion),
    Tool("QueryMeeting", _MEETING_KEYS, _query(_MEETING), _similar_meeting),
    Tool("AddAlarm", _ALARM_KEYS, _add(_ALARM), same_call),
    Tool("DeleteAlarm", _ALARM_KEYS, _change(_ALARM), same_call),
    Tool("QueryAlarm", _ALARM_KEYS, _query(_ALARM), same_call),
    Tool(
        "ModifyAlarm",
        ("token", "from_time", "to_time"),
        _change(_ALARM, ("from_time", "to_time")),
        same_call,
    ),
)
