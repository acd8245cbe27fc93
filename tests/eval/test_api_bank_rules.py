"""Rules of single tools, on dialogues made here: what the shared fixtures do not show."""

from pathlib import Path
from typing import Any

import pytest

from eval.benchmarks.api_bank.data import LEVEL_2
from eval_data import Bank, api_row, bank, described, only, write_files

TOKEN = ("GetUserToken", {"username": "ann", "password": "pw"}, {"token": "t1"})
ROW = {"username": "ann", "content": "Gym workout today", "time": "2023-03-16 10:00:00", "location": "hall"}


def asked(content: str = ROW["content"], location: str = "hall") -> str:
    return f"[QueryAgenda(token='t1', content='{content}', time='2023-03-16 10:00:00', location='{location}')]"


AGENDA = [TOKEN, ("QueryAgenda", {"token": "t1"} | {k: v for k, v in ROW.items() if k != "username"}, ROW)]


def test_another_users_valid_token_adds_an_agenda_but_finds_no_row(tmp_path: Path) -> None:
    other = ("GetUserToken", {"username": "bob", "password": "pw"}, {"token": "t2"})
    added = ("AddAgenda", {"token": "t1", "content": "x y", "time": ROW["time"], "location": "hall"}, "success")
    made = Bank(write_files(tmp_path, bank(a=[*AGENDA, added], b=[other])))
    assert made.error(asked().replace("t1", "t2"), 1) == "HAS_EXCEPTION"
    assert made.error("[AddAgenda(token='t2', content='x y', time='2023-03-16 10:00:00', location='hall')]", 2) is None


WHO = {"patient_name": "Ann", "date": "2023-05-01"}
LETTER = {"receiver": "a.b@c.de", "subject": "s", "content": "c"}
STAY = {"hotel_name": "h", "check_in_time": "2023-01-01", "check_out_time": "2023-01-02"}
STAY |= {"room_count": 1, "adult_count": 2, "child_count": 0}
SWITCH = {"name": "Lamp", "time": "2023-01-02 10:00:00"}
OLD, NEW = {"time": "2023-03-01 08:00:00", "pulse": 80}, {"time": "2023-03-02 08:00:00", "pulse": 90}
SPAN = {"user_id": "u", "start_time": "2023-03-01 00:00:00", "end_time": "2023-03-03 00:00:00"}
FORGOT = ("ForgotPassword", {"status": "Forgot Password", "username": "ann", "email": "a@b.cc"}, 970420)
CODE = {"status": "Verification Code", "verification_code": 970420, "new_password": "n"}
CODED = ("ForgotPassword", CODE, "success")
RANDOM = {"token": "random"}


def register(user: str) -> Any:
    return "RegisterUser", {"username": user, "password": "n", "email": "a@b.cc"}, RANDOM


STATES: dict[str, tuple[list[Any], list[bool]]] = {
    "an account deleted before exists again": (
        [TOKEN, ("DeleteAccount", {"token": "t1"}, {"status": "success"}), register("ann")],
        [True, True, False],
    ),
    "an account registered before is gone": (
        [
            register("eve"),
            ("GetUserToken", {"username": "eve", "password": "n"}, RANDOM),
            ("AddAlarm", {"token": "random", "time": "2023-03-16 10:00:00"}, "success"),
        ],
        [True, False, False],
    ),
    "a scene and a switch made before are gone": (
        [
            ("AddScene", {"name": "Dusk", "devices": []}, "success"),
            ("TimedSwitch", SWITCH | {"on": True}, "success"),
            ("DeleteScene", {"name": "Dusk"}, "success"),
            ("CancelTimedSwitch", SWITCH, "success"),
        ],
        [False, True, False, False],
    ),
    "others are there": (
        [("DeleteScene", {"name": "Dusk"}, "success"), ("CancelTimedSwitch", SWITCH, "success")],
        [True, True],
    ),
    "an appointment made before is gone": (
        [
            ("AppointmentRegistration", WHO | {"doctor_name": "Dr. Lee"}, "111"),
            ("QueryRegistration", WHO, {"111": WHO | {"doctor_name": "Dr. Lee"}}),
            ("CancelRegistration", {"appointment_id": "111"}, "success"),
        ],
        [True, False, False],
    ),
    "health records of the dialogue itself are gone, and lists are passed on as texts": (
        [
            ("RecordHealthData", {"user_id": "u", "time": NEW["time"], "health_data": [{"name": "pulse"}]}, "success"),
            ("QueryHealthData", SPAN, [OLD, NEW]),
        ],
        [False, False],
    ),
}


@pytest.mark.parametrize("name", STATES)
def test_every_call_meets_a_fresh_database(tmp_path: Path, name: str) -> None:
    turns, satisfiable = STATES[name]
    assert only(tmp_path, *turns).satisfiable() == satisfiable


VISIT = [
    ("QueryRegistration", WHO, {"111": WHO | {"doctor_name": "Dr. Lee"}}),
    (
        "ModifyRegistration",
        {"appointment_id": "111", "new_appointment_date": "2023-06-01", "new_appointment_doctor": "Dr. Kim"},
        "success",
    ),
]


def moved(date: str, doctor: str) -> str:
    when = f"new_appointment_date='{date}', new_appointment_doctor='{doctor}'"
    return f"[ModifyRegistration(appointment_id=' 111 ', {when})]"


def code(value: str) -> str:
    return f"[ForgotPassword(status='Verification Code', verification_code='{value}')]"


BEHIND: list[tuple[list[Any], str, str | None]] = [
    (AGENDA, asked(content="Gym workout"), None),  # two of three words; found by its time
    (AGENDA, asked(location="Hall"), "INPUT_MISMATCH"),
    ([FORGOT, CODED], code("x"), "CRASH:AssertionError"),
    ([FORGOT, CODED], code("²"), "CRASH:ValueError"),
    (VISIT, moved("2023-6-1", "Dr. Kim "), None),
    (VISIT, moved("2023-5-1", "Dr. Kim"), "HAS_EXCEPTION"),
    (VISIT, moved("2023-06-01", "Dr. Lee"), "HAS_EXCEPTION"),
    (VISIT, "[ModifyRegistration(appointment_id='111')]", "HAS_EXCEPTION"),
]
"""Two calls, a prediction for the second, and what it is."""


@pytest.mark.parametrize(("turns", "prediction", "error"), BEHIND)
def test_a_call_behind_another(tmp_path: Path, turns: list[Any], prediction: str, error: str | None) -> None:
    assert only(tmp_path, *turns).error(prediction, 1) == error


SUMS = {"1+2*3": 7.0, "(1 + 2) * 3": 9.0, "8/4/2": 1.0, "2-3-4": -5.0, "(1+2)*(3-1)/2": 3.0, "007+1": 8.0}
NO_SUMS = ("5", "-3+2", "((1+2)*3)", "1+", "1.5+2", "9**9", "1/0", ")1+2(", "(1+2", "()", "1)2+3")


@pytest.mark.parametrize(
    ("tool", "given", "output", "prediction", "error"),
    [
        ("CheckToken", {"token": "t"}, {"username": "ann"}, "token='t'", None),
        ("SearchEngine", {"keyword": "red Car"}, [{"title": "a", "abstract": "b"}], "keyword='car RED'", None),
        ("SearchEngine", {"keyword": "red Car"}, [{"title": "a", "abstract": "b"}], "keyword='red car zzz'", None),
        ("SearchEngine", {"keyword": "red Car"}, [{"title": "a", "abstract": "b"}], "keyword='red'", "OUTPUT_MISMATCH"),
        ("ImageCaption", {"url": "u.gif"}, "a cat", "url='u.gif'", "HAS_EXCEPTION"),
        ("QueryHistoryToday", {"date": "04-21"}, ["x"], "date='2020-4-21'", None),
        ("Translate", {"src": "hi", "tgt_lang": "zh-CN"}, "x", "src='hi', tgt_lang='simplified Chinese'", None),
        ("Translate", {"src": "hi", "tgt_lang": "fr"}, "x", "src='hi', src_lang='zz', tgt_lang='fr'", "HAS_EXCEPTION"),
        ("SendEmail", LETTER, "success", "receiver='A.b@c.de', subject='s', content='c'", "HAS_EXCEPTION"),
        ("SendEmail", LETTER | {"receiver": "a@c.de"}, "success",
         "receiver='a@c.de', subject='s', content='c'", "HAS_EXCEPTION"),
        ("SymptomSearch", {"symptom": "rash"}, ["x"], "symptom=' '", "CRASH:AttributeError"),
        ("QueryScene", {"name": "Dusk"}, [{"name": "lamp"}], "name='DUSK '", None),
        ("QueryScene", {"name": "Dusk"}, [{"name": "Lamp"}], "name='Dusk'", "OUTPUT_MISMATCH"),
        ("AddScene", {"name": "Dusk", "devices": []}, "success", "name='Dusk', devices=[]", "CRASH:TypeError"),
        ("TimedSwitch", SWITCH | {"on": True}, "success",
         "name='lamp', time='2023-1-2 10:00:00', on='true'", "INPUT_MISMATCH"),
        ("BookHotel", STAY, "11",
         "hotel_name='h', check_in_time='2023-01-01', check_out_time='2023-01-02', "
         "room_count='1', adult_count='3', child_count='0'", "HAS_EXCEPTION"),
        ("DeleteMeeting", {"token": "t", "meeting_topic": "m", "start_time": "2023-01-01 10:00:00",
                           "end_time": "2023-01-01 11:00:00", "location": "l", "attendees": ["a"]}, "success",
         "token='t', meeting_topic='m', start_time='2023-01-01 10:00:00', end_time='2023-01-01 11:00:00', "
         "location='l', attendees=['a']", "KEY_ERROR"),
        ("GetToday", {}, "2023-03-31", "self='1'", "CRASH:TypeError"),
        *(("Calculator", {"formula": sum}, value, f"formula='{sum}'", None) for sum, value in SUMS.items()),
        *(("Calculator", {"formula": no_sum}, None, f"formula='{no_sum}'", "HAS_EXCEPTION") for no_sum in NO_SUMS),
    ],
)  # fmt: skip
def test_one_call(
    tmp_path: Path, tool: str, given: dict[str, Any], output: Any, prediction: str, error: str | None
) -> None:
    assert only(tmp_path, (tool, given, output)).error(f"[{tool}({prediction})]") == error


def test_a_meeting_checked_again_has_lost_its_topic(tmp_path: Path) -> None:
    """The official evaluator checks a call behind a call twice, and its checker changes what it compares with."""
    meeting = {"token": "t1", "meeting_topic": "m", "start_time": "2023-01-01 10:00:00",
               "end_time": "2023-01-01 11:00:00", "location": "l", "attendees": ["a"]}  # fmt: skip
    rows = [{"role": "User", "text": "please"}, api_row(*TOKEN), api_row("AddMeeting", meeting, "success")]
    made = Bank(write_files(tmp_path, bank() | {"level-1-given-desc/a.jsonl": rows}))
    assert [s.answer.sample_id for s in made.samples.values()] == [0, 1, 2]
    first, again = (made.samples[f"level-1-given-desc/a.jsonl/{n}"] for n in (1, 2))
    assert first.calls == again.calls
    text = ", ".join(f"{k}='{v}'" for k, v in meeting.items())
    assert made.error(f"[AddMeeting({text})]", 1) == "KEY_ERROR"


def test_tools_found_are_right_by_their_present_documentation(tmp_path: Path) -> None:
    account = described("GetUserToken") | {"desc_for_search": "get user tokenText of GetUserToken."}
    search = ("ToolSearcher", {"keywords": "Book Hotel"}, described("BookHotel"))
    alarm = ("ToolSearcher", {"keywords": "alarm"}, [account, described("AddAlarm")])
    old = ("ToolSearcher", {"keywords": "balance"}, [account, described("QueryBalance") | {"description": "Old."}])
    made = Bank(write_files(tmp_path, bank(LEVEL_2, a=[search, alarm, old])), LEVEL_2)
    assert made.satisfiable() == [True, True, False]
    assert made.error("[ToolSearcher(keywords=' book hotel')]") is None
    assert made.error("[ToolSearcher(keywords='the hotel to book')]") is None  # by its words
    assert made.error("[ToolSearcher(keywords='stock')]") == "OUTPUT_MISMATCH"
    assert made.error("[ToolSearcher(keywords='zzz')]") == "OUTPUT_MISMATCH"
