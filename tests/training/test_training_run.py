"""Training runs: resumed as if never interrupted, ended by a signal, wrong settings refused, loadable by anyone."""

import io
import json
import os
import signal
import sys
from pathlib import Path

import pytest
import torch
from rich.console import Console
from tiny_run import SGD, RunCommand, write_settings
from transformers import AutoModelForCausalLM, AutoTokenizer

from data import needs_data
from tooldecoding.errors import ConfigError
from training.encoding.packing import Batch
from training.evaluate import main as evaluate
from training.run.material import Material
from training.run.settings import TrainingSettings, read_settings
from training.run.training_run import TrainingRun
from training.train import CONFIG, run_training

CPU = torch.device("cpu")
SYNTHETIC = {"synthetic api-bank", "synthetic bfcl", "synthetic hermes"}


def quiet() -> Console:
    return Console(file=io.StringIO())


def losses(run: Path) -> list[tuple[int, float]]:
    rows = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    return [(row["step"], row["loss"]) for row in rows if "loss" in row]


@pytest.fixture(autouse=True)
def every_update_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.run.training_run.LOG_SECONDS", -1.0)
    monkeypatch.setattr("training.run.training_run.TOKENIZER_TEXTS", 100)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> TrainingSettings:
    """A run of eight updates, never interrupted."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.run.training_run.LOG_SECONDS", -1.0)
        patch.setattr("training.run.training_run.TOKENIZER_TEXTS", 100)
        settings = read_settings(write_settings(folder))
        run_training(settings, quiet(), CPU)
    return settings


def interrupted(settings: TrainingSettings, updates: int) -> TrainingRun:
    """The same run, stopped after some updates."""
    training = TrainingRun(settings, quiet(), CPU)

    def stop(_: int) -> None:
        training.stopped = training.step >= updates

    training.run(stop)
    return training


def test_a_resumed_run_is_the_uninterrupted_one(finished: TrainingSettings, tmp_path: Path) -> None:
    settings = read_settings(write_settings(tmp_path))
    assert interrupted(settings, 3).step == 3
    assert interrupted(settings, 5).step == 5
    resumed = run_training(settings, quiet(), CPU)
    assert resumed.step == 8 and resumed.progress == 1
    assert losses(tmp_path / "run") == losses(Path(finished.runs))
    first, second = (torch.load(Path(s.runs) / "state.pt") for s in (finished, settings))
    for name, value in first["network"].items():
        assert torch.equal(value, second["network"][name])


def test_another_budget_on_resuming(tmp_path: Path) -> None:
    path = write_settings(tmp_path)
    assert run_training(read_settings(path, budget=1024), quiet(), CPU).step == 2
    longer = run_training(read_settings(path, budget=2048), quiet(), CPU)
    assert longer.step == 4
    shorter = run_training(read_settings(path, budget=512), quiet(), CPU)
    assert shorter.step == 4


def test_files_of_a_run(finished: TrainingSettings, capsys: pytest.CaptureFixture[str]) -> None:
    run = Path(finished.runs)
    assert {p.name for p in run.iterdir()} == {"curve.png", "log.jsonl", "model", "state.pt"}
    assert (run / "curve.png").read_bytes().startswith(b"\x89PNG")
    model = AutoModelForCausalLM.from_pretrained(run / "model")
    assert model.dtype == torch.bfloat16 and model.config.max_position_embeddings == 512
    tokenizer = AutoTokenizer.from_pretrained(run / "model")
    ids = tokenizer("User: hi\nCalls: ", return_tensors="pt").input_ids
    assert model.generate(ids, max_new_tokens=3, do_sample=False).shape[1] == ids.shape[1] + 3
    evaluate(run / "model", None, examples=2)
    scores = json.loads(capsys.readouterr().out)
    last = json.loads((run / "log.jsonl").read_text().splitlines()[-1])["held_out"]
    assert set(scores) == set(last) == SYNTHETIC
    assert all(0 <= score["exact"] <= score["all_values"] <= 1 for score in scores.values())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_ends(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = read_settings(write_settings(tmp_path))
    run = TrainingRun.run

    def interrupt(training: TrainingRun, advance: object) -> None:
        run(training, lambda _: os.kill(os.getpid(), number) if training.step == 2 else None)

    kept = signal.getsignal(number)
    monkeypatch.setattr(TrainingRun, "run", interrupt)
    training = run_training(settings, quiet(), CPU)
    assert training.step == 2 and signal.getsignal(number) is kept
    monkeypatch.undo()
    assert TrainingRun(settings, quiet(), CPU).step == 2


def test_what_was_learnt_is_kept_where_the_material_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Material.batches

    def fail(material: Material, step: int) -> list[Batch]:
        if step == 2:
            raise IndexError("no such word")
        return made(material, step)

    settings = read_settings(write_settings(tmp_path))
    monkeypatch.setattr(Material, "batches", fail)
    with pytest.raises(IndexError):
        run_training(settings, quiet(), CPU)
    assert TrainingRun(settings, quiet(), CPU).step == 2


def test_another_model_or_seed_is_refused(tmp_path: Path) -> None:
    path = write_settings(tmp_path)
    interrupted(read_settings(path), 1)
    with pytest.raises(ConfigError, match=r"state\.pt belongs to the model .*; choose another folder with --runs"):
        TrainingRun(read_settings(path, seed=1), quiet(), CPU)
    (tmp_path / "run" / "state.pt").write_bytes(b"nonsense")
    with pytest.raises(ConfigError, match="not a state of this training"):
        TrainingRun(read_settings(path), quiet(), CPU)


@pytest.mark.parametrize(
    ("replaced", "message"),
    [
        ({"budget": "0"}, "budget: Input should be greater than 0, got 0"),
        ({"budget": "{}"}, "budget: Input should be a valid integer"),
        ({"step_tokens": "300"}, "step_tokens must be a multiple of batch_tokens"),
        ({"stages": "[]"}, "stages"),
        ({"held_out": "2\ncolour: red"}, "colour: Extra inputs are not permitted, got 'red'"),
        ({"model": "{layers: 3}"}, "model.width: Field required"),
        ({"batch_tokens": "200"}, "step_tokens must be"),
        ({"step_tokens": "100", "batch_tokens": "100"}, "a row of 128 tokens"),
        ({"seed": "[1"}, "malformed YAML"),
    ],
)
def test_wrong_settings(replaced: dict[str, str], message: str, tmp_path: Path) -> None:
    path = write_settings(tmp_path, **replaced)
    if "stages" in replaced:
        path.write_text(path.read_text().split("stages")[0] + "stages: []\n")
    with pytest.raises(ConfigError) as error:
        read_settings(path)
    assert str(error.value).startswith(str(path)) and message in str(error.value)


def test_stages_begin_at_zero_and_ascend(tmp_path: Path) -> None:
    path = write_settings(tmp_path)
    path.write_text(path.read_text().replace("start: 0.5", "start: 0.0"))
    with pytest.raises(ConfigError, match="stages must begin at start 0 and ascend"):
        read_settings(path)


def test_errors_of_the_command_have_no_traceback(tmp_path: Path, run_command: RunCommand) -> None:
    code, error = run_command("train", "--config", tmp_path / "none.yaml")
    assert code == 2 and "no such file" in error and error.count("\n") == 1
    code, error = run_command("train", "--config", write_settings(tmp_path, sgd=str(tmp_path)))
    assert code == 2 and "has no train.jsonl.gz" in error and error.count("\n") == 1


def test_without_the_extra(run_command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, error = run_command("train")
    assert code == 2 and error.endswith("not installed; pip install 'tooldecoding[eval]'\n")


def test_learning_rate_follows_the_budget(tmp_path: Path) -> None:
    settings = read_settings(write_settings(tmp_path))
    assert settings.rate_at(0.0) == pytest.approx(0.02)
    assert settings.rate_at(0.2) == 1
    assert settings.rate_at(0.7) == pytest.approx(0.5)
    assert settings.rate_at(1.0) == pytest.approx(0.005)
    assert settings.stage_at(0.49).lengths == {128: 1.0} and settings.stage_at(0.5).lengths == {256: 1.0}


@pytest.mark.parametrize("name", ["reference", "reference_gpu"])
def test_settings_of_the_repository(name: str) -> None:
    settings = read_settings(CONFIG.with_name(f"{name}.yaml"))
    shape = settings.model
    inner = shape.heads * shape.head_width
    size = (
        shape.layers * (4 * shape.width * inner + 3 * shape.width * shape.feed_forward) + shape.vocabulary * shape.width
    )
    assert 2 * size < 20e6
    assert max(n for stage in settings.stages for n in stage.lengths) >= 4096 <= shape.positions
    assert shape.width % shape.heads == 0


@needs_data
def test_learns_from_sgd_too(tmp_path: Path) -> None:
    settings = read_settings(write_settings(tmp_path, sgd=str(SGD), budget="1024"))
    training = run_training(settings, quiet(), CPU)
    assert set(training.held_out) == SYNTHETIC | {"sgd unseen", "sgd seen"}
