"""``tooldecoding doctor``: what it finds about a model, and one line for each thing that needs attention."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import AutoConfig, PreTrainedTokenizerFast

from chat.chat_models import HERMES, chat_tokenizer
from command_line import Cli, assert_bad
from tiny_models import byte_level_tokenizer, saved, tiny_model
from tooldecoding.doctor import CALLS, self_check
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.testing import SyntheticDecoder


def words() -> PreTrainedTokenizerFast:
    """Tokens that cannot be read."""
    backend = Tokenizer(models.WordPiece({"[UNK]": 0, "name": 1, "a": 2, "value": 3, "</s>": 4}, unk_token="[UNK]"))
    backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]", eos_token="</s>", chat_template=HERMES)


def without_end() -> PreTrainedTokenizerFast:
    """No token ends a turn; GPT-2's own end lies beyond this vocabulary."""
    renamed = byte_level_tokenizer().backend_tokenizer.to_str().replace("</s>", "<stop>")
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(renamed), chat_template=HERMES)


TINY = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
SHORT = AutoConfig.for_model("llama", **TINY, max_position_embeddings=64)
STATE = AutoConfig.for_model("mamba", hidden_size=32, num_hidden_layers=2)
MARKED = chat_tokenizer(added=["<tool_call>", "<|im_end|>", "<|end|>"])
PLAIN = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
SIZE = len(byte_level_tokenizer())
UNKNOWN = {"format": None, "self_check": None}
FOUND: dict[str, tuple[Any, Sequence[str], dict[str, Any], dict[str, Any], Sequence[str], Sequence[str]]] = {
    "a chat model of a known format": (
        MARKED, ("--dtype", "double"), {}, {
            "problems": [], "format": "hermes", "architecture": "LlamaForCausalLM", "model_type": "llama",
            "context": 4096, "dtype": "float64", "device": "cpu", "engine": "packed", "tokens": SIZE + 3,
            "vocabulary": SIZE + 3, "tokenizer_error": "", "chat_template": True, "prints_tools": True,
            "self_check": {"exact": len(CALLS), "tried": len(CALLS), "difference": ""},
            "marks": [{"text": "<tool_call>", "id": SIZE}, {"text": "</tool_call>", "id": None}],
            "bos": {"text": "<s>", "id": 0}, "eos": {"text": "</s>", "id": 1},
            "turn_ends": [
                {"text": "</s>", "id": 1, "from": "tokenizer, family"},
                {"text": "<pad>", "id": 2, "from": "generation configuration"},
                {"text": "<|im_end|>", "id": SIZE + 1, "from": "family"},
            ],
        },
        (), (
            "LlamaForCausalLM", "packed", "<tool_call>", "</s> (1)", "all is well", f"{len(CALLS)} of {len(CALLS)}",
            "</s> (1) from tokenizer, family; <pad> (2) from generation configuration",
        ),
    ),
    "more tokens than logits": (
        chat_tokenizer(), (), {"vocabulary": SIZE - 1}, {},
        (f"has {SIZE} tokens, but the model only {SIZE - 1} logits",), (),
    ),
    "no template": (chat_tokenizer(None), (), {}, UNKNOWN, ("no chat template", "--format"), ()),
    "an unknown format": (
        chat_tokenizer(HERMES.replace("tool_call>", "CALL>")), (), {}, UNKNOWN, ("in no known format", "--format"), (),
    ),
    "a template without tools": (
        chat_tokenizer(PLAIN), (), {}, {"self_check": {"exact": len(CALLS), "tried": len(CALLS), "difference": ""}},
        (), ("Tool Decoding prints them", "system: You can call"),
    ),
    "tokens that cannot be read": (words(), (), {"vocabulary": 16}, {"self_check": None}, ("",), ("cannot be read",)),
    "no end of a turn": (without_end(), (), {"shape": "gpt2"}, {"turn_ends": []}, ("eos_token",), ()),
    "what is asked for": (
        chat_tokenizer(), ("--strategy", "batched", "--format", "api-bank"), {},
        {"engine": "batched", "engine_reason": "batched was asked for", "format": "api-bank"},
        (), ("it was asked for, but the chat template",),
    ),
    "no packed engine": (
        chat_tokenizer(), (), {"shape": "bloom"}, {"engine": "batched"}, (), ("batched: it takes no position ids",),
    ),
    "a state": (chat_tokenizer(), (), {"config": STATE}, {"engine": "recurrent", "context": None}, (), ("state",)),
    "a short context": (chat_tokenizer(), (), {"config": SHORT}, {}, ("context is 64 tokens",), ()),
}  # fmt: skip
"""Name -> tokenizer, arguments, model, what is found, what the first problem says, and what is printed."""


@pytest.mark.parametrize("name", FOUND)
def test_what_is_found(cli: Cli, tmp_path: Path, name: str) -> None:
    tokenizer, arguments, model, found, problem, printed = FOUND[name]
    command = ("doctor", "--model", saved(tmp_path, tokenizer, **model), "--device", "cpu", *arguments)
    ran, text = cli(*command, "--json"), cli(*command)
    if model == {"shape": "bloom"}:
        assert_bad(cli(*command, "--strategy", "packed"), "packed")
    told = json.loads(ran.out)
    assert told | found == told and (ran.err, ran.code) == ("", bool(told["problems"])) and text.code == ran.code
    assert bool(told["problems"]) == bool(problem) and all(said in told["problems"][0] for said in problem)
    lines = [line for line in text.out.splitlines() if line.startswith("problem: ")]
    assert lines == [f"problem: {each}" for each in told["problems"]]
    assert all(part in text.out for part in printed), text.out


@pytest.mark.parametrize("call_format", CALL_FORMATS.values(), ids=lambda f: f.name)
def test_samples_are_decoded_exactly_in_every_format(call_format: CallFormat) -> None:
    checked = self_check(SyntheticDecoder(tiny_model("llama", SIZE), byte_level_tokenizer()), call_format)
    tried = sum(call_format.parallel or len(calls) == 1 for calls in CALLS.values())
    assert checked == {"exact": tried, "tried": tried, "difference": ""}
