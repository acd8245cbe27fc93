"""Reading the official layout, what is wrong with a folder, and the official evaluator's format."""

import json
import shutil
from pathlib import Path

import pytest
from api_bank_folder import api_row, described, only, write_folder, write_lines

from data import DATA, needs_data
from eval.benchmarks.api_bank.benchmark import API_BANK
from eval.benchmarks.api_bank.data import LEVEL_1, LEVEL_2, LEVELS, load_samples
from eval.benchmarks.api_bank.descriptions import find_descriptions
from eval.benchmarks.api_bank.export import export
from eval.errors import EvalError
from tooldecoding.prompts.dialogue import ToolRequest, ToolResponse, Utterance

ALARM = ("QueryAlarm", {"token": "t1", "time": "2023-01-01 10:00:00"}, {"time": "2023-01-01 10:00:00"})
TOKEN = ("GetUserToken", {"username": "ann", "password": "pw"}, {"token": "t1"})
MUSIC = ("PlayMusic", {"music_name": "Song"}, "music://song")


def test_a_sample_has_what_was_said_before_and_its_dialogues_tools(tmp_path: Path) -> None:
    first, second = only(tmp_path, TOKEN, ALARM).samples.values()
    assert first.id == "level-1-given-desc/a.jsonl/0"
    assert second.dialogue == "level-1-given-desc/a.jsonl"
    assert second.turns == (
        Utterance("user", "please"),
        ToolRequest("GetUserToken", TOKEN[1]),
        ToolResponse("GetUserToken", TOKEN[2]),
        Utterance("user", "please"),
    )
    assert list(first.documentation.lookup) == ["GetUserToken", "QueryAlarm"]
    assert first.calls[0].arguments == TOKEN[1]
    assert API_BANK.describe(second) == {
        "id": "level-1-given-desc/a.jsonl/2",
        "file": "a.jsonl",
        "sample_id": 2,
        "level": LEVEL_1,
        "category": LEVEL_1,
    }


def test_level_2_knows_the_searcher_and_what_it_found(tmp_path: Path) -> None:
    found = described("PlayMusic") | {"desc_for_search": "x"}
    search = ("ToolSearcher", {"keywords": "music"}, [found])
    folder = write_folder(tmp_path, {"a": [search, MUSIC]}, LEVEL_2)
    before, after = load_samples(str(folder), [LEVEL_2])
    assert list(before.documentation.lookup) == ["ToolSearcher"]
    assert list(after.documentation.lookup) == ["ToolSearcher", "PlayMusic"]
    assert "desc_for_search" not in after.documentation.as_api_bank()


def test_a_call_at_the_beginning_or_the_end_and_an_empty_file(tmp_path: Path) -> None:
    write_folder(tmp_path, {})
    write_lines(tmp_path / LEVEL_1 / "a.jsonl", [api_row(*MUSIC), api_row(*MUSIC)])
    write_lines(tmp_path / LEVEL_1 / "empty.jsonl", [])
    samples = load_samples(str(tmp_path), [LEVEL_1])
    assert [s.answer.sample_id for s in samples] == [0, 1, 2]
    assert samples[0].turns == ()
    assert samples[1].turns == samples[2].turns


@pytest.mark.parametrize("inside", ["", "lv1-lv2-samples", "api-bank/lv1-lv2-samples"])
def test_the_folder_itself_or_a_checkout(tmp_path: Path, inside: str) -> None:
    write_folder(tmp_path / inside, {"a": [MUSIC]})
    assert len(load_samples(str(tmp_path), [LEVEL_1])) == 1


def test_documentation_from_a_checkouts_source_text_which_is_not_run(tmp_path: Path) -> None:
    write_folder(tmp_path / "lv1-lv2-samples", {"a": [MUSIC]})
    (tmp_path / "lv1-lv2-samples" / "api_descriptions.jsonl").unlink()
    apis = tmp_path / "apis"
    apis.mkdir()
    (apis / "__init__.py").write_text("raise SystemExit('executed')\n")
    (apis / "play_music.py").write_text(
        "raise SystemExit('executed')\nclass PlayMusic(API):\n    description = 'Plays ' \\\n        'music.'\n"
        "    input_parameters = {'music_name': {'type': 'str', 'description': 'Its name.'}}\n"
        "    output_parameters = {}\n    database_name = f'{1}'\n"
    )
    descriptions = find_descriptions(tmp_path / "lv1-lv2-samples")
    assert descriptions.verbatim
    assert descriptions.tools["PlayMusic"]["description"] == "Plays music."
    (sample,) = load_samples(str(tmp_path), [LEVEL_1])
    assert [p.name for p in sample.documentation.lookup["PlayMusic"].parameters] == ["music_name"]


@needs_data
def test_documentation_from_the_table_of_tools(tmp_path: Path) -> None:
    write_folder(tmp_path, {"a": [TOKEN]})
    (tmp_path / "api_descriptions.jsonl").unlink()
    (tmp_path / "data").mkdir()
    shutil.copy(DATA / "api-bank" / "all_apis.csv", tmp_path / "data")
    assert not find_descriptions(tmp_path).verbatim
    (sample,) = load_samples(str(tmp_path), [LEVEL_1])
    assert [p.name for p in sample.documentation.lookup["GetUserToken"].parameters] == ["username", "password"]
    assert '"input_parameters"' in sample.documentation.as_api_bank()


def refused(folder: Path | str, *levels: str) -> str:
    with pytest.raises(EvalError) as error:
        load_samples(str(folder), levels or [LEVEL_1])
    return str(error.value)


def test_wrong_folders(tmp_path: Path) -> None:
    assert "found no such folder" in refused(tmp_path / "none")
    assert "lv1-lv2-samples" in refused(tmp_path)
    write_folder(tmp_path, {"a": [MUSIC]})
    assert f"expected {LEVEL_2}/*.jsonl" in refused(tmp_path, *LEVELS)
    (tmp_path / "api_descriptions.jsonl").unlink()
    assert "api_descriptions.jsonl" in refused(tmp_path)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"role": "API"', "a.jsonl:1:"),
        ("[]", "expected a JSON object"),
        ('{"role": "API", "api_name": "NoTool", "param_dict": {}, "result": {}}', "one of API-Bank's tools"),
        ('{"role": "API", "api_name": ["x"], "param_dict": {}, "result": {}}', "'api_name' to be a valid string"),
        ('{"role": "API", "api_name": "PlayMusic", "param_dict": {}}', "'result'"),
        (
            '{"role": "API", "api_name": "PlayMusic", "param_dict": {}, "result": {"input": {}}}',
            "expected 'result.output', found none",
        ),
    ],
)
def test_malformed_dialogues(tmp_path: Path, row: str, message: str) -> None:
    folder = write_folder(tmp_path, {})
    (folder / LEVEL_1).mkdir()
    (folder / LEVEL_1 / "a.jsonl").write_text(row + "\n")
    found = refused(folder)
    assert message in found
    assert "a.jsonl" in found


def test_malformed_documentation(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {"a": [MUSIC]})
    (folder / "api_descriptions.jsonl").write_text('{"name": "PlayMusic"}\n')
    assert "api_descriptions.jsonl:1" in refused(folder)
    write_lines(folder / "api_descriptions.jsonl", [described("AddAlarm")])
    assert "no documentation of PlayMusic" in refused(folder)


def test_rows_of_predictions_name_their_sample() -> None:
    row = {"file": "a.jsonl", "sample_id": 3, "level": LEVEL_1}
    assert API_BANK.identify(row) == API_BANK.identify({"id": "level-1-given-desc/a.jsonl/3"})
    for wrong in ({}, {"id": 3}, row | {"sample_id": True}, row | {"sample_id": "3"}, row | {"level": None}):
        with pytest.raises(EvalError, match="'sample_id'"):
            API_BANK.identify(wrong)


def test_export_has_a_row_for_every_sample_of_a_level(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "data", {"a": [TOKEN, ALARM], "b": [MUSIC]})
    write_folder(folder, {"c": [MUSIC]}, LEVEL_2)
    samples = load_samples(str(folder), LEVELS)
    rows = [{"id": "level-1-given-desc/a.jsonl/2", "prediction": "[F('é\ud800')]"}]
    rows += [{"file": "c.jsonl", "sample_id": 0, "level": LEVEL_2, "prediction": "[G()]"}]
    one, two = export(rows, samples, tmp_path / "out")
    assert (one.name, two.name) == ("level-1-given-desc.jsonl", "level-2-toolsearcher.jsonl")
    assert [json.loads(line) for line in one.read_text().splitlines()] == [
        {"file": "a.jsonl", "id": 0, "pred": ""},
        {"file": "a.jsonl", "id": 2, "pred": "[F('é\ud800')]"},
        {"file": "b.jsonl", "id": 0, "pred": ""},
    ]
    assert [json.loads(line) for line in two.read_text().splitlines()] == [
        {"file": "c.jsonl", "id": 0, "pred": "[G()]"}
    ]
    assert list((tmp_path / "out").glob("*.part")) == []
