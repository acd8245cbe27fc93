"""Rules of the hospital's tools: appointments, health data, symptoms.

Appointments that the dialogue itself made are not in the fresh database: their random ids show which.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from eval.benchmarks.api_bank.tools.database import Database, Dialogue, Replay
from eval.benchmarks.api_bank.tools.tool import (
    DATE,
    TIME,
    UNRECORDED,
    Arguments,
    Run,
    Tool,
    ToolFailure,
    compare,
    lowered,
    normal_day,
    normal_second,
    padded_time,
    read_time,
    same_exception,
    stripped,
    uppered,
)

_SYMPTOM_TOOLS: Final = ("SymptomSearch", "EmergencyKnowledge")


def learn(dialogues: Sequence[Dialogue], database: Database) -> None:
    """Appointments, health records and symptoms that were there before the dialogue."""
    for dialogue in dialogues:
        _learn_appointments(dialogue, database)
    for dialogue in dialogues:
        _learn_health(dialogue, database)
        for call in dialogue:
            if call.name in _SYMPTOM_TOOLS:
                database.note(call.name, lowered(call.text("symptom")), call.output)
            if call.name in ("CancelRegistration", "ModifyRegistration") and not _made(dialogue, call.text(_ID)):
                database.appointments.setdefault(call.text(_ID).strip(), {})


_ID: Final = "appointment_id"


def _made(dialogue: Dialogue, identifier: str) -> bool:
    """Whether the dialogue made this appointment."""
    return any(c.name == "AppointmentRegistration" and c.output == identifier.strip() for c in dialogue)


def _learn_appointments(dialogue: Dialogue, database: Database) -> None:
    modified: set[str] = set()
    for call in dialogue:
        if call.name == "ModifyRegistration":
            modified.add(call.text(_ID).strip())
        if call.name == "QueryRegistration" and isinstance(call.output, dict):
            for identifier, row in call.output.items():
                if identifier not in modified and not _made(dialogue, identifier) and _is_appointment(row):
                    database.appointments.setdefault(identifier, row)


def _is_appointment(row: Any) -> bool:
    return isinstance(row, dict) and all(isinstance(value, str) for value in row.values())


def _learn_health(dialogue: Dialogue, database: Database) -> None:
    recorded: set[str] = set()
    for call in dialogue:
        if call.name == "RecordHealthData":
            recorded.add(call.text("time").strip())
        elif call.name == "QueryHealthData" and isinstance(call.output, list):
            records = database.health.setdefault(uppered(call.text("user_id")), [])
            records += [
                r for r in call.output if isinstance(r, dict) and r.get("time") not in recorded and r not in records
            ]


def _appointment(arguments: Arguments, replay: Replay) -> dict[str, str]:
    identifier = arguments[_ID].strip()
    if identifier not in replay.database.appointments:
        raise ToolFailure("there is no such appointment")
    return replay.database.appointments[identifier]


def _register(arguments: Arguments, replay: Replay) -> Any:
    patient, doctor = arguments["patient_name"].strip(), arguments["doctor_name"].strip()
    if not patient or not doctor:
        raise ToolFailure("the name of patient or doctor is empty")
    if _appointments_of(patient, padded_time(arguments["date"], DATE), replay):
        raise ToolFailure("the patient has an appointment on this day already")
    return UNRECORDED  # a random id


def _appointments_of(patient: str, day: datetime, replay: Replay) -> dict[str, dict[str, str]]:
    return {
        identifier: row
        for identifier, row in replay.database.appointments.items()
        if row.get("patient_name") == patient and normal_day(row.get("date", "")) == day
    }


def _cancel(arguments: Arguments, replay: Replay) -> str:
    _appointment(arguments, replay)
    return "success"


def _modify(arguments: Arguments, replay: Replay) -> str:
    row = _appointment(arguments, replay)
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


def _search(tool: str) -> Run:
    """Both tools read the same table: a symptom that one knows is known to the other."""

    def run(arguments: Arguments, replay: Replay) -> Any:
        symptom = lowered(arguments["symptom"])
        if all(symptom not in replay.database.known(t) for t in _SYMPTOM_TOOLS):
            raise ToolFailure("there is no such symptom")
        if replay.truth.name == tool and lowered(replay.truth.text("symptom")) == symptom:
            return replay.truth.output
        return replay.database.outputs.get(tool, {}).get(symptom, UNRECORDED)

    return run


def _symptom(value: str) -> str:
    """The official checkers fail on an empty one, each with another error."""
    symptom = lowered(value)
    if not symptom:
        raise AttributeError("the symptom is empty")
    return symptom


def _nullable_day(value: str | None) -> Any:
    return None if value is None else normal_day(value)


def _nullable(value: str | None) -> str | None:
    return None if value is None else value.strip()


TOOLS: Final = (
    Tool(
        "AppointmentRegistration",
        ("patient_name", "date", "doctor_name"),
        _register,
        compare(same_exception, patient_name=stripped, date=normal_day, doctor_name=stripped),
    ),
    Tool("CancelRegistration", (_ID,), _cancel, compare(appointment_id=stripped)),
    Tool(
        "ModifyRegistration",
        (_ID,),
        _modify,
        compare(appointment_id=stripped, new_appointment_date=_nullable_day, new_appointment_doctor=_nullable),
        optional=("new_appointment_date", "new_appointment_doctor"),
        filled=True,
    ),
    Tool("QueryRegistration", ("patient_name", "date"), _query, compare(patient_name=stripped, date=normal_day)),
    Tool(
        "RecordHealthData",
        ("user_id", "time"),
        _record_health,
        compare(user_id=uppered, time=normal_second),
        optional=("health_data",),
        filled=True,
    ),
    Tool(
        "QueryHealthData",
        ("user_id", "start_time", "end_time"),
        _query_health,
        compare(user_id=uppered, start_time=normal_second, end_time=normal_second),
    ),
    *(Tool(name, ("symptom",), _search(name), compare(symptom=_symptom)) for name in _SYMPTOM_TOOLS),
)
