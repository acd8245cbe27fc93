"""Models are loaded whole, causal and without running their code, or refused with one line."""

import ast
import io
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForMaskedLM,
    PreTrainedModel,
    ViTConfig,
    ViTModel,
)

from command_line import Ran
from test_layers import FILES, ROOT, nodes
from tiny_models import byte_level_tokenizer
from tooldecoding.errors import ModelError
from tooldecoding.models.loading import NAMED_TENSORS, find_device, load_quietly

Cli = Callable[..., Ran]
Break = Callable[[Path], None]
SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96}


@pytest.fixture
def folder(tiny_model_path: str, tmp_path: Path) -> Path:
    """A model's folder that a test may break."""
    return Path(shutil.copytree(tiny_model_path, tmp_path / "model"))


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> None:
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def refusal(folder: Path) -> str:
    with pytest.raises(ModelError) as error:
        load_quietly(str(folder))
    message = str(error.value)
    assert "\n" not in message and len(message) < 800
    return message


WEIGHTS: dict[str, tuple[Callable[[dict[str, torch.Tensor]], Any], str]] = {
    "a missing tensor": (
        lambda w: w.pop("model.layers.1.mlp.up_proj.weight"),
        "1 missing (model.layers.1.mlp.up_proj.weight)",
    ),
    "many missing": (lambda w: [w.pop(name) for name in list(w) if ".layers." in name], "18 missing"),
    "another shape": (
        lambda w: w.update({"model.norm.weight": torch.ones(32)}),
        "1 of another shape (model.norm.weight (32,) for (64,))",
    ),
}


@pytest.mark.parametrize("fault", WEIGHTS)
def test_weights_that_are_not_whole_are_named(folder: Path, fault: str) -> None:
    change, said = WEIGHTS[fault]
    change_weights(folder, change)
    message = refusal(folder)
    assert said in message and message.count(".layers.") <= NAMED_TENSORS


def test_weights_are_floating_point_numbers(folder: Path) -> None:
    for name in ("int8", "torch.int64", "float_power", "fp8"):
        with pytest.raises(ModelError, match=f"unknown dtype '{name.removeprefix('torch.')}'"):
            load_quietly(str(folder), "cpu", name)


def test_a_head_tied_to_the_embeddings_is_not_missing(folder: Path) -> None:
    change_weights(folder, lambda w: w.pop("lm_head.weight"))
    assert "1 missing (lm_head.weight)" in refusal(folder)
    change_config(folder, tie_word_embeddings=True)
    model, _ = load_quietly(str(folder))
    assert model.lm_head.weight is model.model.embed_tokens.weight


SIDES = {f"{side}_{n}": v for side in ("encoder", "decoder") for n, v in (("layers", 1), ("ffn_dim", 32))}
HEADS = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
NOT_CAUSAL: dict[str, tuple[Callable[[], PreTrainedModel], str]] = {
    "masked": (lambda: BertForMaskedLM(BertConfig(vocab_size=600, **SMALL)), "tokens see what follows them"),
    "encoder-decoder": (
        lambda: BartForConditionalGeneration(BartConfig(vocab_size=600, d_model=32, **SIDES, **HEADS)),
        "encoder-decoder model (bart), not a causal",
    ),
    "images": (lambda: ViTModel(ViTConfig(image_size=32, **SMALL)), "a model of type 'vit', not a causal"),
}


@pytest.mark.parametrize("kind", NOT_CAUSAL)
def test_models_that_are_not_causal_are_refused(tmp_path: Path, kind: str) -> None:
    make, said = NOT_CAUSAL[kind]
    make().save_pretrained(tmp_path)
    byte_level_tokenizer().save_pretrained(tmp_path)
    assert said in refusal(tmp_path)


def cut(name: str, size: int) -> Break:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:size])  # type: ignore[func-returns-value]


def filled(name: str, text: str) -> Break:
    return lambda folder: (folder / name).write_text(text)  # type: ignore[func-returns-value]


def instead(name: str, other: str, text: str) -> Break:
    def change(folder: Path) -> None:
        (folder / name).unlink()
        (folder / other).write_text(text)

    return change


BROKEN: dict[str, tuple[Break, str]] = {
    "truncated weights": (cut("model.safetensors", 5000), "the model of"),
    "no pickle": (instead("model.safetensors", "pytorch_model.bin", "abc"), "the model of"),
    "an index without a map": (instead("model.safetensors", "model.safetensors.index.json", "{}"), "weight_map"),
    "config that is no JSON": (filled("config.json", '{"model_type": '), "config.json' is not a valid JSON file"),
    "config without a type": (filled("config.json", "{}"), "model_type"),
    "config of an unknown type": (filled("config.json", '{"model_type": "nonsense"}'), "`nonsense`"),
    "config without heads": (lambda f: change_config(f, num_attention_heads=0), "the tokenizer of"),
    "tokenizer that is a list": (filled("tokenizer.json", "[]"), "the tokenizer of"),
    "settings of the tokenizer that are no JSON": (filled("tokenizer_config.json", "{"), "the tokenizer of"),
}


@pytest.mark.parametrize("fault", list(BROKEN))
def test_broken_files_are_one_line(cli: Cli, folder: Path, fault: str) -> None:
    change, said = BROKEN[fault]
    change(folder)
    ran = cli("decode", "--model", folder, "--prompt", "x", "--tool-choice", "none")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: cannot load ") and ran.err.count("\n") == 1 and said in ran.err


OWN_CODE = """
open({witness!r}, "w").close()
from transformers import LlamaConfig, LlamaForCausalLM
class OwnConfig(LlamaConfig):
    model_type = "own"
class OwnModel(LlamaForCausalLM):
    config_class = OwnConfig
"""


class TestOwnCode:
    @pytest.fixture
    def witness(self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A file that the model's own code makes."""
        monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
        places = {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"}
        change_config(folder, model_type="own", auto_map=places)
        (folder / "own.py").write_text(OWN_CODE.format(witness=str(tmp_path / "witness")))
        return tmp_path / "witness"

    def test_is_not_run_and_nobody_is_asked(
        self, cli: Cli, folder: Path, witness: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stdin = io.StringIO("y\n" * 9)
        monkeypatch.setattr(sys, "stdin", stdin)
        ran = cli("decode", "--model", folder, "--prompt", "x", "--tool-choice", "none")
        assert ran.code == 2 and "--trust-remote-code" in ran.err and ran.err.count("\n") == 1
        assert not witness.exists() and stdin.tell() == 0

    def test_is_run_where_it_is_trusted_with_a_warning(self, cli: Cli, folder: Path, witness: Path) -> None:
        tokens = ("--max-text-tokens", 2)
        ran = cli("decode", "--model", folder, "--prompt", "x", "--tool-choice", "none", *tokens, "--trust-remote-code")
        assert ran.code == 0, ran.err
        assert ran.err.startswith("warning: trust_remote_code: Python code of") and witness.exists()


def test_all_loading_goes_through_one_file() -> None:
    found = {
        str(file.relative_to(ROOT))
        for file in FILES
        for node in nodes(file)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "from_pretrained"
    }
    assert found == {"tooldecoding/models/loading.py"}


@pytest.mark.parametrize("path", ["none/", "./none", "~/none"])
def test_a_folder_that_is_not_there_is_no_hub_id(path: str) -> None:
    with pytest.raises(ModelError, match="no model folder at"):
        load_quietly(path)


@pytest.mark.parametrize("name", ["meta", "abacus", "cuda:99"])
def test_devices_that_cannot_compute(cli: Cli, tiny_model_path: str, name: str) -> None:
    with pytest.raises(ModelError, match=f"device '{name}'"):
        find_device(name)
    ran = cli("decode", "--model", tiny_model_path, "--device", name, "--prompt", "x", "--tool-choice", "none")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
