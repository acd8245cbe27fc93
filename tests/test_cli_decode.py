"""``tooldecoding decode``: what it prints, and one clear message with exit code 2 for every bad input."""

import json
from pathlib import Path

import pytest

from command_line import CASES, Cli, assert_bad
from tiny_models import sentencepiece_tokenizer, tiny_model
from tools import documented

TOOLS = CASES / "tools.jsonl"
DIALOGUE = CASES / "dialogue.jsonl"
BOTH = ["--tools", TOOLS, "--dialogue", DIALOGUE]
TOKENS = {"forced_tokens", "constrained_tokens", "free_tokens"}
COUNTERS = {"forward_passes", "positions", "reused_positions", "padding", *TOKENS, "cache_bytes", "seconds"}


@pytest.fixture
def decode(cli: Cli, tiny_model_path: str) -> Cli:
    return lambda *arguments: cli("decode", "--model", tiny_model_path, "--max-value-tokens", 6, *arguments)


def test_json_is_as_documented(decode: Cli) -> None:
    ran = decode("--tools", TOOLS, "--dialogue", DIALOGUE, "--tool-choice", "BookTable", "--json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert list(result) == [
        "id", "format", "text", "thinking", "content", "calls", "valid", "errors", "repeated", "candidates",
        "counters",
    ]  # fmt: skip
    assert result["id"] == "dialogue"
    (call,) = result["calls"]
    assert call["name"] == "BookTable"
    assert list(call["arguments"]) == ["restaurant", "time", "people"]
    assert isinstance(call["arguments"]["people"], int)
    assert all({"name", "value", "votes", "share", "logprob"} <= set(p) for p in call["parameters"])
    assert len(result["candidates"]) == 6
    assert set(result["counters"]) >= COUNTERS


def test_what_the_model_writes_by_itself_is_shown_beside(decode: Cli, tmp_path: Path) -> None:
    some = ["--tools", TOOLS, "--dialogue", DIALOGUE, "--max-text-tokens", 9]
    alone = json.loads(decode(*some, "--tool-choice", "none", "--json").out)
    both = json.loads(decode(*some, "--tool-choice", "BookTable", "--show-greedy", "--json").out)
    assert both["calls"] and both["greedy"]["text"] == alone["text"]
    assert both["greedy"]["forward_passes"] == alone["counters"]["forward_passes"], "the prompt is read again"
    shown = decode(*some, "--tool-choice", "BookTable", "--show-greedy").out
    assert "the model by itself" in shown and "BookTable(" in shown.partition("the model by itself")[2]
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"prompt": "x"}\n')
    assert_bad(decode("--tools", TOOLS, "--batch", rows, "--show-greedy"), "--show-greedy is for a single prompt")


@pytest.mark.parametrize(("dtype", "found"), [("torch.bfloat16", "bfloat16"), ("double", "float64")])
def test_types_of_weights_have_torchs_names(cli: Cli, tiny_model_path: str, dtype: str, found: str) -> None:
    ran = cli("doctor", "--model", tiny_model_path, "--device", "cpu", "--dtype", dtype)
    assert ran.code == 1 and f"{found} on cpu" in ran.out, ran


def test_a_prompt_with_tools_shows_them_to_the_model(decode: Cli) -> None:
    some = ["--tools", TOOLS, "--prompt", "Cancel table 7.", "--order-limit", 1]
    ran = decode(*some)
    assert ran.code == 0 and "User: Cancel table 7.\nAPI-Request: [" in ran.out, ran
    assert "Cancel table 7.[" in decode(*some, "--template", "raw").out


def test_a_template_that_does_not_fit_is_warned_of(decode: Cli) -> None:
    ran = decode("--tools", TOOLS, "--dialogue", DIALOGUE, "--format", "pythonic", "--order-limit", 1, "--json")
    assert ran.code == 0 and ran.err.startswith("warning: the template api-bank asks"), ran


def test_keys_of_unknown_requiredness(decode: Cli, tmp_path: Path) -> None:
    docs = tmp_path / "docs.json"
    keys = {"a": {"type": "integer"}, "b": {"type": "boolean"}, "c": {"type": "integer", "default": 1}}
    docs.write_text(json.dumps({"name": "f", "arguments": {"type": "object", "properties": keys}}))
    ran = decode("--tools", docs, "--prompt", "Go.", "--json", "--unknown-keys", "required")
    (call,) = json.loads(ran.out)["calls"]
    assert {"a", "b"} <= call["arguments"].keys()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*BOTH, "--dtype", "fp8"], ["--dtype", "such as float64 or torch.bfloat16, got 'fp8'"]),
        ([*BOTH, "--dtype", "float65"], ["unknown dtype 'float65'"]),
        ([*BOTH, "--template", "chat"], ["no chat template"]),
        ([*BOTH, "--tool-choice", "Nothing"], ["unknown tool_choice 'Nothing'", "BookTable"]),
        (["--prompt", "hello"], ["<prompt>", "no tool documentation found"]),
        (["--dialogue", DIALOGUE], ["--tools DOCS"]),
    ],
)
def test_what_cannot_be_decoded(decode: Cli, arguments: list[object], said: list[str]) -> None:
    assert_bad(decode(*arguments), *said)


def test_a_tokenizer_without_the_needed_characters(cli: Cli, tmp_path: Path) -> None:
    tokenizer = sentencepiece_tokenizer(byte_fallback=False)
    tokenizer.save_pretrained(tmp_path)
    tiny_model("llama", len(tokenizer)).save_pretrained(tmp_path)
    docs = tmp_path / "docs.json"
    docs.write_text(json.dumps(documented("f", 城市={"type": "string"})))
    ran = cli("decode", "--model", tmp_path, "--tools", docs, "--prompt", "x")
    assert_bad(ran, "has no token for '城'", "byte-level or byte-fallback tokens")
