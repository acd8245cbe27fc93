"""API-Bank: reading the official layout, its evaluator's reader of outputs, and its evaluator's own format."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data import DATA, needs_data, rows
from eval.benchmarks.api_bank.benchmark import API_BANK, render_truth
from eval.benchmarks.api_bank.checker import TOOLS
from eval.benchmarks.api_bank.data import LEVEL_1, LEVEL_2, LEVELS, load_samples
from eval.benchmarks.api_bank.parser import get_api_call, parse_arguments
from eval.errors import EvalError
from eval_data import MUSIC, api_row, bank, described, only, write_files
from growth import assert_linear

ALARM = ("QueryAlarm", {"token": "t1", "time": "2023-01-01 10:00:00"}, {"time": "2023-01-01 10:00:00"})
TOKEN = ("GetUserToken", {"username": "ann", "password": "pw"}, {"token": "t1"})


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


def test_a_call_behind_a_call_counts_twice(tmp_path: Path) -> None:
    rows = {f"{LEVEL_1}/a.jsonl": [api_row(*MUSIC), api_row(*MUSIC)], f"{LEVEL_1}/empty.jsonl": []}
    samples = load_samples(str(write_files(tmp_path, bank() | rows)), [LEVEL_1])
    assert [s.answer.sample_id for s in samples] == [0, 1, 2]
    assert samples[0].turns == () and samples[1].turns == samples[2].turns


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
