"""Agreement with the official evaluator's verdicts, its ceilings, and laws that hold for any prediction."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data import DATA, needs_data
from eval.benchmarks.api_bank.benchmark import API_BANK, render_truth
from eval.benchmarks.api_bank.checker import TOOLS
from eval.benchmarks.api_bank.data import LEVELS
from eval.benchmarks.samples import Sample
from growth import assert_linear

FOLDER = DATA / "api-bank"
VERDICTS = DATA.parent / "fixtures" / "api_bank_official_verdicts.jsonl"


@cache
def samples() -> dict[str, Sample]:
    return {s.id: s for s in API_BANK.load(str(FOLDER), LEVELS)}


def verdicts() -> Iterator[dict[str, Any]]:
    for line in VERDICTS.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def disagreements(rows: list[dict[str, Any]], known: dict[str, Sample]) -> list[str]:
    found = []
    for row in rows:
        judgement = API_BANK.judge(known[API_BANK.identify(row)], row["prediction"])
        if (judgement.correct, judgement.error_type) != (row["correct"], row["error"]):
            found.append(f"{row['prediction']}: {row['error']}, ours {judgement.error_type} ({judgement.message})")
    return found


@needs_data
def test_all_official_verdicts_agree_in_verdict_and_word() -> None:
    rows = list(verdicts())
    assert len(rows) == 1505
    assert disagreements(rows, samples()) == []


@needs_data
def test_a_dialogue_alone_shows_enough(tmp_path: Path) -> None:
    """The rules are not fitted to the other dialogues: each file by itself gives the same verdicts."""
    files: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in verdicts():
        files.setdefault((row["level"], row["file"]), []).append(row)
    found = []
    for number, ((level, file), rows) in enumerate(files.items()):
        folder = tmp_path / str(number)
        (folder / level).mkdir(parents=True)
        shutil.copy(FOLDER / level / file, folder / level)
        shutil.copy(FOLDER / "api_descriptions.jsonl", folder)
        found += disagreements(rows, {s.id: s for s in API_BANK.load(str(folder), [level])})
    assert found == []


@needs_data
def test_recorded_calls_reach_the_official_ceiling() -> None:
    """The verdicts on recorded calls are of even ids; a call behind a call counts under the odd id before it, too."""
    official = {API_BANK.identify(r): r["correct"] for r in verdicts() if r["mutation"] == "gt"}
    expected, reached, count = Counter[str](), Counter[str](), Counter[str]()
    for sample in samples().values():
        answer = sample.answer
        even = answer.sample_id + answer.sample_id % 2
        expected[sample.category] += official[f"{sample.dialogue}/{even}"]
        reached[sample.category] += API_BANK.judge(sample, render_truth(sample)).correct
        count[sample.category] += 1
    assert count == {"level-1-given-desc": 274, "level-2-toolsearcher": 100}
    assert reached == expected


@needs_data
def test_there_is_a_rule_for_every_documented_tool_with_its_keys_and_types() -> None:
    documented = {}
    for line in (FOLDER / "api_descriptions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        documented[row["name"]] = {k: v["type"] for k, v in row["input_parameters"].items()}
    assert TOOLS.keys() == documented.keys()
    for name, tool in TOOLS.items():
        types = documented[name]
        assert set(tool.required + tool.optional) == set(types), name
        assert set(tool.integers) == {k for k, v in types.items() if v == "int"}, name
        assert set(tool.booleans) == {k for k, v in types.items() if v == "bool"}, name


def kinds() -> list[Sample]:
    """One satisfiable sample of each tool that has one."""
    found: dict[str, Sample] = {}
    for sample in samples().values():
        if API_BANK.satisfiable(sample):
            found.setdefault(sample.calls[0].name, sample)
    return list(found.values())


@needs_data
def test_the_sequence_of_arguments_does_not_matter() -> None:
    for sample in kinds():
        call = sample.calls[0]
        pairs = [f"{k}='{v}'" for k, v in call.arguments.items()]
        for _ in pairs:
            pairs = [*pairs[1:], pairs[0]]
            assert API_BANK.judge(sample, f"[{call.name}({', '.join(pairs)})]").correct


@needs_data
def test_an_unknown_key_a_missing_key_and_another_name_have_their_words() -> None:
    for sample in kinds():
        call, truth = sample.calls[0], render_truth(sample)
        unknown = truth.replace(")]", ", no_such_key='1')]")
        assert API_BANK.judge(sample, unknown).error_type == "INVALID_INPUT_PARAMETER"
        assert API_BANK.judge(sample, truth.replace("[", "[X", 1)).error_type == "API_NAME_MISMATCH"
        assert API_BANK.judge(sample, truth[1:]).error_type == "NO_API_CALL"
        for key in TOOLS[call.name].required:
            rest = ", ".join(f"{k}='{v}'" for k, v in call.arguments.items() if k != key)
            assert API_BANK.judge(sample, f"[{call.name}({rest})]").error_type == "MISS_INPUT_ARGUMENT"


@needs_data
def test_a_judgement_shows_the_call_as_it_was_read() -> None:
    sample = kinds()[0]
    judgement = API_BANK.judge(sample, f"[{sample.calls[0].name}(a='it's', b=[1])]")
    assert judgement.calls is not None
    assert judgement.calls[0].arguments == {"a": "it", "b": "[1]"}
    assert API_BANK.judge(sample, "no call").calls is None


VALUES = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["²", "9" * 5000, "\ud800", "\0", " ", "2023-02-30", "0-1-1", "99999-1-1 0:0:0", "-3+2", "(((1+2", "a@b.cc"]
    ),
)


@needs_data
@given(st.data())
def test_no_value_raises(data: st.DataObject) -> None:
    tool = data.draw(st.sampled_from(sorted(TOOLS)))
    sample = next((s for s in samples().values() if s.calls[0].name == tool), None)
    if sample:
        keys = TOOLS[tool].required + TOOLS[tool].optional
        text = ", ".join(f"{k}='{data.draw(VALUES)}'" for k in keys)
        judgement = API_BANK.judge(sample, f"[{tool}({text})]")
        assert judgement.correct == (judgement.error_type is None)
        json.dumps(judgement.message)


@needs_data
@pytest.mark.parametrize("filler", ["[", "(", "9", "a ", "9**", "(1+", "1+", "-", "\0", "\ud800", "a@", "[F("])
def test_huge_values_are_judged_in_linear_time(filler: str) -> None:
    chosen = kinds()

    def judge(text: str) -> None:
        for sample in chosen:
            call = sample.calls[0]
            pairs = ", ".join(f"{k}='{text}'" for k in call.arguments)
            API_BANK.judge(sample, f"[{call.name}({pairs})]")

    assert_linear(judge, lambda n: filler * n, 2_000)


@needs_data
def test_a_megabyte_of_anything_is_judged() -> None:
    sample = kinds()[0]
    for text in ("[" * 10**6, "[F(" * 300_000, "[F(a='" + "'" * 10**6 + ")]", "x" * 10**6, "[" + "F" * 10**6 + "()]"):
        assert not API_BANK.judge(sample, text).correct
