"""API-Bank: the official layout, its evaluator's reader, and rules of its tools that no shared fixture shows."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data import DATA, needs_data, rows
from eval.benchmarks.api_bank.benchmark import API_BANK, LEVEL_1, LEVEL_2, LEVELS, load_samples, render_truth
from eval.benchmarks.api_bank.checker import TOOLS, get_api_call, parse_arguments
from eval.errors import EvalError
from eval_data import MUSIC, Bank, Turn, api_row, bank, described, only, write_files
from growth import assert_linear


def done(tool: str, **given: Any) -> Turn:
    """A call whose output is that it succeeded."""
    return tool, given, "success"


TIME = "2023-03-16 10:00:00"
TOKEN = ("GetUserToken", {"username": "ann", "password": "pw"}, {"token": "t1"})
ALARM = ("QueryAlarm", {"token": "t1", "time": TIME}, {"time": TIME})


def test_a_sample_has_what_was_said_before_and_its_dialogues_tools(tmp_path: Path) -> None:
    first, second = only(tmp_path, TOKEN, ALARM).samples.values()
    said, [call], result, again = second.turns[0], second.turns[1].calls, *second.turns[2:]
    assert said.content == again.content == "please" and result.result_of == call
    assert (call.name, call.arguments, result.content) == (*TOKEN[:2], json.dumps(TOKEN[2]))
    assert list(first.documentation.lookup) == ["GetUserToken", "QueryAlarm"]
    assert first.calls[0].arguments == TOKEN[1]
    identifier = "level-1-given-desc/a.jsonl/2"
    names = {"id": identifier, "file": "a.jsonl", "sample_id": 2, "level": LEVEL_1, "category": LEVEL_1}
    assert API_BANK.describe(second) == names
    assert second.id == API_BANK.identify(names | {"id": None}) == API_BANK.identify({"id": identifier})
    for wrong in ({}, {"id": 3}, names | {"id": 1, "sample_id": True}, names | {"id": None, "level": None}):
        with pytest.raises(EvalError, match="'sample_id'"):
            API_BANK.identify(wrong)


def test_level_2_knows_the_searcher_and_what_it_found(tmp_path: Path) -> None:
    search = ("ToolSearcher", {"keywords": "music"}, [described("PlayMusic") | {"desc_for_search": "x"}])
    before, after = load_samples(str(write_files(tmp_path, bank(LEVEL_2, a=[search, MUSIC]))), [LEVEL_2])
    assert list(before.documentation.lookup) == ["ToolSearcher"]
    assert list(after.documentation.lookup) == ["ToolSearcher", "PlayMusic"]
    assert "desc_for_search" not in after.documentation.as_api_bank()


def test_documentation_as_source_text_is_not_run(tmp_path: Path) -> None:
    write_files(tmp_path, bank(a=[MUSIC]))
    (tmp_path / "api_descriptions.jsonl").unlink()
    with pytest.raises(EvalError, match="no documentation of the tools"):
        load_samples(str(tmp_path), [LEVEL_1])
    (tmp_path / "apis").mkdir()
    (tmp_path / "apis" / "play_music.py").write_text(
        "raise SystemExit('executed')\nclass PlayMusic(API):\n    description = 'Plays ' \\\n        'music.'\n"
        "    input_parameters = {'music_name': {'type': 'str', 'description': 'Its name.'}}\n"
        "    output_parameters = {}\n    database_name = f'{1}'\n"
    )
    (sample,) = load_samples(str(tmp_path), [LEVEL_1])
    tool = sample.documentation.lookup["PlayMusic"]
    assert (tool.description, [p.name for p in tool.parameters]) == ("Plays music.", ["music_name"])


# SCORING.md, "parser"
OFFICIAL_CALL = re.compile(r"\[(\w+)\((.*)\)\]")
OFFICIAL_ARGUMENT = re.compile(r"(\w+)\s*=\s*['\"](.+?)['\"]|(\w+)\s*=\s*(\[.*\])|(\w+)\s*=\s*(\w+)")
PIECES = ["[", "]", "(", ")", ")]", "[F(", "'", '"', "=", ", ", " ", "\n", "\t", "a", "b1", "-"]
LINES = st.one_of(st.lists(st.sampled_from(PIECES)).map("".join), st.text(alphabet="[]()'\"=, \n\tab\x85\u2028é-_"))


@given(LINES)
def test_outputs_are_read_as_by_the_official_expressions(text: str) -> None:
    match = OFFICIAL_CALL.search(text)
    assert get_api_call(text) == (match.groups() if match else None)
    line, found = text.replace("\n", ""), {}
    for match in OFFICIAL_ARGUMENT.finditer(line):
        key, value = (g for g in match.groups() if g is not None)
        found[key] = value
    assert list(parse_arguments(line).items()) == list(found.items())


@pytest.mark.parametrize("piece", ["[", "[F(", "[a", "a", "a=", "a='", "a = ", "a=[", ")]", "a=''", " ", "'", "a=[]"])
def test_reading_takes_linear_time(piece: str) -> None:
    assert_linear(lambda text: (get_api_call(text), parse_arguments(text)), lambda n: piece * n, 40_000)


@needs_data
def test_there_is_a_rule_for_every_documented_tool_with_its_keys_and_types() -> None:
    found = rows(DATA / "api-bank" / "api_descriptions.jsonl")
    documented = {row["name"]: {k: v["type"] for k, v in row["input_parameters"].items()} for row in found}
    assert TOOLS.keys() == documented.keys()
    for name, tool in TOOLS.items():
        assert {*tool.keys, *tool.optional} == set(documented[name]), name
        assert set(tool.integers) == {k for k, v in documented[name].items() if v == "int"}, name
        assert set(tool.booleans) == {k for k, v in documented[name].items() if v == "bool"}, name


@needs_data
def test_laws_of_every_tool() -> None:
    """Arguments in any sequence; an unknown or missing key or another name have their words; huge values do no harm."""
    right = {s.calls[0].name: s for s in API_BANK.load(str(DATA / "api-bank"), LEVELS) if API_BANK.satisfiable(s)}
    for name, sample in right.items():
        pairs, truth = [f"{k}='{v}'" for k, v in sample.calls[0].arguments.items()], render_truth(sample)
        assert API_BANK.judge(sample, f"[{name}({', '.join(reversed(pairs))})]").correct
        wrong = {
            truth.replace(")]", ", no_such_key='1')]"): "INVALID_INPUT_PARAMETER",
            truth.replace("[", "[X", 1): "API_NAME_MISMATCH",
            truth[1:]: "NO_API_CALL",
            f"[{name}({', '.join(pairs[1:])})]": "MISS_INPUT_ARGUMENT",
        }
        for text, word in wrong.items() if pairs else ():
            assert API_BANK.judge(sample, text).error_type == word
    for filler in ("[", "(", "9", "9**", "(1+", "1+", "\ud800", "a@", "[F(", "²", "-3+2", "99999-1-1 0:0:0"):

        def judge(text: str) -> None:
            for sample in right.values():
                call = sample.calls[0]
                pairs = ", ".join(f"{k}='{text}'" for k in call.arguments)
                judgement = API_BANK.judge(sample, f"[{call.name}({pairs})]")
                assert len(judgement.message) < 1000

        assert_linear(judge, lambda n, filler=filler: filler * n, 2_000)  # type: ignore[misc]


ROW = {"username": "ann", "content": "Gym workout today", "time": TIME, "location": "hall"}
AGENDA = [TOKEN, ("QueryAgenda", {"token": "t1"} | {k: v for k, v in ROW.items() if k != "username"}, ROW)]


def asked(content: str = ROW["content"], location: str = "hall") -> str:
    return f"[QueryAgenda(token='t1', content='{content}', time='{TIME}', location='{location}')]"


def test_another_users_valid_token_adds_an_agenda_but_finds_no_row(tmp_path: Path) -> None:
    other = ("GetUserToken", {"username": "bob", "password": "pw"}, {"token": "t2"})
    added = done("AddAgenda", token="t1", content="x y", time=TIME, location="hall")
    made = Bank(write_files(tmp_path, bank(a=[*AGENDA, added], b=[other])))
    assert made.error(asked().replace("t1", "t2"), 1) == "HAS_EXCEPTION"
    assert made.error(f"[AddAgenda(token='t2', content='x y', time='{TIME}', location='hall')]", 2) is None


WHO = {"patient_name": "Ann", "date": "2023-05-01"}
VISIT = ("QueryRegistration", WHO, {"111": WHO | {"doctor_name": "Dr. Lee"}})
LETTER = {"receiver": "a.b@c.de", "subject": "s", "content": "c"}
STAY = {"hotel_name": "h", "check_in_time": "2023-01-01", "check_out_time": "2023-01-02"}
STAY |= {"room_count": 1, "adult_count": 2, "child_count": 0}
SWITCH = {"name": "Lamp", "time": "2023-01-02 10:00:00"}
ON = done("TimedSwitch", **SWITCH, on=True)
NO_SCENE, OFF = done("DeleteScene", name="Dusk"), done("CancelTimedSwitch", **SWITCH)
OLD, NEW = {"time": "2023-03-01 08:00:00", "pulse": 80}, {"time": "2023-03-02 08:00:00", "pulse": 90}
SPAN = {"user_id": "u", "start_time": "2023-03-01 00:00:00", "end_time": "2023-03-03 00:00:00"}
RANDOM, SECRET = {"token": "random"}, {"password": "n", "email": "a@b.cc"}
STATES: dict[str, tuple[list[Any], list[bool]]] = {
    "an account deleted before exists again": (
        [
            TOKEN,
            ("DeleteAccount", {"token": "t1"}, {"status": "success"}),
            ("RegisterUser", {"username": "ann"} | SECRET, RANDOM),
        ],
        [True, True, False],
    ),
    "an account registered before is gone": (
        [
            ("RegisterUser", {"username": "eve"} | SECRET, RANDOM),
            ("GetUserToken", {"username": "eve", "password": "n"}, RANDOM),
            done("AddAlarm", token="random", time=TIME),
        ],
        [True, False, False],
    ),
    "a scene and a switch made before are gone": (
        [done("AddScene", name="Dusk", devices=[]), ON, NO_SCENE, OFF],
        [False, True, False, False],
    ),
    "others are there": ([NO_SCENE, OFF], [True, True]),
    "an appointment made before is gone": (
        [
            ("AppointmentRegistration", WHO | {"doctor_name": "Dr. Lee"}, "111"),
            VISIT,
            done("CancelRegistration", appointment_id="111"),
        ],
        [True, False, False],
    ),
    "health records of the dialogue itself are gone, and lists are passed on as texts": (
        [
            done("RecordHealthData", user_id="u", time=NEW["time"], health_data=[{"name": "pulse"}]),
            ("QueryHealthData", SPAN, [OLD, NEW]),
        ],
        [False, False],
    ),
}


@pytest.mark.parametrize("name", STATES)
def test_every_call_meets_a_fresh_database(tmp_path: Path, name: str) -> None:
    turns, satisfiable = STATES[name]
    assert only(tmp_path, *turns).satisfiable() == satisfiable


APPOINTMENT = {"new_appointment_date": "2023-06-01", "new_appointment_doctor": "Dr. Kim"}
VISITS = [VISIT, done("ModifyRegistration", appointment_id="111", **APPOINTMENT)]
FORGOT = ("ForgotPassword", {"status": "Forgot Password", "username": "ann", "email": "a@b.cc"}, 970420)
CODE = {"status": "Verification Code", "verification_code": 970420, "new_password": "n"}
CODES = [FORGOT, done("ForgotPassword", **CODE)]


def moved(date: str, doctor: str) -> str:
    when = f"new_appointment_date='{date}', new_appointment_doctor='{doctor}'"
    return f"[ModifyRegistration(appointment_id=' 111 ', {when})]"


@pytest.mark.parametrize(
    ("turns", "prediction", "error"),
    [
        (AGENDA, asked(content="Gym workout"), None),  # two of three words; found by its time
        (AGENDA, asked(location="Hall"), "INPUT_MISMATCH"),
        (CODES, "[ForgotPassword(status='Verification Code', verification_code='x')]", "CRASH:AssertionError"),
        (CODES, "[ForgotPassword(status='Verification Code', verification_code='²')]", "CRASH:ValueError"),
        (VISITS, moved("2023-6-1", "Dr. Kim "), None),
        (VISITS, moved("2023-5-1", "Dr. Kim"), "HAS_EXCEPTION"),
        (VISITS, moved("2023-06-01", "Dr. Lee"), "HAS_EXCEPTION"),
        (VISITS, "[ModifyRegistration(appointment_id='111')]", "HAS_EXCEPTION"),
    ],
)
def test_a_call_behind_another(tmp_path: Path, turns: list[Any], prediction: str, error: str | None) -> None:
    assert only(tmp_path, *turns).error(prediction, 1) == error


MEETING = {"token": "t1", "meeting_topic": "m", "start_time": "2023-01-01 10:00:00"}
MEETING |= {"end_time": "2023-01-01 11:00:00", "location": "l"}
MET = ", ".join(f"{k}='{v}'" for k, v in MEETING.items()) + ", attendees=['a']"
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
         ", ".join(f"{k}='{v}'" for k, v in (STAY | {"adult_count": 3}).items()), "HAS_EXCEPTION"),
        ("DeleteMeeting", MEETING | {"attendees": ["a"]}, "success", MET, "KEY_ERROR"),
        ("GetToday", {}, "2023-03-31", "self='1'", "CRASH:TypeError"),
        *(("Calculator", {"formula": sum}, value, f"formula='{sum}'", None) for sum, value in SUMS.items()),
        *(("Calculator", {"formula": no_sum}, None, f"formula='{no_sum}'", "HAS_EXCEPTION") for no_sum in NO_SUMS),
    ],
)  # fmt: skip
def test_one_call(
    tmp_path: Path, tool: str, given: dict[str, Any], output: Any, prediction: str, error: str | None
) -> None:
    assert only(tmp_path, (tool, given, output)).error(f"[{tool}({prediction})]") == error


def test_a_call_behind_a_call_counts_twice(tmp_path: Path) -> None:
    """The official checker changes what it compares with: a meeting that is checked again has lost its topic."""
    calls = [api_row(*TOKEN), api_row(*done("AddMeeting", **MEETING, attendees=["a"]))]
    files = {f"{LEVEL_1}/a.jsonl": [{"role": "User", "text": "please"}, *calls], f"{LEVEL_1}/empty.jsonl": []}
    made = Bank(write_files(tmp_path, bank() | files))
    before, first, again = made.samples.values()
    assert [s.answer.sample_id for s in (before, first, again)] == [0, 1, 2]
    assert before.turns == first.turns[:1] and first.turns == again.turns and first.calls == again.calls
    assert API_BANK.judge(first, f"[AddMeeting({MET})]").error_type == "INPUT_MISMATCH"
    assert made.error(f"[AddMeeting({MET})]", 1) == "KEY_ERROR"


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
