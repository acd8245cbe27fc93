"""Schema-Guided Dialogue: what is read, and which calls are right."""

import gzip
import json
from pathlib import Path

import pytest

from data import DATA, needs_data
from eval.benchmarks.sgd.benchmark import SGD
from eval.errors import EvalError
from eval_data import REFERENCES, write_sgd


def test_categories_and_ids(tmp_path: Path) -> None:
    samples = SGD.load(str(write_sgd(tmp_path)), SGD.categories)
    assert [(s.id, s.category) for s in samples][1:3] == [("b/1", "seen"), ("c/1", "unseen")]
    assert [s.id for s in SGD.load(str(tmp_path), ["unseen"])] == ["c/1", "d/1"]
    for colour in ("white", "blue"):  # a documented default may be left out or given
        judgement = SGD.judge(samples[0], f"[SetLamp(room='kitchen', state='on', colour='{colour}')]")
        assert judgement.correct is (colour == "white")


@pytest.mark.parametrize(
    ("prediction", "error_type"),
    [
        (REFERENCES["b/1"], None),
        ("[SetLamp(state='OFF', colour='Red', room='  hall')]", None),
        ("", "no_call"),
        ("[SetLamp(room='hall'", "no_call"),
        ("[SetLamp(room='hall', state='off', colour='red'), SetLamp(room='hall', state='off')]", "wrong_count"),
        ("[FindBoat(harbour='hall')]", "wrong_name"),
        ("[SetLamp(room='hall', state='off', colour='red', speed='1')]", "unexpected_key"),
        ("[SetLamp(room='hall', colour='red')]", "missing_key"),
        ("[SetLamp(room='hall', state='off')]", "wrong_value"),
        ("[SetLamp(room='hall', state='on', colour='red')]", "wrong_value"),
    ],
)
def test_verdicts(tmp_path: Path, prediction: str, error_type: str | None) -> None:
    sample = SGD.load(str(write_sgd(tmp_path)), SGD.categories)[1]
    judgement = SGD.judge(sample, prediction)
    assert (judgement.correct, judgement.error_type) == (error_type is None, error_type)


@needs_data
def test_every_reference_call_is_right() -> None:
    samples = SGD.load(str(DATA / "sgd"), SGD.categories)
    assert len(samples) > 6000 and all(map(SGD.satisfiable, samples))


def test_wrong_folders(tmp_path: Path) -> None:
    with pytest.raises(EvalError, match=r"dev_tools\.json: no such file"):
        SGD.load(str(tmp_path), SGD.categories)
    write_sgd(tmp_path)
    (tmp_path / "dev.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(EvalError, match="cannot be read: Not a gzipped file"):
        SGD.load(str(tmp_path), SGD.categories)


def dialogue(*changes: dict[str, object], services: list[str] | None = None) -> dict[str, object]:
    call = {"turn": 1, "service": "Lamps_1", "name": "SetLamp", "arguments": {"room": "hall"}}
    about = {"dialogue_id": "a", "services": services or ["Lamps_1"], "turns": [{"role": "User", "text": "x"}]}
    return {**about, "calls": [call | change for change in changes or ({},)]}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (dialogue({"name": "Fly"}), "a call of 'Fly', which is no tool of the dialogue's 'Lamps_1'"),
        (dialogue(services=["Boats_1"]), "a call of 'SetLamp', which is no tool of the dialogue's 'Lamps_1'"),
        (dialogue({"arguments": {"speed": "1"}}), "has keys that the tool lacks: speed"),
        (dialogue({"turn": 999}), "a call behind turn 999, but there are 1 turns"),
        (dialogue({}, {}), "two calls of one id, a/1"),
    ],
)
def test_malformed_rows(tmp_path: Path, row: object, said: str) -> None:
    write_sgd(tmp_path)
    with gzip.open(tmp_path / "dev.jsonl.gz", "wt") as file:
        file.write(json.dumps(row))
    with pytest.raises(EvalError, match=said):
        SGD.load(str(tmp_path), SGD.categories)
