"""A run: its prompts, its samples by a seed, an interrupt anywhere, and every prediction is scored."""

from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data import rows
from eval.benchmarks.samples import Sample
from eval.benchmarks.sgd import SGD
from eval.errors import EvalError
from eval.methods.choose import predict_all
from eval.methods.prediction import Prediction
from eval.methods.sample_prompts import Prompter
from eval.options import EvalOptions
from eval.runs.predictions import Predictions, read_predictions
from eval.runs.run import draw, run
from eval.runs.run_folder import RunFolder, describe_run
from eval.runs.score import score
from eval_data import REFERENCES, prediction_rows
from tiny_models import byte_level_tokenizer
from tooldecoding.errors import PromptError
from tooldecoding.files.result_file import ResultFile
from tooldecoding.request import Request

TOKENIZER = byte_level_tokenizer()
SETTINGS = EvalOptions(template="api-bank")


@dataclass
class Echo:
    """A method that writes how many prompts it got together; it may break off, or refuse a prompt."""

    interrupt_at: int | None = None
    refuse: str = "nothing of the kind"
    calls: int = 0

    def __call__(self, requests: Sequence[Request]) -> list[Prediction]:
        if self.calls == self.interrupt_at:
            raise KeyboardInterrupt
        self.calls += 1
        if any(self.refuse in str(r.prompt) for r in requests):
            raise PromptError("refused")
        return [Prediction(f"{len(requests)} {len(str(r.prompt))}") for r in requests]


def decode(samples: Sequence[Sample], path: Path, method: Echo, batch_size: int = 1) -> None:
    prompter = Prompter(SETTINGS, samples, TOKENIZER)

    def spread(groups: Any, _: Any) -> Any:
        return ((group, predict_all(method, group)) for group in groups)

    with closing(ResultFile(path, frozenset({"prediction"}))) as results:
        run(samples, SGD, spread, prompter, results, batch_size, lambda _: None)


@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize("groups", [0, 1, 2])
@pytest.mark.parametrize("torn", [0, 1, 25])
def test_an_interrupted_run_ends_in_the_same_file(
    tmp_path: Path, samples: list[Sample], batch_size: int, groups: int, torn: int
) -> None:
    whole, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
    decode(samples, whole, Echo(), batch_size)
    with suppress(KeyboardInterrupt):
        decode(samples, broken, Echo(interrupt_at=groups), batch_size)
        torn = 0
    data = broken.read_bytes()
    broken.write_bytes(data[: max(0, len(data) - torn)])
    decode(samples, broken, Echo(), batch_size)
    assert broken.read_bytes() == whole.read_bytes()
    again = Echo()
    decode(samples, broken, again, batch_size)
    assert again.calls == 0  # nothing is decoded twice


def test_a_prompt_that_fails_does_not_touch_the_others(tmp_path: Path, samples: list[Sample]) -> None:
    decode(samples, tmp_path / "p.jsonl", Echo(refuse="I want Kiel"), batch_size=4)
    found = rows(tmp_path / "p.jsonl")
    assert [r.get("error") for r in found] == [None, None, "refused", None]
    assert all(r["prediction"] for r in found if "error" not in r)


@given(st.integers(1, 30), st.integers(1, 40), st.integers(1, 40), st.integers(0, 3))
def test_drawn_samples(count: int, limit: int, more: int, seed: int) -> None:
    samples = [Sample(f"{n:03}", "c", "d", (), None, (), None) for n in range(count)]  # type: ignore[arg-type]
    drawn = draw(samples, limit, seed)
    assert len(drawn) == min(count, limit)
    assert [s.id for s in drawn] == sorted(s.id for s in drawn)
    assert {s.id for s in drawn} <= {s.id for s in draw(samples, limit + more, seed)}
    assert draw(samples, None, seed) == samples


def manifest(samples: Sequence[Sample], settings: EvalOptions) -> dict[str, object]:
    prompter = Prompter(settings, samples, TOKENIZER)
    prompts = [prompter.text(s) for s in samples]
    return describe_run(SGD, settings, SGD.categories, samples, len(samples), "cpu", prompts)


def test_a_folder_that_holds_no_run(tmp_path: Path, samples: list[Sample]) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{")
    for folder, said in (("", "something else than a run"), ("run", "malformed JSON")):
        run_folder = RunFolder(tmp_path / folder)
        with pytest.raises(EvalError, match=said), run_folder.locked():
            run_folder.begin(manifest(samples, SETTINGS))


def test_what_a_killed_process_leaves_is_gone_on_with(tmp_path: Path, samples: list[Sample]) -> None:
    (tmp_path / "run.json.tooldecoding-part").touch()
    with (folder := RunFolder(tmp_path)).locked():
        folder.begin(manifest(samples, SETTINGS))


def test_a_folder_holds_one_run_and_one_process_writes_to_it(tmp_path: Path, samples: list[Sample]) -> None:
    folder = RunFolder(tmp_path / "run")
    with folder.locked():
        folder.begin(manifest(samples, SETTINGS))
    folder.take_model({"weights": "a"})
    with pytest.raises(EvalError, match="this run was begun with weights 'a', not 'b'; choose another --out"):
        folder.take_model({"weights": "b"})
    folder.begin(manifest(samples, replace(SETTINGS, batch_size=3)))
    other = replace(samples[3], documentation=samples[0].documentation)
    for asked, said in (
        (manifest(samples, replace(SETTINGS, order_limit=12)), "order_limit 4, not 12; choose another --out"),
        (manifest(samples[:2], SETTINGS), "samples 4, not 2"),
        (manifest(samples, SETTINGS) | {"benchmark": "other"}, "benchmark 'sgd', not 'other'"),
        (manifest([*samples[:3], other], SETTINGS), "other prompts: the data or the template has changed"),
    ):
        with pytest.raises(EvalError, match=f"begun with {said}"):
            folder.begin(asked)
    same = RunFolder(tmp_path / "run")
    with folder.locked(), pytest.raises(EvalError, match="another process is writing to this run"), same.locked():
        pass
    with same.locked():
        pass


@pytest.fixture
def read(tmp_path: Path, samples: list[Sample]) -> Callable[[str], Predictions]:
    def read(text: str) -> Predictions:
        (tmp_path / "p.jsonl").write_text(text)
        return read_predictions(tmp_path / "p.jsonl", SGD, samples)

    return read


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected predictions, one JSON object a line, found an empty file"),
        ('{"id": "a/1"}\n', r":1: expected a text 'prediction', found None"),
        ('{"id": "a/1", "prediction": "x"}\n' * 2, ":2: a second prediction for 'a/1', the first stands in .*:1"),
        ('{"id": "a/9", "prediction": "x"}\n', "sgd has no sample 'a/9' in this data; are these predictions of"),
        ('{"file": "x", "sample_id": 0, "prediction": ""}\n', ":1: is this a row of sgd?"),
        ('{"id": "a/1", "prediction": "x"}\n{"id": "b/1", "predi', "the file ends within this line: finish the run"),
        ('{"id": "a/1", "category": "unseen", "prediction": ""}\n', "a/1 is of category seen, the row says 'unseen'"),
    ],
)
def test_bad_files(read: Callable[[str], Predictions], text: str, said: str) -> None:
    with pytest.raises(EvalError, match=said):
        read(text)


def test_missing_ones_are_wrong_and_counted(read: Callable[[str], Predictions]) -> None:
    rows = [{"c/1": REFERENCES["c/1"]}, {"a/1": "[SetLamp(room='x')]"}]
    predictions = read(
        "".join(map(prediction_rows, rows)) + '{"id": "b/1", "prediction": "", "error": "the prompt is too long"}\n'
    )
    scores = score(predictions, SGD)
    assert [(r["id"], r["correct"], r["missing"], r["error_class"], r["error_type"]) for r in scores[::2]] == [
        ("c/1", True, False, None, None),
        ("b/1", False, True, "awareness", "not_decoded"),
    ]
    assert (scores[1]["error_class"], scores[1]["structural"]) == ("key", True)
    assert (scores[3]["id"], scores[3]["missing"], scores[3]["error_type"]) == ("d/1", True, "missing")


def prompt(samples: list[Sample], number: int = 0, **changed: object) -> str:
    return Prompter(replace(SETTINGS, **changed), samples, TOKENIZER).text(samples[number])  # type: ignore[arg-type]


def test_shapes(samples: list[Sample]) -> None:
    text = prompt(samples)
    assert text.startswith('API descriptions:\n{"name": "SetLamp"')
    assert text.endswith("\n\nUser: I want kitchen on.\nAPI-Request: ")
    text = prompt(samples, template="bfcl", format="pythonic")
    assert 'Functions:\n[\n    {\n        "name": "SetLamp"' in text and "[func_name1(param1=value1" in text
    assert text.endswith("\n\nUser: I want kitchen on.\nCalls: ")


@pytest.mark.parametrize("shots", [1, 3])
def test_examples_come_from_other_dialogues(samples: list[Sample], shots: int) -> None:
    for number, sample in enumerate(samples):
        text = prompt(samples, number, shots=shots)
        assert REFERENCES[sample.id] not in text
        # one other dialogue is of the same category: examples are drawn there
        assert sum(reference in text for reference in REFERENCES.values()) == 1
        assert text.endswith(prompt(samples, number).partition("\n\n")[2].partition("\n\n")[2])
    with pytest.raises(EvalError, match="--shots: none of the samples has a right call to show"):
        prompt([replace(s, calls=()) for s in samples], shots=shots)


def test_examples_are_seeded_and_those_that_do_not_fit_are_left_out(samples: list[Sample]) -> None:
    alike = [replace(s, category="seen") for s in samples]
    texts = {prompt(alike, shots=2, seed=seed) for seed in range(8)}
    assert len(texts) > 1 and prompt(alike, shots=2, seed=3) == prompt(alike, shots=2, seed=3)
    assert all(sum(r in text for r in REFERENCES.values()) == 2 for text in texts)
    for kept in range(3):
        tokenizer = byte_level_tokenizer()
        length = len(TOKENIZER(prompt(alike, shots=kept))["input_ids"])
        tokenizer.model_max_length = length + SETTINGS.max_text_tokens
        prompter = Prompter(replace(SETTINGS, shots=3), alike, tokenizer)
        assert len(prompter.examples(alike[0])) == kept
        assert prompter.text(alike[0]) == prompt(alike, shots=kept)
