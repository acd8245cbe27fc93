"""``tooldecoding doctor``: what it finds about a model, and one line for each thing that needs attention."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from command_line import Ran, assert_bad, limited
from tiny_models import byte_level_tokenizer, tiny_model
from tooldecoding.doctor.self_check import CALLS, SelfCheck
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS

Cli = Callable[..., Ran]

HERMES = """{% if tools %}{{ tools | tojson }}{% endif %}{% for message in messages %}<|{{ message.role }}|>
{% if message.tool_calls %}{% for call in message.tool_calls %}<tool_call>
{{ '{"name": "' + call.function.name + '", "arguments": ' }}{{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}{% else %}{{ message.content }}{% endif %}</s>
{% endfor %}{% if add_generation_prompt %}<|assistant|>
{% endif %}"""


def saved(
    folder: Path, tokenizer: PreTrainedTokenizerBase, shape: str = "llama", vocabulary: int = 0, config: Any = None
) -> Path:
    """A folder with a tokenizer, and random weights of a shape or a configuration."""
    tokenizer.save_pretrained(folder)
    if config is None:
        tiny_model(shape, vocabulary or len(tokenizer)).save_pretrained(folder)
    else:
        config.vocab_size = len(tokenizer)
        AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    return folder


def chat_tokenizer(template: str | None = HERMES, added: Sequence[str] = ()) -> PreTrainedTokenizerFast:
    tokenizer = byte_level_tokenizer()
    tokenizer.chat_template = template
    tokenizer.add_tokens([*added], special_tokens=True)
    return tokenizer


@pytest.fixture
def doctor(cli: Cli, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """What is found about a tokenizer with a model of random weights, which then lies in ``tmp_path``."""

    def run(tokenizer: PreTrainedTokenizerBase, *arguments: object, **model: Any) -> dict[str, Any]:
        ran = cli("doctor", "--model", saved(tmp_path, tokenizer, **model), "--device", "cpu", "--json", *arguments)
        assert ran.err == ""
        told: dict[str, Any] = json.loads(ran.out)
        assert ran.code == (1 if told["problems"] else 0)
        assert all("\n" not in problem for problem in told["problems"])
        return told

    return run


Doctor = Callable[..., dict[str, Any]]


def test_a_chat_model_of_a_known_format(doctor: Doctor) -> None:
    told = doctor(chat_tokenizer(added=["<tool_call>"]))
    expected = {
        "problems": [], "format": "hermes", "architecture": "LlamaForCausalLM", "model_type": "llama", "context": 4096,
        "dtype": "float32", "device": "cpu", "engine": "packed", "tokens": told["vocabulary"], "tokenizer_error": "",
        "self_check": {"exact": len(CALLS), "tried": len(CALLS), "difference": ""}, "chat_template": True,
        "prints_tools": True,
        "marks": [{"text": "<tool_call>", "id": told["tokens"] - 1}, {"text": "</tool_call>", "id": None}],
    }  # fmt: skip
    assert told | expected == told
    assert "<tool_call>" in told["format_reason"]
    assert (told["bos"]["text"], told["eos"]["text"]) == ("<s>", "</s>") and told["eos"] in told["turn_ends"]


def test_what_does_not_fit_together(doctor: Doctor) -> None:
    tokenizer = chat_tokenizer()
    told = doctor(tokenizer, "--format", "api-bank")
    assert told["format"] == "api-bank" and told["format_reason"].startswith("it was asked for, but the chat template")
    told = doctor(tokenizer, vocabulary=len(tokenizer) - 1)
    assert f"has {len(tokenizer)} tokens, but the model only {len(tokenizer) - 1} logits" in told["problems"][0]


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (None, "no chat template"),
        ("{{ raise_exception('never') }}", "refuses a dialogue with a call"),
        (HERMES.replace("tool_call>", "CALL>"), "in no known format"),
    ],
)
def test_templates_without_a_known_format(
    cli: Cli, doctor: Doctor, tmp_path: Path, template: str | None, said: str
) -> None:
    told = doctor(chat_tokenizer(template))
    assert told["format"] is None and told["self_check"] is None
    assert said in told["problems"][0] and "--format" in told["problems"][0]
    ran = cli("doctor", "--model", tmp_path)
    lines = [line for line in ran.out.splitlines() if line.startswith("problem: ")]
    assert (ran.code, lines) == (1, [f"problem: {problem}" for problem in told["problems"]])


def test_who_prints_the_tools_is_told(cli: Cli, doctor: Doctor, tmp_path: Path) -> None:
    told = doctor(chat_tokenizer("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"))
    assert told["self_check"]["exact"] == len(CALLS)
    ran = cli("doctor", "--model", tmp_path)
    assert ran.code == 0 and "Tool Decoding prints them" in ran.out and "system: You can call" in ran.out


def test_tokens_that_cannot_be_read(cli: Cli, doctor: Doctor, tmp_path: Path) -> None:
    words = Tokenizer(models.WordPiece({"[UNK]": 0, "name": 1, "a": 2, "value": 3, "</s>": 4}, unk_token="[UNK]"))
    words.normalizer = normalizers.Lowercase()
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]", eos_token="</s>")
    tokenizer.chat_template = HERMES
    told = doctor(tokenizer, vocabulary=16)
    assert told["self_check"] is None and told["problems"] == [told["tokenizer_error"]] != [""]
    assert "cannot be read" in cli("doctor", "--model", tmp_path).out


def test_no_token_ends_a_turn(doctor: Doctor) -> None:
    renamed = byte_level_tokenizer().backend_tokenizer.to_str().replace("</s>", "<stop>")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(renamed), chat_template=HERMES)
    told = doctor(tokenizer, shape="gpt2")  # GPT-2's own end lies beyond this vocabulary
    assert "eos_token" in told["problems"][0] and told["turn_ends"] == []


def test_engines_and_why(cli: Cli, doctor: Doctor, tmp_path: Path) -> None:
    tokenizer = chat_tokenizer()
    asked = doctor(tokenizer, "--strategy", "batched")
    assert (asked["engine"], asked["engine_reason"]) == ("batched", "batched was asked for")
    told = doctor(tokenizer, shape="bloom")
    assert told["engine"] == "batched" and told["engine_reason"]
    assert_bad(cli("doctor", "--model", tmp_path, "--strategy", "packed"), "packed")
    state = doctor(tokenizer, config=AutoConfig.for_model("mamba", hidden_size=32, num_hidden_layers=2))
    assert (state["engine"], state["context"]) == ("recurrent", None) and "state" in state["engine_reason"]


def test_a_context_that_is_too_short(doctor: Doctor) -> None:
    config = AutoConfig.for_model(
        "llama", hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=64,
    )  # fmt: skip
    told = doctor(chat_tokenizer(), config=config)
    assert told["self_check"]["exact"] == 0 and "context is 64 tokens" in told["problems"][0]


def test_what_of_the_tools_is_not_enforced(cli: Cli, doctor: Doctor, tmp_path: Path) -> None:
    docs = tmp_path / "docs.json"
    docs.write_text(json.dumps([limited("a", contains={"type": "integer"}), limited("b", maxItems=2)]))
    told = doctor(chat_tokenizer(), "--tools", docs)
    assert told["unenforced"] == {"a": ["parameter 'x': contains"]} and told["problems"] == []
    out = cli("doctor", "--model", tmp_path, "--tools", docs).out
    assert out.count("a: not enforced while decoding, only checked: parameter 'x': contains") == 1
    assert all(word in out for word in ("LlamaForCausalLM", "packed", "hermes", "</s> (1)", "all is well"))
    assert f"{len(CALLS)} of {len(CALLS)}" in out
    assert_bad(cli("doctor", "--model", tmp_path, "--tools", tmp_path / "none.json"), "no such file")


@pytest.mark.parametrize("call_format", CALL_FORMATS.values(), ids=lambda f: f.name)
def test_samples_are_decoded_exactly_in_every_format(call_format: CallFormat) -> None:
    tokenizer = byte_level_tokenizer()
    checked = SelfCheck(tiny_model("llama", len(tokenizer)), tokenizer).run(call_format)
    assert checked["difference"] == ""
    assert checked["exact"] == checked["tried"]
    assert checked["tried"] == sum(call_format.parallel or len(calls) == 1 for calls in CALLS.values())
