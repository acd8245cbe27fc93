"""Rules of the tools about a person: users with passwords and tokens, appointments at the hospital, health data."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from eval.benchmarks.api_bank.rule import (
    DATE,
    TIME,
    UNRECORDED,
    ApiCall,
    Database,
    Dialogue,
    Execution,
    Form,
    Tool,
    ToolFailure,
    demand,
    normal_day,
    normal_second,
    nullable,
    padded_time,
    read_time,
    same_call,
    same_keys,
    stripped,
    uppered,
)

VERIFICATION_CODE: Final = 970420
"""The one that the tool always sends."""

_ID: Final = "appointment_id"


def learn(dialogues: Sequence[Dialogue], database: Database) -> None:
    """Users, passwords, addresses, tokens, appointments and health records that were there before the dialogue."""
    before = [_before_registration(dialogue) for dialogue in dialogues]
    for call in (call for calls in before for call in calls if isinstance(call.output, dict)):
        if call.name == "GetUserToken":
            database.tokens[str(call.output.get("token"))] = call.text("username")
        elif call.name == "CheckToken":
            database.tokens[call.text("token")] = str(call.output.get("username"))
    for calls in before:
        _learn_users(calls, database)
    for dialogue in dialogues:
        _learn_hospital(dialogue, database)
    for dialogue in dialogues:
        # those of which nothing but the id is known; ids that the dialogue made are not in the fresh database
        for call in dialogue:
            identifier = call.text(_ID).strip()
            if call.name in ("CancelRegistration", "ModifyRegistration") and not _made(dialogue, identifier):
                database.appointments.setdefault(identifier, {})


def _before_registration(dialogue: Dialogue) -> list[ApiCall]:
    """The calls that are not about a user or token that the dialogue itself had made."""
    made: set[str] = set()
    kept = []
    for call in dialogue:
        if call.name == "RegisterUser" and isinstance(call.output, dict):
            made |= {call.text("username"), str(call.output.get("token"))}
        elif call.text("username") not in made and call.text("token") not in made:
            kept.append(call)
    return kept


def _learn_users(calls: Sequence[ApiCall], database: Database) -> None:
    """The first password that a dialogue shows was there before, unless one was set by code."""
    asked: set[str] = set()
    for call in calls:
        token, user = call.text("token"), call.text("username")
        if token:
            user = user or database.tokens.setdefault(token, token)
        if not user:
            continue
        database.users.add(user)
        if call.name == "ForgotPassword":
            asked.add(user)
            database.emails.setdefault(user, call.text("email"))
        elif call.name in ("GetUserToken", "ModifyPassword") and user not in asked:
            database.passwords.setdefault(user, call.text("password") or call.text("old_password"))


def _made(dialogue: Dialogue, identifier: str) -> bool:
    """Whether the dialogue made this appointment."""
    return any(c.name == "AppointmentRegistration" and c.output == identifier for c in dialogue)


def _learn_hospital(dialogue: Dialogue, database: Database) -> None:
    modified: set[str] = set()
    written = {call.text("time").strip() for call in dialogue if call.name == "RecordHealthData"}
    for call in dialogue:
        if call.name == "ModifyRegistration":
            modified.add(call.text(_ID).strip())
        elif call.name == "QueryRegistration" and isinstance(call.output, dict):
            for identifier, row in call.output.items():
                whole = isinstance(row, dict) and all(isinstance(value, str) for value in row.values())
                if identifier not in modified and not _made(dialogue, identifier) and whole:
                    database.appointments.setdefault(identifier, row)
        elif call.name == "QueryHealthData" and isinstance(call.output, list):
            records = database.health.setdefault(uppered(call.text("user_id")), [])
            new = [r for r in call.output if isinstance(r, dict) and r.get("time") not in written and r not in records]
            records += new


def _get_user_token(call: Execution) -> Any:
    user, database = call.given["username"], call.database
    known = database.passwords.get(user) == call.given["password"]
    demand(known, "there is no such user, or the password is another")
    return {"token": next((t for t, u in database.tokens.items() if u == user), UNRECORDED)}


def _register_user(call: Execution) -> Any:
    demand(call.given["username"] not in call.database.users, "the user exists already")
    return {"token": UNRECORDED}  # a random one


def _delete_account(call: Execution) -> Any:
    call.database.owner(call.given)
    return {"status": "success"}


def _modify_password(call: Execution) -> Any:
    password = call.database.passwords.get(call.database.owner(call.given))
    demand(password == call.given["old_password"], "the old password is another")
    return {"status": "success"}


def _forgot_password(call: Execution) -> Any:
    """The second call always fails: a fresh tool has sent no code."""
    given = call.given
    demand(given["status"] == "Forgot Password", "the status is not 'Forgot Password', and no code was sent before")
    demand("username" in given and "email" in given, "the first call needs username and email")
    known = call.database.emails.get(given["username"]) == given["email"]
    demand(known, "there is no such user, or the address is another")
    return VERIFICATION_CODE


def _same_user(tool: Tool, call: ApiCall, truth: ApiCall) -> bool:
    """The token is random."""
    made = truth.output is not None or call.output is None
    return made and call.input == truth.input and call.exception == truth.exception


def _appointments_of(call: Execution, patient: str, day: datetime) -> dict[str, dict[str, str]]:
    return {
        identifier: row
        for identifier, row in call.database.appointments.items()
        if row.get("patient_name") == patient and normal_day(row.get("date", "")) == day
    }


def _register(call: Execution) -> Any:
    patient = call.text("patient_name")
    demand(patient and call.text("doctor_name"), "the name of patient or doctor is empty")
    there = _appointments_of(call, patient, padded_time(call.given["date"], DATE))
    demand(not there, "the patient has an appointment on this day already")
    return UNRECORDED  # a random id


def _change(call: Execution) -> str:
    """Cancel or modify."""
    row = call.database.appointments.get(call.text(_ID))
    if row is None:
        raise ToolFailure("there is no such appointment")
    if call.tool.name == "ModifyRegistration":
        day, doctor = call.given["new_appointment_date"], call.given["new_appointment_doctor"]
        demand(day is not None or doctor is not None, "nothing is to be modified")
        other = day is None or padded_time(day, DATE) != normal_day(row.get("date", ""))
        demand(other, "the date is not another one")
        other = doctor is None or doctor.strip() not in ("", row.get("doctor_name"))
        demand(other, "the doctor is empty, or not another one")
    return "success"


def _query(call: Execution) -> Any:
    found = _appointments_of(call, call.text("patient_name"), padded_time(call.given["date"], DATE))
    demand(found, "there is no such appointment")
    return found


def _record_health(call: Execution) -> Any:
    raise ToolFailure("the health data is a text, as the tool manager passes lists on")


def _query_health(call: Execution) -> Any:
    start, end = (padded_time(call.given[k], TIME) for k in ("start_time", "end_time"))
    records = call.database.health.get(uppered(call.given["user_id"]), [])
    found = [r for r in records if start <= read_time(str(r.get("time")), TIME) <= end]
    demand(found, "there is no such user, or nothing in this span")
    return found


def _same_registration(tool: Tool, call: ApiCall, truth: ApiCall) -> bool:
    """The id is random."""
    return same_keys(tool, call, truth) and call.exception == truth.exception


_VISIT: Final[dict[str, Form | None]] = {"patient_name": stripped, "date": normal_day}
_SPAN: Final[dict[str, Form | None]] = {"user_id": uppered, "start_time": normal_second, "end_time": normal_second}
_CHANGES: Final = {"new_appointment_date": nullable(normal_day), "new_appointment_doctor": nullable(stripped)}
_TOKEN: Final[dict[str, Form | None]] = {"token": None}
_FORGOTTEN: Final = dict.fromkeys(("username", "email", "verification_code", "new_password"))
_MEASURED: Final[dict[str, Form | None]] = {"user_id": uppered, "time": normal_second}

TOOLS: Final = (
    Tool("GetUserToken", dict.fromkeys(("username", "password")), _get_user_token, same_call),
    Tool("RegisterUser", dict.fromkeys(("username", "password", "email")), _register_user, _same_user),
    Tool("DeleteAccount", _TOKEN, _delete_account, same_call),
    Tool("CheckToken", _TOKEN, lambda call: {"username": call.database.owner(call.given)}, same_call),
    Tool("ModifyPassword", dict.fromkeys(("token", "old_password", "new_password")), _modify_password, same_call),
    Tool("ForgotPassword", {"status": None}, _forgot_password, same_call, _FORGOTTEN, integers=("verification_code",)),
    Tool("AppointmentRegistration", _VISIT | {"doctor_name": stripped}, _register, _same_registration),
    Tool("CancelRegistration", {_ID: stripped}, _change),
    Tool("ModifyRegistration", {_ID: stripped}, _change, optional=_CHANGES, filled=True),
    Tool("QueryRegistration", _VISIT, _query),
    Tool("RecordHealthData", _MEASURED, _record_health, optional={"health_data": None}, filled=True),
    Tool("QueryHealthData", _SPAN, _query_health),
)
