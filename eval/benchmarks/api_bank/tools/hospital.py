"""Rules of the hospital's tools: appointments and health data.

Appointments that the dialogue itself made are not in the fresh database: their random ids show which.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from eval.benchmarks.api_bank.tools.rule import (
    DATE,
    TIME,
    UNRECORDED,
    ApiCall,
    Arguments,
    Database,
    Dialogue,
    Form,
    Replay,
    Tool,
    ToolFailure,
    normal_day,
    normal_second,
    nullable,
    padded_time,
    read_time,
    same_keys,
    stripped,
    uppered,
)

_ID: Final = "appointment_id"


def learn(dialogues: Sequence[Dialogue], database: Database) -> None:
    """Appointments and health records that were there before the dialogue."""
    for dialogue in dialogues:
        _learn_appointments(dialogue, database)
    for dialogue in dialogues:
        _learn_health(dialogue, database)
        for call in dialogue:
            identifier = call.text(_ID).strip()
            if call.name in ("CancelRegistration", "ModifyRegistration") and not _made(dialogue, identifier):
                database.appointments.setdefault(identifier, {})


def _made(dialogue: Dialogue, identifier: str) -> bool:
    """Whether the dialogue made this appointment."""
    return any(c.name == "AppointmentRegistration" and c.output == identifier for c in dialogue)


def _learn_appointments(dialogue: Dialogue, database: Database) -> None:
    modified: set[str] = set()
    for call in dialogue:
        if call.name == "ModifyRegistration":
            modified.add(call.text(_ID).strip())
        if call.name == "QueryRegistration" and isinstance(call.output, dict):
            for identifier, row in call.output.items():
                whole = isinstance(row, dict) and all(isinstance(value, str) for value in row.values())
                if identifier not in modified and not _made(dialogue, identifier) and whole:
                    database.appointments.setdefault(identifier, row)


def _learn_health(dialogue: Dialogue, database: Database) -> None:
    written = {call.text("time").strip() for call in dialogue if call.name == "RecordHealthData"}
    for call in dialogue:
        if call.name == "QueryHealthData" and isinstance(call.output, list):
            records = database.health.setdefault(uppered(call.text("user_id")), [])
            new = [r for r in call.output if isinstance(r, dict) and r.get("time") not in written and r not in records]
            records += new


def _appointments_of(patient: str, day: datetime, replay: Replay) -> dict[str, dict[str, str]]:
    return {
        identifier: row
        for identifier, row in replay.database.appointments.items()
        if row.get("patient_name") == patient and normal_day(row.get("date", "")) == day
    }


def _register(arguments: Arguments, replay: Replay) -> Any:
    patient, doctor = arguments["patient_name"].strip(), arguments["doctor_name"].strip()
    if not patient or not doctor:
        raise ToolFailure("the name of patient or doctor is empty")
    if _appointments_of(patient, padded_time(arguments["date"], DATE), replay):
        raise ToolFailure("the patient has an appointment on this day already")
    return UNRECORDED  # a random id


def _change(arguments: Arguments, replay: Replay) -> str:
    """Cancel or modify."""
    row = replay.database.appointments.get(arguments[_ID].strip())
    if row is None:
        raise ToolFailure("there is no such appointment")
    if replay.tool.name == "CancelRegistration":
        return "success"
    day, doctor = arguments["new_appointment_date"], arguments["new_appointment_doctor"]
    if day is None and doctor is None:
        raise ToolFailure("nothing is to be modified")
    if day is not None and padded_time(day, DATE) == normal_day(row.get("date", "")):
        raise ToolFailure("the date is not another one")
    if doctor is not None and doctor.strip() in ("", row.get("doctor_name")):
        raise ToolFailure("the doctor is empty, or not another one")
    return "success"


def _query(arguments: Arguments, replay: Replay) -> Any:
    found = _appointments_of(arguments["patient_name"].strip(), padded_time(arguments["date"], DATE), replay)
    if not found:
        raise ToolFailure("there is no such appointment")
    return found


def _record_health(arguments: Arguments, replay: Replay) -> Any:
    """Always fails: the data arrives as a text, whose characters are no records."""
    raise ToolFailure("the health data is a text, as the tool manager passes lists on")


def _query_health(arguments: Arguments, replay: Replay) -> Any:
    start, end = (padded_time(arguments[k], TIME) for k in ("start_time", "end_time"))
    records = replay.database.health.get(uppered(arguments["user_id"]), [])
    found = [r for r in records if start <= read_time(str(r.get("time")), TIME) <= end]
    if not found:
        raise ToolFailure("there is no such user, or nothing in this span")
    return found


def _same_registration(tool: Tool, call: ApiCall, truth: ApiCall) -> bool:
    """The id is random."""
    return same_keys(tool, call, truth) and call.exception == truth.exception


_VISIT: Final[dict[str, Form | None]] = {"patient_name": stripped, "date": normal_day}
_SPAN: Final[dict[str, Form | None]] = {"user_id": uppered, "start_time": normal_second, "end_time": normal_second}
_CHANGES: Final = {"new_appointment_date": nullable(normal_day), "new_appointment_doctor": nullable(stripped)}

TOOLS: Final = (
    Tool("AppointmentRegistration", _VISIT | {"doctor_name": stripped}, _register, _same_registration),
    Tool("CancelRegistration", {_ID: stripped}, _change),
    Tool("ModifyRegistration", {_ID: stripped}, _change, optional=_CHANGES, filled=True),
    Tool("QueryRegistration", _VISIT, _query),
    Tool(
        "RecordHealthData",
        {"user_id": uppered, "time": normal_second},
        _record_health,
        optional={"health_data": None},
        filled=True,
    ),
    Tool("QueryHealthData", _SPAN, _query_health),
)
