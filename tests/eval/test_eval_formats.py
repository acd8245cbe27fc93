"""``eval`` with the calls of any format: prompts of a chat template, and predictions in the benchmark's own format."""

import json
from pathlib import Path
from shutil import copytree

import pytest
from transformers import AutoTokenizer

from command_line import Cli
from eval.benchmarks.samples import Sample
from eval.benchmarks.sgd.benchmark import SGD
from eval.methods.scored_text import ScoredText
from eval.options import EvalOptions
from lookup import extract
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS, NATIVE_FORMATS
from tools import documented

PYTHONIC = CALL_FORMATS["pythonic"]

TOOLS = extract([documented("f", ["city"], city={"type": "string"}, days={"type": "integer"})])
CALLS = [Call("f", {"city": "New York", "days": 3}), Call("f", {"city": "3"})]

HERMES = """\
{{ bos_token }}{% if tools %}Tools: {{ tools | tojson }}
{% endif %}{% for m in messages %}<turn of {{ m.role }}>
{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endfor %}</turn>
{% endfor %}{% if add_generation_prompt %}<turn of assistant>
{% endif %}"""


@pytest.mark.parametrize("call_format", NATIVE_FORMATS, ids=lambda f: f.name)
@pytest.mark.parametrize("before", ["", "Let me [see]. ", "<think>\n{no}\n</think>\n"])
def test_calls_of_any_format_are_scored_in_the_benchmarks(call_format, before: str) -> None:  # type: ignore[no-untyped-def]
    calls = CALLS if call_format.parallel else CALLS[:1]
    text = before + call_format.lead + call_format.render(calls)
    scored = ScoredText(call_format, PYTHONIC, as_it_stands=False)
    assert scored.of_text(text + "\n", TOOLS) == PYTHONIC.render(calls) == scored.of_calls(text, calls)
    assert scored.of_text(text[:-3], TOOLS) in (text[:-3], PYTHONIC.render(calls))  # some readers take a missing end
    one = call_format.render(calls[:1])
    half = before + one[: len(one) * 2 // 3]
    assert scored.of_text(half, TOOLS) == half
    assert scored.of_text("Nothing.", TOOLS) == "Nothing."


def test_what_is_scored() -> None:
    scored = ScoredText.of(EvalOptions(template="bfcl", format="pythonic"), "pythonic")
    assert scored.of_text("Well: [f(city='a')]", TOOLS) == "Well: [f(city='a')]"
    chat = ScoredText.of(EvalOptions(template="chat", format="pythonic"), "pythonic")
    assert chat.of_text("Well: [f(city='a')]", TOOLS) == "[f(city='a')]"
    hermes = ScoredText(CALL_FORMATS["hermes"], PYTHONIC, as_it_stands=False)
    unknown = CALL_FORMATS["hermes"].render([Call("g", {"x": [1]})])
    assert hermes.of_text(unknown, TOOLS) == "[g(x=[1])]", "the documentation need not know a call"


@pytest.fixture(scope="module")
def chat_model(tiny_model_path: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(copytree(tiny_model_path, tmp_path_factory.mktemp("chat") / "model"))
    tokenizer = AutoTokenizer.from_pretrained(path)
    tokenizer.chat_template = HERMES
    tokenizer.save_pretrained(path)
    return path


@pytest.mark.parametrize("method", ["greedy", "tooldec", "tool-decoding"])
@pytest.mark.parametrize("form", [[], ["--format", "qwen-xml"]], ids=["auto", "qwen-xml"])
def test_chat(
    cli: Cli, chat_model: str, data: Path, samples: list[Sample], tmp_path: Path, method: str, form: list[str]
) -> None:
    command = ["eval", "sgd", "--data", data, "--model", chat_model, "--out", tmp_path / "run", "--limit", "2"]
    command += ["--template", "chat", "--tool-choice", "required", "--max-text-tokens", "8", "--max-value-tokens", "4"]
    ran = cli(*command, "--max-thinking-tokens", "2", "--method", method, *form)
    assert ran.code == 0, ran.err
    settings = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert settings["format"] == (form[1] if form else "hermes")
    rows = [json.loads(line) for line in (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()]
    if method == "tool-decoding":
        for row in rows:
            sample = next(s for s in samples if s.id == row["id"])
            written = ScoredText.of(EvalOptions(template="chat", format=settings["format"]), SGD.call_format)
            assert SGD.judge(sample, row["prediction"]).error_type in ("wrong_name", "wrong_value", "wrong_count", None)
            assert written.of_text(row["written"], sample.documentation.lookup) == row["prediction"]


def test_a_model_without_a_chat_template(cli: Cli, tiny_model_path: str, data: Path, tmp_path: Path) -> None:
    command = ["eval", "sgd", "--data", data, "--model", tiny_model_path, "--out", tmp_path / "run"]
    ran = cli(*command, "--template", "chat")
    assert ran.code == 2 and "has no chat template; leave out --template chat" in ran.err
    assert not (tmp_path / "run").exists()
