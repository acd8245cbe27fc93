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
from eval.benchmarks.bfcl.benchmark import BFCL_LIVE, BFCL_V1
from eval.benchmarks.bfcl.function_calling import offered_tools
from eval.benchmarks.bfcl.java_values import java_texts, read_java
from eval.benchmarks.bfcl.javascript_values import javascript_texts, read_javascript
from eval.benchmarks.faults import ScorerCrash
from eval.benchmarks.function_calls import FUNCTION_CALLS, read_function_calls
from eval.benchmarks.python_calls import CallDecodeError
from eval.benchmarks.registry import choose_categories
from eval.benchmarks.samples import Sample
from eval.errors import EvalError
from eval.runs.predictions import read_predictions
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

JAVA: dict[str, Any] = {
    "name": "Shop.buy",
    "description": "Buys.",
    "parameters": {
        "type": "dict",
        "properties": {
            "count": {"type": "long", "description": "How many."},
            "names": {"type": "ArrayList", "description": "Which.", "items": {"type": "String"}},
            "who": {"type": "any", "description": "Who."},
        },
        "required": ["count"],
    },
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "bfcl"
    write(data, "BFCL_v4_live_simple.json", question("live_simple_0-0-0", function=[TOOL]))
    write(data, "possible_answer/BFCL_v4_live_simple.json", answer("live_simple_0-0-0", ground_truth=TRUTH))
    write(data, "BFCL_v4_live_irrelevance.json", question("live_irrelevance_0-0-0", function=[TOOL]))
    write(data, "BFCL_v4_simple_java.json", question("simple_java_0", function=[JAVA]))
    truth = [{"Shop.buy": {"count": [5], "names": [["a", "b"]], "who": ["me"]}}]
    write(data, "possible_answer/BFCL_v4_simple_java.json", answer("simple_java_0", ground_truth=truth))
    return data


def sample(folder: Path, category: str = "live_simple") -> Sample:
    benchmark = BFCL_V1 if "java" in category else BFCL_LIVE
    [found] = benchmark.of_template("chat", [category]).load(str(folder), [category])
    return found


def written(*calls: Call) -> str:
    return FUNCTION_CALLS.render(calls)


def test_the_tools_that_are_sent() -> None:
    [tool] = offered_tools([TOOL], "live_simple")
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


def test_parameters_of_other_languages_are_texts() -> None:
    [tool] = offered_tools([JAVA], "simple_java")
    assert tool["function"]["description"].endswith(" in Java 8 SDK syntax.")
    rows = tool["function"]["parameters"]["properties"]
    assert {row["type"] for row in rows.values()} == {"string"} and not any("items" in row for row in rows.values())
    assert rows["count"]["description"] == "How many. This is Java long type parameter in string representation."
    assert "elements are of type String; they are not" in rows["names"]["description"]
    assert rows["who"]["description"].endswith("any type of Java object in string representation.")
    inner = {"type": "dict", "description": "D.", "properties": {"a": {"type": "float"}}}
    function = {"name": "f", "description": "", "parameters": {"type": "dict", "properties": {"d": inner}}}
    [tool] = offered_tools([function], "simple_javascript")
    row = tool["function"]["parameters"]["properties"]["d"]
    assert row["type"] == "string" and row["description"].endswith(json.dumps(inner["properties"]))


def test_a_sample_has_the_tools_that_are_sent(folder: Path) -> None:
    found = sample(folder)
    assert found.documentation.as_chat_tools() == offered_tools([TOOL], "live_simple")
    assert list(found.documentation.lookup) == ["shop_buy"] == [call.name for call in found.calls]
    assert BFCL_LIVE.describe(found) == {"id": found.id, "category": "live_simple", "mode": "function-calling"}
    [prompted] = BFCL_LIVE.of_template("bfcl", ["live_simple"]).load(str(folder), ["live_simple"])
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
    right = not read_or_none(prediction)
    assert BFCL_LIVE.judge(sample(folder, "live_irrelevance"), prediction).correct is right


def read_or_none(prediction: str) -> list[Call]:
    try:
        return read_function_calls(prediction)
    except CallDecodeError:
        return []


def test_a_key_that_no_python_call_can_carry(folder: Path) -> None:
    """``from`` is a word of Python: in prompt mode no answer with it can be read."""
    prompted = BFCL_LIVE.load(str(folder), ["live_simple"])[0]
    assert not BFCL_LIVE.judge(prompted, "[shop.buy(price=3.0, from='me')]").correct
    assert BFCL_LIVE.satisfiable(sample(folder))


@pytest.mark.parametrize("text", ["[" * 50_000, "1" * 200_000, '[{"f": "' + "[" * 20_000 + '"}]'])
def test_hostile_predictions_are_no_calls(text: str) -> None:
    with pytest.raises(CallDecodeError):
        read_function_calls(text)


def test_java_needs_function_calling(folder: Path, tmp_path: Path) -> None:
    default = choose_categories(BFCL_V1, [])
    assert "simple_java" not in default and "simple_python" in default
    assert choose_categories(BFCL_V1, ["simple_java"]) == ("simple_java",)
    said = r"simple_java: in prompt mode its calls are written in Java, which is not read here; .*--template chat"
    with pytest.raises(EvalError, match=said):
        BFCL_V1.of_template("bfcl", ["simple_java"])
    path = tmp_path / "p.jsonl"
    row = {"id": "simple_java_0", "prediction": "[Shop.buy(count=5L)]"}
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(EvalError, match=rf"p\.jsonl:1: {said}"):
        read_predictions(path, BFCL_V1, BFCL_V1.load(str(folder), ["simple_java"]), repeats=False)
    path.write_text(json.dumps(row | {"mode": "fc"}) + "\n")
    with pytest.raises(EvalError, match="expected the mode function-calling, or none for prompt mode, found 'fc'"):
        read_predictions(path, BFCL_V1, BFCL_V1.load(str(folder), ["simple_java"]), repeats=False)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"count": "5L", "names": 'new ArrayList<>(Arrays.asList("a", "b"))', "who": "me"}, None),
        ({"count": "5", "names": 'new ArrayList<>(Arrays.asList("a", "b"))', "who": "me"}, "type_error:simple"),
        ({"count": 5}, "type_error:java"),
        ({"count": "5L", "names": 'new ArrayList<>(Arrays.asList("a"))', "who": "me"}, "value_error:list/tuple"),
    ],
)
def test_java_verdicts(folder: Path, arguments: dict[str, Any], error: str | None) -> None:
    found = sample(folder, "simple_java")
    assert BFCL_V1.satisfiable(found)
    assert BFCL_V1.judge(found, written(Call("Shop_buy", arguments))).error_type == error


@pytest.mark.parametrize(
    ("text", "kind", "element", "value"),
    [
        ("12", "integer", None, 12), ("1.5", "integer", None, "1.5"), ("-7l", "long", None, -7),
        ("2.5f", "float", None, 2.5), ("2.5", "float", None, "2.5"), ("2e3", "double", None, 2000.0),
        ("true", "boolean", None, True), ("True", "boolean", None, "True"), ("x", "any", None, "x"),
        ("new int[] {1, 2}", "Array", "integer", [1, 2]), ('new String[]{"a"}', "Array", "String", ['"a"']),
        ("ints[]", "Array", "integer", "ints[]"), ("new ArrayList<>()", "ArrayList", "any", []),
        ('new ArrayList<String>() {{ add("a"); add("b c"); }}', "ArrayList", "String", ["a", "b c"]),
        ("new ArrayList<Long>(Arrays.asList(1L, 2))", "ArrayList", "long", [1, "2"]),
        ('new HashMap<String, Object>() {{ put("a", 1); put("b", true); }}', "HashMap", None, {"a": 1, "b": True}),
        ("new HashMap<>()", "HashMap", None, {}), ("map", "HashMap", None, "map"),
    ],
)  # fmt: skip
def test_java_values(text: str, kind: str, element: str | None, value: Any) -> None:
    found = read_java(text, kind, element)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "kind", "element", "value"),
    [
        ("'a'", "String", None, "a"), ("a", "String", None, "a"), ("12", "integer", None, 12),
        ("3", "float", None, 3.0), ("x", "float", None, "x"), ("5n", "Bigint", None, 5), ("5", "Bigint", None, "5"),
        ("false", "Boolean", None, False), ("x", "any", None, "x"), (" [1, 2] ", "array", "integer", [1, 2]),
        ("['a', \"b\"]", "array", "String", ["a", "b"]), ("new Array(1, x)", "array", "integer", [1, "x"]),
        ("[]", "array", "String", []), ("[[1, 2], ['x']]", "array", "array", [[1, 2], ["x"]]),
        ("new Array([1], [2])", "array", "array", [[1], [2]]), ("[[1], 2]", "array", "String", ["[1"]),
        ("list", "array", "String", "list"), ("{}", "dict", None, {}), ("obj", "dict", None, "obj"),
        ("{a: 1, 'b': 'x', c: [1, true]}", "dict", None, {"a": 1, "b": "x", "c": [1, True]}),
    ],
)  # fmt: skip
def test_javascript_values(text: str, kind: str, element: str | None, value: Any) -> None:
    found = read_javascript(text, kind, element)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "unit", ["new HashMap<", "new int[]{", "new ArrayList<>(Arrays.asList(", "[[", "[[1], [", "{a: ", "new Array(["]
)
def test_hostile_values_stay_texts(unit: str) -> None:
    for text in (unit * 300, unit * 5_000):
        assert all(
            read_java(text, *kind) == text for kind in (("Array", "any"), ("ArrayList", "any"), ("HashMap", None))
        )
        assert text.strip() in (read_javascript(text, "array", "any"), read_javascript(text, "dict", None))


def test_what_ends_the_official_converter_is_a_crash() -> None:
    with pytest.raises(ScorerCrash, match="too large"):
        read_java("1" * 5_000, "integer", None)
    with pytest.raises(ScorerCrash, match="Queue"):
        read_java("x", "Queue", None)


@pytest.mark.parametrize("value", [1, 1.5, True, "a b", ["a", "b"], [1, 2], [], {"a": 1, "b": "x"}])
def test_what_is_written_reads_back(value: Any) -> None:
    java = [("integer", None), ("long", None), ("double", None), ("boolean", None), ("String", None), ("HashMap", None)]
    java += [(kind, element) for kind in ("Array", "ArrayList") for element in ("String", "integer")]
    assert any(read_java(text, *kind) == value for text in java_texts(value) for kind in java)
    other = [("integer", None), ("float", None), ("Boolean", None), ("String", None), ("dict", None)]
    other += [("array", "String"), ("array", "integer")]
    assert any(read_javascript(text, *kind) == value for text in javascript_texts(value) for kind in other)


@needs_data
def test_what_can_be_right_in_prompt_mode_can_be_right_here() -> None:
    for category in ("live_simple", "live_parallel_multiple"):
        prompted = BFCL_LIVE.load(str(DATA / "bfcl"), [category])
        called = BFCL_LIVE.of_template("chat", [category]).load(str(DATA / "bfcl"), [category])
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


def test_prompt_mode_in_java_is_refused_before_anything_is_loaded(cli: Cli, folder: Path, tmp_path: Path) -> None:
    command = ["eval", "bfcl-v1", "--data", folder, "--model", "none", "--category", "simple_java"]
    ran = cli(*command, "--out", tmp_path / "run")
    assert ran.code == 2 and "simple_java: in prompt mode its calls are written in Java" in ran.err
