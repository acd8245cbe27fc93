"""The corpora other than BFCL: the tools of each, in every format in which they are printed."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import indent
from typing import Any

import yaml

from parity import renderings
from parity.facts import Case
from parity.oracle import api_bank_tool, rapid_tool, renamed, schema_tool, seal_tool
from parity.oracle_openapi import expanded, openapi_tools, operation_tool, operations

Cases = Callable[[Path], Iterator[Case]]


@dataclass(frozen=True)
class Row:
    """A corpus in one format. ``target`` is the percentage of its tools that must agree."""

    corpus: str
    format: str
    target: float
    cases: Cases


def rows() -> list[Row]:
    """All rows of these corpora."""
    return [
        Row("SGD", "JSON", 100, lambda data: _sgd(data, lambda tools: json.dumps(tools, indent=1))),
        Row("SGD", "OpenAI JSON", 100, lambda data: _sgd(data, renderings.openai)),
        Row("API-Bank", "JSON lines", 100, _api_bank_lines),
        Row("API-Bank", "ToolSearcher results", 100, _tool_searcher),
        Row("Seal-Tools", "Python repr", 100, _seal_prompts),
        Row("Seal-Tools", "JSON lines", 100, _seal_lines),
        Row("ToolAlpaca", "OpenAPI JSON", 100, lambda data: _alpaca_openapi(data, lambda d: [json.dumps(d)])),
        Row("ToolAlpaca", "OpenAPI YAML", 99, _alpaca_yaml),
        Row("StableToolBench", "JSON", 100, lambda data: _rapid(data, json.dumps)),
        Row("StableToolBench", "Python repr", 100, lambda data: _rapid(data, repr)),
        Row("StableToolBench", "JSON, names twice", 100, _rapid_renamed),
        Row("RestBench", "OpenAPI JSON", 100, lambda data: _rest_bench(data, json.dumps)),
        Row("RestBench", "OpenAPI YAML", 99, lambda data: _rest_bench(data, lambda d: yaml_text(d, sort_keys=False))),
        Row("RestBench", "RestGPT blocks", 99, _rest_gpt),
    ]


FRAMES = (
    ("You compose functions. [Use] {only} these:\n", "\n\nQuestion: QUESTION\n"),
    (
        "<|im_start|>system\nYou may call one or more functions (e.g. f(x)).\n\n# Tools\n\n",
        "\n<|im_end|>\n<|im_start|>user\nQUESTION<|im_end|>\n<|im_start|>assistant\n",
    ),
    ("SYSTEM: answer in the format [func(key='value')], nothing else.\n\n```\n", "\n```\nUser: QUESTION\nAssistant:"),
    ("Here is a list of functions in JSON, XML or Python format that you can invoke.\n", "\n\n### User: QUESTION\n"),
)
_LAYOUTS = len(FRAMES) + 2


def prompt(text: str, question: str, number: int) -> str:
    """Documentation with other text around it, in one of several layouts, such as indented or with CRLF."""
    layout = number % _LAYOUTS
    before, after = FRAMES[layout % len(FRAMES)]
    if layout == len(FRAMES):
        text = indent(text, "    ")
    whole = f"{before}{text}{after.replace('QUESTION', question)}"
    return whole.replace("\n", "\r\n") if layout == len(FRAMES) + 1 else whole


def yaml_text(value: Any, **settings: Any) -> str:
    """The value as YAML."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return yaml.dump(value, Dumper=dumper, **settings)


def fenced(text: str) -> str:
    """YAML in a code fence, as prompts carry it."""
    return f"```yaml\n{text.rstrip()}\n```"


def yaml_texts(value: Any) -> Iterator[str]:
    """The value in several styles of YAML."""
    yield yaml_text(value, sort_keys=False)
    yield yaml_text(value, sort_keys=False, allow_unicode=True, width=1000, indent=4)
    yield yaml_text(value, sort_keys=False, default_flow_style=None, width=60)
    yield yaml_text(value, sort_keys=False, default_style='"', explicit_start=True)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def groups(entries: list[Any], size: int) -> Iterator[tuple[int, list[Any]]]:
    """Consecutive groups, each with its number."""
    for number, start in enumerate(range(0, len(entries), size)):
        yield number, entries[start : start + size]


def _sgd(data: Path, printed: Callable[[list[dict[str, Any]]], str]) -> Iterator[Case]:
    for number, path in enumerate(sorted((data / "sgd").glob("*_tools*.json"))):
        tools = _read(path)
        expected = renamed([(schema_tool(tool), "") for tool in tools])
        yield Case(path.stem, prompt(printed(tools), "Find me a bus.", number), expected, on_duplicate="rename")


def _api_bank_lines(data: Path) -> Iterator[Case]:
    path = data / "api-bank" / "api_descriptions.jsonl"
    documents = read_lines(path)
    yield Case(path.name, path.read_text(encoding="utf-8"), list(map(api_bank_tool, documents)), origin=str(path))
    for number, group in groups(documents, 4):
        text = prompt(renderings.json_lines(group), "Book a meeting.", number)
        yield Case(f"{path.name}, group {number}", text, list(map(api_bank_tool, group)))


def _tool_searcher(data: Path) -> Iterator[Case]:
    for path in sorted((data / "api-bank" / "level-2-toolsearcher").glob("*.jsonl")):
        documents = []
        for row in read_lines(path):
            output = row["result"].get("output") if row["role"] == "API" else None
            listed = output if isinstance(output, list) else [output]
            documents += [d for d in listed if isinstance(d, Mapping) and "input_parameters" in d]
        if documents:
            expected = renamed([(api_bank_tool(document), "") for document in documents])
            text = path.read_text(encoding="utf-8")
            yield Case(path.stem, text, expected, origin=str(path), on_duplicate="rename")


def _seal_prompts(data: Path) -> Iterator[Case]:
    for number, group in groups(read_lines(data / "seal-tools" / "tool.jsonl"), 5):
        text = renderings.seal_prompt(group, 'Tell me the details of the film "Pulp Fiction".')
        yield Case(f"tools {5 * number + 1}-", text, list(map(seal_tool, group)))


def _seal_lines(data: Path) -> Iterator[Case]:
    path = data / "seal-tools" / "tool.jsonl"
    expected = list(map(seal_tool, read_lines(path)))
    yield Case(path.name, path.read_text(encoding="utf-8"), expected, origin=str(path))


def _alpaca_openapi(data: Path, printed: Callable[[Any], Iterable[str]]) -> Iterator[Case]:
    found = [api for path in sorted((data / "toolalpaca").glob("eval_*.json")) for api in _read(path)]
    for number, entry in enumerate(found):
        if "Documentation" in entry:
            document = json.loads(entry["Documentation"])
            expected = openapi_tools(document)
            for style, text in enumerate(printed(document)):
                yield Case(f"{entry['Name']}, style {style}", text, expected)
                text = prompt(text if text.startswith("{") else fenced(text), entry["Instructions"][0], number)
                yield Case(f"{entry['Name']}, style {style}, in a prompt", text, expected)


def _alpaca_yaml(data: Path) -> Iterator[Case]:
    yield from _alpaca_openapi(data, yaml_texts)
    for case in _alpaca_openapi(data, lambda d: [yaml_text(d, default_flow_style=True, sort_keys=False)]):
        if "prompt" not in case.id:
            yield replace(case, origin="openapi.yaml")


def _rapid_queries(data: Path) -> list[dict[str, Any]]:
    found = []
    for path in sorted((data / "stabletoolbench").glob("*instruction*.json")):
        found += _read(path)
    return found


def _rapid(data: Path, printed: Callable[[Any], str]) -> Iterator[Case]:
    for number, query in enumerate(_rapid_queries(data)):
        documents = query["api_list"]
        expected = renamed([(rapid_tool(d), d["tool_name"]) for d in documents])
        text = prompt(printed(documents), query["query"], number)
        yield Case(f"query {query['query_id']}", text, expected, on_duplicate="rename")


def _rapid_renamed(data: Path) -> Iterator[Case]:
    """Several prompts in one, so that names repeat: in two collections, or of the same tool."""
    for number, group in groups(_rapid_queries(data), 6):
        documents = [document for query in group for document in query["api_list"]]
        expected = renamed([(rapid_tool(d), d["tool_name"]) for d in documents])
        yield Case(f"group {number}", json.dumps(documents), expected, on_duplicate="rename")


def _rest_bench(data: Path, printed: Callable[[Any], str]) -> Iterator[Case]:
    for path in sorted((data / "restbench").glob("*_oas.json")):
        document = _read(path)
        yield Case(path.name, printed(document), openapi_tools(document))


def _rest_gpt(data: Path) -> Iterator[Case]:
    """RestGPT's blocks: keys sorted, lines folded, without the parameters of the path."""
    for document_path in sorted((data / "restbench").glob("*_oas.json")):
        document = _read(document_path)
        for number, group in groups(list(operations(document)), 4):
            blocks, expected = [], []
            for method, path, operation, _ in group:
                title = f"{method.upper()} {path}"
                kept = {key: expanded(document, operation[key]) for key in _REST_GPT_KEYS if key in operation}
                kept["responses"] = operation["responses"]
                blocks.append(f"== Docs for {title} == \n{yaml_text(kept)}\n")
                expected.append(operation_tool(document, title, path, kept, {}))
            name, text = f"{document_path.name}, group {number}", "".join(blocks)
            yield Case(name, prompt(text, "Who directed it?", number), expected)
            template = text.replace("{", "{{").replace("}", "}}")
            yield Case(f"{name}, template", prompt(template, "{input}", number), expected)


_REST_GPT_KEYS = ("description", "parameters", "requestBody")
