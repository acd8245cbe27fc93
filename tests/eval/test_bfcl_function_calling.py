"""BFCL in function-calling mode: the tools that are sent, the calls that come back, and the verdicts on them."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from test_bfcl_data import answer, question, write
from transformers import AutoTokenizer

from command_line import Ran
from data import DATA, needs_data
from eval.benchmarks.bfcl.benchmark import BFCL_LIVE
from eval.benchmarks.bfcl.function_calling import offered_tools
from eval.benchmarks.function_calls import FUNCTION_CALLS, read_function_calls
from eval.benchmarks.python_calls import CallDecodeError
from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from tooldecoding.formats.call_format import Call

Cli = Callable[..., Ran]

TOOL: dict[str, Any] = {
    "name": "shop.buy",
    "description": "Buys.",
    "parameters": {
        "type": "dict",
        "properties": {
            "price": {"type": "float", "description": "In euro."},
            "from": {"type": "any", "description": "Who."},
            "tags": {"type": "tuple", "items": {"type": "dict", "properties": {"x": {"type": "bool"}}}},
            "size": {},
        },
        "required": ["price", "from"],
    },
}
TRUTH = [{"shop.buy": {"price": [3.0], "from": ["me", "you"], "tags": [[{"x": [True]}], ""], "size": ["L", ""]}}]
RIGHT = {"price": 3, "from": "Me."}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "bfcl"
    write(data, "BFCL_v4_live_simple.json", question("live_simple_0-0-0", function=[TOOL]))
    write(data, "possible_answer/BFCL_v4_live_simple.json", answer("live_simple_0-0-0", ground_truth=TRUTH))
    write(data, "BFCL_v4_live_irrelevance.json", question("live_irrelevance_0-0-0", function=[TOOL]))
    return data


def sample(folder: Path, category: str = "live_simple") -> Sample:
    [found] = BFCL_LIVE.of_template("chat").load(str(folder), [category])
    return found


def written(*calls: Call) -> str:
    return FUNCTION_CALLS.render(calls)


def test_the_tools_that_are_sent() -> None:
    [tool] = offered_tools([TOOL])
    assert tool["type"] == "function"
    assert tool["function"]["name"] == "shop_buy"
    assert tool["function"]["description"] == "Buys. Note that the provided function is in Python 3 syntax."
    parameters = tool["function"]["parameters"]
    assert (parameters["type"], parameters["required"]) == ("object", ["price", "from"])
    price = {"type": "number", "description": "In euro. This is a float type value.", "format": "float"}
    tags = {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "boolean"}}}}
    assert parameters["properties"] == {
        "price": price,
        "from": {"type": "string", "description": "Who."},
        "tags": tags,
        "size": {"type": "string"},
    }
    assert TOOL["name"] == "shop.buy" and TOOL["parameters"]["type"] == "dict", "the entry stays as it is"


def test_a_sample_has_the_tools_that_are_sent(folder: Path) -> None:
    found = sample(folder)
    assert found.documentation.as_chat_tools() == offered_tools([TOOL])
    assert list(found.documentation.lookup) == ["shop_buy"] == [call.name for call in found.calls]
    assert BFCL_LIVE.describe(found) == {"id": found.id, "category": "live_simple", "mode": "function-calling"}
    [prompted] = BFCL_LIVE.of_template("bfcl").load(str(folder), ["live_simple"])
    assert list(prompted.documentation.lookup) == ["shop.buy"] and "mode" not in BFCL_LIVE.describe(prompted)


@pytest.mark.parametrize(
    ("prediction", "error"),
    [
        (written(Call("shop_buy", RIGHT)), None),
        (written(Call("shop_buy", RIGHT | {"tags": [{"x": True}]})), None),
        (written(Call("shop.buy", RIGHT)), "simple_function_checker:wrong_func_name"),
        (written(Call("shop_buy", {"price": 3})), "simple_function_checker:missing_required"),
        (written(Call("shop_buy", RIGHT | {"size": "L"})), "official_scorer:crash"),  # a key without a type
        (written(Call("shop_buy", RIGHT | {"price": "3"})), "type_error:simple"),
        (written(Call("shop_buy", RIGHT), Call("shop_buy", RIGHT)), "simple_function_checker:wrong_count"),
        ("[]", "simple_function_checker:wrong_count"),
        ("", "simple_function_checker:wrong_count"),
        ("[shop_buy(price=3, from='me')]", "ast_decoder:decoder_failed"),
        ("I cannot.", "ast_decoder:decoder_failed"),
        ('[{"shop_buy": {"price": 3, "from": "me"}}]', "ast_decoder:decoder_failed"),
        ('[{"shop_buy": "{"}]', "ast_decoder:decoder_failed"),
        ('[{"shop_buy": "[3]"}]', "ast_decoder:decoder_wrong_output_format"),
    ],
)
def test_verdicts(folder: Path, prediction: str, error: str | None) -> None:
    judgement = BFCL_LIVE.judge(sample(folder), prediction)
    assert (judgement.correct, judgement.error_type) == (error is None, error)
    irrelevant = BFCL_LIVE.judge(sample(folder, "live_irrelevance"), prediction)
    assert irrelevant.correct is not bool(irrelevant.calls)


def test_another_mode(folder: Path, tmp_path: Path) -> None:
    """``from`` is a word of Python: in prompt mode no answer with it can be read. Rows name the mode."""
    [prompted] = BFCL_LIVE.load(str(folder), ["live_simple"])
    assert not BFCL_LIVE.judge(prompted, "[shop.buy(price=3.0, from='me')]").correct
    assert BFCL_LIVE.satisfiable(sample(folder)) and BFCL_LIVE.sample_of({"mode": "function-calling"}, prompted).calls
    with pytest.raises(EvalError, match="expected the mode function-calling, or none for prompt mode, found 'fc'"):
        BFCL_LIVE.sample_of({"mode": "fc"}, prompted)


@pytest.mark.parametrize("text", ["[" * 50_000, "1" * 200_000, '[{"f": "' + "[" * 20_000 + '"}]'])
def test_hostile_predictions_are_no_calls(text: str) -> None:
    with pytest.raises(CallDecodeError):
        read_function_calls(text)


@needs_data
def test_what_can_be_right_in_prompt_mode_can_be_right_here() -> None:
    for category in ("live_simple", "live_parallel_multiple"):
        prompted = BFCL_LIVE.load(str(DATA / "bfcl"), [category])
        called = BFCL_LIVE.of_template("chat").load(str(DATA / "bfcl"), [category])
        for one, other in zip(prompted, called, strict=True):
            assert BFCL_LIVE.satisfiable(one) == BFCL_LIVE.satisfiable(other), one.id


@pytest.fixture(scope="module")
def chat_model(tiny_model_path: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(copytree(tiny_model_path, tmp_path_factory.mktemp("chat") / "model"))
    tokenizer = AutoTokenizer.from_pretrained(path)
    tokenizer.chat_template = (
        "{{ tools | tojson }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls or [] %}"
        '<tool_call>\n{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\n</tool_call>'
        "{% endfor %}{% endfor %}"
    )
    tokenizer.save_pretrained(path)
    return path


def test_eval_score_and_export(cli: Cli, chat_model: str, folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = ["eval", "bfcl-live", "--data", folder, "--model", chat_model, "--category", "live_simple"]
    command += ["--template", "chat", "--tool-choice", "required", "--max-value-tokens", "4", "--out", run]
    ran = cli(*command, "--max-thinking-tokens", "2", "--order-limit", "1")
    assert ran.code == 0, ran.err
    [row] = [json.loads(line) for line in (run / "predictions.jsonl").read_text().splitlines()]
    assert (row["mode"], row["prompt_tokens"] > 10) == ("function-calling", True)
    calls = read_function_calls(row["prediction"])
    assert calls and all(call.name == "shop_buy" and set(RIGHT) <= set(call.arguments) for call in calls)
    same = ["--data", folder, "--category", "live_simple", "--predictions", run / "predictions.jsonl"]
    assert cli("score", "bfcl-live", *same, "--out", tmp_path / "scores.jsonl").code == 0
    assert (tmp_path / "scores.jsonl").read_text() == (run / "scores.jsonl").read_text()
    name = ["--model-name", "openbmb/MiniCPM-SALA-FC"]
    assert cli("export", "bfcl-live", *same, "--out", tmp_path / "official", *name).code == 0
    [path] = (tmp_path / "official").rglob("*_result.json")
    assert json.loads(path.read_text())["result"] == json.loads(row["prediction"])
