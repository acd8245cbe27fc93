"""Rules of single tools, on dialogues made here: what the shared fixtures do not show."""

from pathlib import Path
from typing import Any

import pytest
from api_bank_folder import Bank, only, write_folder

from eval.benchmarks.api_bank.data import LEVEL_2
from eval.benchmarks.api_bank.tools.sums import calculate
from eval.benchmarks.api_bank.tools.tool import ToolFailure

TOKEN = ("GetUserToken", {"username": "ann", "password": "pw"}, {"token": "t1"})
ROW = {"username": "ann", "content": "Gym workout today", "time": "2023-03-16 10:00:00", "location": "hall"}


def asked(content: str = "Gym workout today", time: str = "2023-03-16 10:00:00", location: str = "hall") -> str:
    return f"token='t1', content='{content}', time='{time}', location='{location}'"


def agenda_call() -> tuple[str, dict[str, str], Any]:
    return "QueryAgenda", {"token": "t1"} | {k: v for k, v in ROW.items() if k != "username"}, ROW


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (asked(), None),
        (asked(content="Gym workout"), None),  # two of three words; found by its time
        (asked(content="gym workout today"), "INPUT_MISMATCH"),
        (asked(location="Hall"), "INPUT_MISMATCH"),
        (asked(time="2023-3-16 10:00:00"), "INPUT_MISMATCH"),  # found by its text
        (asked(content="Gym", time="2023-3-16 10:00:00"), "HAS_EXCEPTION"),
        (asked(time="2023-03-16T10:00:00"), "HAS_EXCEPTION"),
        (asked().replace("t1", "t2"), "HAS_EXCEPTION"),
    ],
)
def test_a_recorded_agenda_row_is_found_by_text_or_time(tmp_path: Path, arguments: str, error: str | None) -> None:
    assert only(tmp_path, TOKEN, agenda_call()).error(f"[QueryAgenda({arguments})]", 1) == error


def test_another_users_valid_token_adds_an_agenda_but_finds_no_row(tmp_path: Path) -> None:
    other = ("GetUserToken", {"username": "bob", "password": "pw"}, {"token": "t2"})
    added = ("AddAgenda", {"token": "t1", "content": "x y", "time": ROW["time"], "location": "hall"}, "success")
    bank = Bank(write_folder(tmp_path, {"a": [TOKEN, agenda_call(), added], "b": [other]}))
    assert bank.error(f"[QueryAgenda({asked().replace('t1', 't2')})]", 1) == "HAS_EXCEPTION"
    assert bank.error("[AddAgenda(token='t2', content='x y', time='2023-03-16 10:00:00', location='hall')]", 2) is None


def test_a_password_changed_before_is_the_old_one_again(tmp_path: Path) -> None:
    change = ("ModifyPassword", {"token": "t1", "old_password": "pw", "new_password": "new"}, {"status": "success"})
    again = ("GetUserToken", {"username": "ann", "password": "new"}, {"token": "t1"})
    bank = only(tmp_path, TOKEN, change, again)
    assert [bank.satisfiable(n) for n in range(3)] == [True, True, False]
    assert bank.error("[GetUserToken(username='ann', password='new')]", 2) == "HAS_EXCEPTION"


def test_an_account_deleted_before_exists_again(tmp_path: Path) -> None:
    delete = ("DeleteAccount", {"token": "t1"}, {"status": "success"})
    register = ("RegisterUser", {"username": "ann", "password": "n", "email": "a@b.cc"}, {"token": "random"})
    bank = only(tmp_path, TOKEN, delete, register)
    assert [bank.satisfiable(n) for n in range(3)] == [True, True, False]


def test_an_account_registered_before_is_gone(tmp_path: Path) -> None:
    register = ("RegisterUser", {"username": "eve", "password": "n", "email": "a@b.cc"}, {"token": "random"})
    token = ("GetUserToken", {"username": "eve", "password": "n"}, {"token": "random"})
    alarm = ("AddAlarm", {"token": "random", "time": "2023-03-16 10:00:00"}, "success")
    bank = only(tmp_path, register, token, alarm)
    assert [bank.satisfiable(n) for n in range(3)] == [True, False, False]


def test_a_second_password_call_always_fails(tmp_path: Path) -> None:
    first = {"status": "Forgot Password", "username": "ann", "email": "a@b.cc"}
    second = {"status": "Verification Code", "verification_code": 970420, "new_password": "n"}
    bank = only(tmp_path, ("ForgotPassword", first, 970420), ("ForgotPassword", second, "success"))
    assert [bank.satisfiable(n) for n in range(2)] == [True, False]
    assert (
        bank.error("[ForgotPassword(status='Verification Code', verification_code='x')]", 1) == "CRASH:AssertionError"
    )
    assert bank.error("[ForgotPassword(status='Verification Code', verification_code='²')]", 1) == "CRASH:ValueError"


def test_a_password_set_by_code_is_not_the_old_one(tmp_path: Path) -> None:
    first = {"status": "Forgot Password", "username": "ann", "email": "a@b.cc"}
    second = {"status": "Verification Code", "verification_code": 970420, "new_password": "n"}
    change = ("ModifyPassword", {"token": "t1", "old_password": "n", "new_password": "m"}, {"status": "success"})
    check = ("CheckToken", {"token": "t1"}, {"username": "ann"})
    bank = only(tmp_path, check, ("ForgotPassword", first, 970420), ("ForgotPassword", second, "success"), change)
    assert [bank.satisfiable(n) for n in range(4)] == [True, True, False, False]


def test_a_scene_and_a_switch_made_before_are_gone(tmp_path: Path) -> None:
    switch = {"name": "Lamp", "time": "2023-01-02 10:00:00"}
    made = [("AddScene", {"name": "Dusk", "devices": []}, "success"), ("TimedSwitch", switch | {"on": True}, "success")]
    gone = [("DeleteScene", {"name": "Dusk"}, "success"), ("CancelTimedSwitch", switch, "success")]
    bank = Bank(write_folder(tmp_path / "1", {"a": [*made, *gone]}))
    assert [bank.satisfiable(n) for n in range(4)] == [False, True, False, False]
    assert [Bank(write_folder(tmp_path / "2", {"a": gone})).satisfiable(n) for n in range(2)] == [True, True]


def test_an_appointment_made_before_is_gone(tmp_path: Path) -> None:
    who = {"patient_name": "Ann", "date": "2023-05-01"}
    made = ("AppointmentRegistration", who | {"doctor_name": "Dr. Lee"}, "111")
    query = ("QueryRegistration", who, {"111": who | {"doctor_name": "Dr. Lee"}})
    cancel = ("CancelRegistration", {"appointment_id": "111"}, "success")
    bank = only(tmp_path, made, query, cancel)
    assert [bank.satisfiable(n) for n in range(3)] == [True, False, False]


def test_an_appointment_is_modified_to_another_day_and_doctor(tmp_path: Path) -> None:
    row = {"patient_name": "Ann", "date": "2023-05-01", "doctor_name": "Dr. Lee"}
    query = ("QueryRegistration", {"patient_name": "Ann", "date": "2023-05-01"}, {"111": row})
    given = {"appointment_id": "111", "new_appointment_date": "2023-06-01", "new_appointment_doctor": "Dr. Kim"}
    bank = only(tmp_path, query, ("ModifyRegistration", given, "success"))
    call = "[ModifyRegistration(appointment_id=' 111 ', new_appointment_date='{}', new_appointment_doctor='{}')]"
    assert bank.error(call.format("2023-6-1", "Dr. Kim "), 1) is None
    assert bank.error(call.format("2023-5-1", "Dr. Kim"), 1) == "HAS_EXCEPTION"
    assert bank.error(call.format("2023-06-01", "Dr. Lee"), 1) == "HAS_EXCEPTION"
    assert bank.error("[ModifyRegistration(appointment_id='111')]", 1) == "HAS_EXCEPTION"


def test_health_records_of_the_dialogue_itself_are_gone(tmp_path: Path) -> None:
    old, new = {"time": "2023-03-01 08:00:00", "pulse": 80}, {"time": "2023-03-02 08:00:00", "pulse": 90}
    record = ("RecordHealthData", {"user_id": "u", "time": new["time"], "health_data": [{"name": "pulse"}]}, "success")
    span = {"user_id": "u", "start_time": "2023-03-01 00:00:00", "end_time": "2023-03-03 00:00:00"}
    assert only(tmp_path / "1", ("QueryHealthData", span, [old])).satisfiable()
    bank = only(tmp_path / "2", record, ("QueryHealthData", span, [old, new]))
    assert not bank.satisfiable(0)  # lists are passed on as texts
    assert not bank.satisfiable(1)


@pytest.mark.parametrize(
    ("tool", "given", "output", "prediction", "error"),
    [
        ("CheckToken", {"token": "t"}, {"username": "ann"}, "token='t'", None),
        ("CheckToken", {"token": "t"}, {"username": "ann"}, "token=' t'", "HAS_EXCEPTION"),
        ("Wiki", {"keyword": "Ice Age"}, {"url": "u"}, "keyword='ice_AGE '", None),
        ("Wiki", {"keyword": "Ice Age"}, {"url": "u"}, "keyword='ice'", "HAS_EXCEPTION"),
        ("SearchEngine", {"keyword": "red Car"}, [{"title": "a", "abstract": "b"}], "keyword='car RED'", None),
        ("SearchEngine", {"keyword": "red Car"}, [{"title": "a", "abstract": "b"}], "keyword='red car zzz'", None),
        ("SearchEngine", {"keyword": "red Car"}, [{"title": "a", "abstract": "b"}], "keyword='red'", "OUTPUT_MISMATCH"),
        ("DocumentQA", {"url": "u.txt", "question": "q"}, "yes", "url='u.txt ', question='q'", None),
        ("DocumentQA", {"url": "u.txt", "question": "q"}, "yes", "url='u.txt', question='z'", "OUTPUT_MISMATCH"),
        ("ImageCaption", {"url": "u.gif"}, "a cat", "url='u.gif'", "HAS_EXCEPTION"),
        ("QueryHistoryToday", {"date": "04-21"}, ["x"], "date='2020-4-21'", None),
        ("QueryHistoryToday", {"date": "04-21"}, ["x"], "date='04-22'", "OUTPUT_MISMATCH"),
        ("QueryHistoryToday", {"date": "04-21"}, ["x"], "date='02-30'", "HAS_EXCEPTION"),
        ("Translate", {"src": "hi", "tgt_lang": "zh-CN"}, "x", "src='hi', tgt_lang='simplified Chinese'", None),
        ("Translate", {"src": "hi", "tgt_lang": "fr"}, "x", "src='hi', src_lang='English', tgt_lang='in French'", None),
        ("Translate", {"src": "hi", "tgt_lang": "fr"}, "x", "src='hi', src_lang='zz', tgt_lang='fr'", "HAS_EXCEPTION"),
        ("Translate", {"src": "hi", "tgt_lang": "en"}, "x", "src='hi'", None),
        ("SendEmail", {"receiver": "a.b@c.de", "subject": "s", "content": "c"}, "success",
         "receiver=' a.b@c.de', subject='s ', content='c'", None),
        ("SendEmail", {"receiver": "a.b@c.de", "subject": "s", "content": "c"}, "success",
         "receiver='A.b@c.de', subject='s', content='c'", "HAS_EXCEPTION"),
        ("SendEmail", {"receiver": "a.b@c.de", "subject": "s", "content": "c"}, "success",
         "receiver='a.b@c.de', subject='s', content='C'", "INPUT_MISMATCH"),
        ("SendEmail", {"receiver": "a@c.de", "subject": "s", "content": "c"}, "success",
         "receiver='a@c.de', subject='s', content='c'", "HAS_EXCEPTION"),
        ("QueryStock", {"stock_code": "X", "date": "0022-03-01"}, 1.5, "stock_code=' x', date='22-3-1 '", None),
        ("SymptomSearch", {"symptom": "rash"}, ["x"], "symptom=' RASH'", None),
        ("SymptomSearch", {"symptom": "rash"}, ["x"], "symptom=' '", "CRASH:AttributeError"),
        ("QueryScene", {"name": "Dusk"}, [{"name": "lamp"}], "name='DUSK '", None),
        ("QueryScene", {"name": "Dusk"}, [{"name": "Lamp"}], "name='Dusk'", "OUTPUT_MISMATCH"),
        ("AddScene", {"name": "Dusk", "devices": []}, "success", "name='Dusk', devices=[]", "CRASH:TypeError"),
        ("TimedSwitch", {"name": "Lamp", "time": "2023-01-02 10:00:00", "on": True}, "success",
         "name='lamp', time='2023-1-2 10:00:00', on='True'", None),
        ("TimedSwitch", {"name": "Lamp", "time": "2023-01-02 10:00:00", "on": True}, "success",
         "name='lamp', time='2023-1-2 10:00:00', on='true'", "INPUT_MISMATCH"),
        ("TimedSwitch", {"device_id": "1", "time": "2023-01-02 10:00:00", "on": True}, "success",
         "name='1', time='2023-01-02 10:00:00', on='True'", "KEY_ERROR"),
        ("OpenBankAccount", {"account": "x", "password": "p", "name": "n"}, "success",
         "account='test', password='p', name='n'", "OUTPUT_MISMATCH"),
        ("BookHotel", {"hotel_name": "h", "check_in_time": "2023-01-01", "check_out_time": "2023-01-02",
                       "room_count": 1, "adult_count": 2, "child_count": 0}, "11",
         "hotel_name='h', check_in_time='2023-01-01', check_out_time='2023-01-02', "
         "room_count='1', adult_count='3', child_count='0'", "HAS_EXCEPTION"),
        ("DeleteMeeting", {"token": "t", "meeting_topic": "m", "start_time": "2023-01-01 10:00:00",
                           "end_time": "2023-01-01 11:00:00", "location": "l", "attendees": ["a"]}, "success",
         "token='t', meeting_topic='m', start_time='2023-01-01 10:00:00', end_time='2023-01-01 11:00:00', "
         "location='l', attendees=['a']", "KEY_ERROR"),
        ("GetToday", {}, "2023-03-31", "", None),
        ("GetToday", {}, "2023-03-31", "self='1'", "CRASH:TypeError"),
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
    folder = write_folder(tmp_path, {"a": [TOKEN, ("AddMeeting", meeting, "success")]})
    path = folder / "level-1-given-desc" / "a.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1], lines[3], lines[4]]))  # no words between the calls
    bank = Bank(folder)
    assert [s.answer.sample_id for s in bank.samples.values()] == [0, 1, 2]
    first, again = (bank.samples[f"level-1-given-desc/a.jsonl/{n}"] for n in (1, 2))
    assert first.calls == again.calls
    text = ", ".join(f"{k}='{v}'" for k, v in meeting.items())
    assert bank.error(f"[AddMeeting({text})]", 1) == "KEY_ERROR"


def test_tools_found_are_right_by_their_present_documentation(tmp_path: Path) -> None:
    from api_bank_folder import described

    account = described("GetUserToken") | {"desc_for_search": "get user tokenText of GetUserToken."}
    search = ("ToolSearcher", {"keywords": "Book Hotel"}, described("BookHotel"))
    alarm = ("ToolSearcher", {"keywords": "alarm"}, [account, described("AddAlarm")])
    old = ("ToolSearcher", {"keywords": "balance"}, [account, described("QueryBalance") | {"description": "Old."}])
    bank = Bank(write_folder(tmp_path, {"a": [search, alarm, old]}, LEVEL_2), LEVEL_2)
    assert [bank.satisfiable(n) for n in range(3)] == [True, True, False]
    assert bank.error("[ToolSearcher(keywords=' book hotel')]") is None
    assert bank.error("[ToolSearcher(keywords='the hotel to book')]") is None  # by its words
    assert bank.error("[ToolSearcher(keywords='stock')]") == "OUTPUT_MISMATCH"
    assert bank.error("[ToolSearcher(keywords='zzz')]") == "OUTPUT_MISMATCH"


@pytest.mark.parametrize(
    ("formula", "value"), [("1+2*3", 7), ("(1 + 2) * 3", 9), ("8/4/2", 1), ("2-3-4", -5), ("(1+2)*(3-1)/2", 3)]
)
def test_sums(formula: str, value: float) -> None:
    assert calculate(formula) == value


@pytest.mark.parametrize(
    "formula", ["", "5", "-3+2", "((1+2)*3)", "1+", "1.5+2", "9**9", "1/0", ")1+2(", "(1+2", "()", "1)2+3"]
)
def test_no_sums(formula: str) -> None:
    with pytest.raises(ToolFailure):
        calculate(formula)
