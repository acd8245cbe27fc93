"""A run may begin with the weights of a trained model, in another vocabulary as well."""

import io
from pathlib import Path

import pytest
import torch
from rich.console import Console
from tiny_run import tiny_settings, tiny_tokenizer, write_settings

from tooldecoding.errors import ConfigError, ModelError
from training.network.network import Network, Shape
from training.network.warm_start import start_from
from training.run.settings import read_settings
from training.run.training_run import TrainingRun


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Network, str]:
    """A network, and the folder in which it is saved."""
    folder = tmp_path_factory.mktemp("trained")
    torch.manual_seed(0)
    network = Network(tiny_settings(folder).model, tiny_tokenizer(folder))
    with torch.no_grad():
        network.embedding.own.normal_(std=0.05)
    network.to_llama(torch.float32).save_pretrained(folder / "model")
    tiny_tokenizer(folder).save_pretrained(folder / "model")
    return network, str(folder / "model")


def test_the_same_vocabulary_gives_the_same_weights(trained: tuple[Network, str], tmp_path: Path) -> None:
    network, path = trained
    other = Network(tiny_settings(tmp_path).model, tiny_tokenizer(tmp_path))
    start_from(path, other, tiny_tokenizer(tmp_path))
    expected, found = network.weights(), other.weights()
    assert expected.keys() == found.keys()
    used = len(tiny_tokenizer(tmp_path))
    for name, weight in expected.items():
        assert torch.allclose(weight[:used], found[name][:used], atol=1e-5), name


def test_pieces_of_another_vocabulary(trained: tuple[Network, str], tmp_path: Path) -> None:
    network, path = trained
    tokenizer = tiny_tokenizer(tmp_path)
    spelled = tokenizer.convert_tokens_to_ids(tokenizer.tokenize("zzyzx"))
    table = network.weights()["model.embed_tokens.weight"]
    changed = tokenizer.__class__.from_pretrained(path)
    changed.add_tokens(["zzyzx"])
    new = changed.convert_tokens_to_ids("zzyzx")
    other = Network(tiny_settings(tmp_path).model, changed)
    start_from(path, other, changed)
    found = other.weights()["model.embed_tokens.weight"]
    assert torch.allclose(found[:new], table[:new], atol=1e-5)
    assert len(spelled) > 1 and torch.allclose(found[new], table[spelled].mean(0), atol=1e-5)
    assert torch.allclose(found[new + 1], table.mean(0), atol=1e-5)  # of no piece


def test_another_size_is_refused(trained: tuple[Network, str], tmp_path: Path) -> None:
    shape = Shape(layers=3, width=128, heads=2, head_width=32, feed_forward=96, vocabulary=640)
    with pytest.raises(
        ConfigError, match=r"start: .*down_proj\.weight: expected the shape \(128, 96\), found \(128, 64\)"
    ):
        start_from(trained[1], Network(shape, tiny_tokenizer(tmp_path)), tiny_tokenizer(tmp_path))


def test_a_begun_run_goes_on_with_its_own_weights(
    trained: tuple[Network, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.run.training_run.TOKENIZER_TEXTS", 100)
    path, new = write_settings(tmp_path), str(tmp_path / "new")

    def begin(start: str, runs: str | None = None) -> TrainingRun:
        settings = read_settings(path, start=start, runs=runs)
        return TrainingRun(settings, Console(file=io.StringIO()), torch.device("cpu"))

    run = begin(trained[1])
    assert torch.allclose(run.learner.network.norm, trained[0].norm)
    run.save()
    begin("no/such/model")
    with pytest.raises(ModelError, match="no/such/model"):
        begin("no/such/model", new)
