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
    BertModel,
    PreTrainedModel,
    ViTConfig,
    ViTModel,
)

from command_line import Ran
from tiny_models import byte_level_tokenizer
from tooldecoding import ToolDecoder
from tooldecoding.errors import ConfigError, ModelError
from tooldecoding.models.loading import NAMED_TENSORS, find_device, load_quietly, load_tokenizer

Cli = Callable[..., Ran]
Break = Callable[[Path], None]
ROOT = Path(__file__).parent.parent.parent
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


class TestWeights:
    def test_missing_tensors_are_named(self, folder: Path) -> None:
        change_weights(folder, lambda w: w.pop("model.layers.1.mlp.up_proj.weight"))
        assert "1 missing (model.layers.1.mlp.up_proj.weight)" in refusal(folder)

    def test_of_many_the_first_are_named(self, folder: Path) -> None:
        change_weights(folder, lambda w: [w.pop(name) for name in list(w) if ".layers." in name])
        message = refusal(folder)
        assert "18 missing" in message and message.count(".layers.") == NAMED_TENSORS and ", …)" in message

    def test_another_shape_is_named_with_both(self, folder: Path) -> None:
        change_weights(folder, lambda w: w.update({"model.norm.weight": torch.ones(32)}))
        assert "1 of another shape (model.norm.weight (32,) for (64,))" in refusal(folder)

    def test_a_head_tied_to_the_embeddings_is_not_missing(self, folder: Path) -> None:
        change_weights(folder, lambda w: w.pop("lm_head.weight"))
        assert "1 missing (lm_head.weight)" in refusal(folder)
        change_config(folder, tie_word_embeddings=True)
        model, _ = load_quietly(str(folder))
        assert model.lm_head.weight is model.model.embed_tokens.weight

    def test_what_the_files_have_beyond_the_model_is_left_unread(self, folder: Path) -> None:
        whole, _ = load_quietly(str(folder))
        change_weights(folder, lambda w: w.update({"another.head": torch.ones(3)}))
        model, _ = load_quietly(str(folder))
        assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), model.parameters(), strict=True))

    def test_the_command_line_says_so_and_decodes_nothing(self, cli: Cli, folder: Path) -> None:
        change_weights(folder, lambda w: w.pop("model.norm.weight"))
        ran = cli("decode", "--model", folder, "--prompt", "x", "--tool-choice", "none")
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert "model.norm.weight" in ran.err


class TestKinds:
    def saved(self, folder: Path, model: PreTrainedModel) -> Path:
        model.save_pretrained(folder)
        byte_level_tokenizer().save_pretrained(folder)
        return folder

    def test_an_encoder_is_refused(self, tmp_path: Path) -> None:
        saved = self.saved(tmp_path, BertModel(BertConfig(vocab_size=600, **SMALL)))
        assert "missing (cls.predictions.bias" in refusal(saved)

    def test_a_masked_model_that_is_complete_is_refused(self, tmp_path: Path) -> None:
        saved = self.saved(tmp_path, BertForMaskedLM(BertConfig(vocab_size=600, **SMALL)))
        assert "tokens see what follows them, not a causal" in refusal(saved)

    def test_the_same_weights_as_a_decoder_are_taken(self, tmp_path: Path) -> None:
        saved = self.saved(tmp_path, BertForMaskedLM(BertConfig(vocab_size=600, **SMALL)))
        change_config(saved, is_decoder=True)
        assert load_quietly(str(saved))[0].config.is_decoder

    def test_an_encoder_decoder_is_refused(self, tmp_path: Path) -> None:
        sides = {f"{side}_{n}": v for side in ("encoder", "decoder") for n, v in (("layers", 1), ("ffn_dim", 32))}
        heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
        config = BartConfig(vocab_size=600, d_model=32, **sides, **heads)
        saved = self.saved(tmp_path, BartForConditionalGeneration(config))
        assert "encoder-decoder model (bart), not a causal" in refusal(saved)

    def test_a_model_of_images_is_refused(self, tmp_path: Path) -> None:
        saved = self.saved(tmp_path, ViTModel(ViTConfig(image_size=32, **SMALL)))
        assert "a model of type 'vit', not a causal" in refusal(saved)

    @pytest.mark.parametrize("shape", ["mistral_windowed", "gemma2", "gpt2", "bloom", "gpt_neox"])
    def test_causal_models_of_all_kinds_are_taken(self, make_tiny: Callable[[str], str], shape: str) -> None:
        load_quietly(make_tiny(shape))

    def test_half_precision_is_no_looking_ahead(self, tiny_model_path: str) -> None:
        load_quietly(tiny_model_path, dtype="bf16")


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
    "weights without a header": (cut("model.safetensors", 5), "the model of"),
    "empty weights": (cut("model.safetensors", 0), "the model of"),
    "no pickle": (instead("model.safetensors", "pytorch_model.bin", "abc"), "the model of"),
    "an index without a map": (instead("model.safetensors", "model.safetensors.index.json", "{}"), "weight_map"),
    "config that is no JSON": (filled("config.json", '{"model_type": '), "config.json' is not a valid JSON file"),
    "config that is a list": (filled("config.json", "[1]"), "the tokenizer of"),
    "config without a type": (filled("config.json", "{}"), "model_type"),
    "config of an unknown type": (filled("config.json", '{"model_type": "nonsense"}'), "`nonsense`"),
    "config with a text for a number": (lambda f: change_config(f, hidden_size="many"), "hidden_size"),
    "config without heads": (lambda f: change_config(f, num_attention_heads=0), "the tokenizer of"),
    "config of a negative size": (lambda f: change_config(f, hidden_size=-4), "the model of"),
    "tokenizer that is no JSON": (filled("tokenizer.json", '{"a": '), "the tokenizer of"),
    "tokenizer that is a list": (filled("tokenizer.json", "[]"), "the tokenizer of"),
    "tokenizer of an unknown kind": (filled("tokenizer.json", '{"model": {"type": "x"}}'), "the tokenizer of"),
    "settings of the tokenizer that are no JSON": (filled("tokenizer_config.json", "{"), "the tokenizer of"),
    "settings of the tokenizer that are a list": (filled("tokenizer_config.json", "[1]"), "the tokenizer of"),
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

    def test_in_python(self, folder: Path, witness: Path) -> None:
        with pytest.raises(ModelError, match="trust_remote_code"):
            ToolDecoder.from_pretrained(str(folder))
        assert not witness.exists()
        with pytest.warns(UserWarning, match="may be run on this machine"):
            ToolDecoder.from_pretrained(str(folder), trust_remote_code=True)
        assert witness.exists()

    def test_of_a_tokenizer_is_not_run(self, folder: Path, witness: Path) -> None:
        (folder / "tokenizer_config.json").write_text(json.dumps({"auto_map": {"AutoTokenizer": ["own.T", None]}}))
        (folder / "tokenizer.json").unlink()
        with pytest.raises(ModelError):
            load_tokenizer(str(folder))
        assert not witness.exists()

    def test_no_file_of_settings_switches_it_on(self, cli: Cli, tmp_path: Path) -> None:
        file = tmp_path / "run.yaml"
        file.write_text("trust_remote_code: true\n")
        ran = cli("decode", "--prompt", "x", "--config", file)
        assert ran.code == 2 and f"{file}:1: trust_remote_code stands on the command line alone" in ran.err


def test_all_loading_goes_through_one_file() -> None:
    found = {
        str(file.relative_to(ROOT))
        for layer in ("lookup", "voting", "tooldecoding", "eval")
        for file in (ROOT / layer).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "from_pretrained"
    }
    assert found == {"tooldecoding/models/loading.py"}


@pytest.mark.parametrize("name", ["meta", "abacus", "", "mps", "vulkan", "cuda:99"])
def test_devices_that_cannot_compute(cli: Cli, tiny_model_path: str, name: str) -> None:
    with pytest.raises(ModelError, match=f"device '{name}'"):
        find_device(name)
    ran = cli("decode", "--model", tiny_model_path, "--device", name, "--prompt", "x", "--tool-choice", "none")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("path", [None, "", 3])
def test_what_is_no_path(path: Any) -> None:
    with pytest.raises(ModelError, match="expected a model's folder, file or hub id"):
        ToolDecoder.from_pretrained(path)


def test_an_unknown_keyword_is_refused_before_anything_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'order_limits'; did you mean 'order_limit'"):
        ToolDecoder.from_pretrained(str(tmp_path), order_limits=3)
