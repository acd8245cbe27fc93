"""The tools of each corpus as it prints them, with what a structural reader of the same data finds."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

import yaml

from parity.facts import Case
from parity.oracle import api_bank_tool, rapid_tool, renamed, schema_tool, seal_tool
from parity.oracle_openapi import expanded, openapi_tools, operation_tool, operations


@dataclass(frozen=True)
class Row:
    """A corpus in one format; one case in ``step`` is read."""

    title: str
    cases: Callable[[Path], Iterator[Case]]
    step: int = 1


def rows() -> list[Row]:
    """All rows."""
    return [
        Row("BFCL live", lambda data: _bfcl(data, "live_*")),
        Row("BFCL V1", lambda data: _bfcl(data, "[!l]*[!at]")),
        Row("SGD", _sgd),
        Row("API-Bank, lines", _api_bank_lines),
        Row("API-Bank, ToolSearcher", _tool_searcher),
        Row("Seal-Tools", _seal_prompts, 8),
        Row("ToolAlpaca, OpenAPI in JSON", lambda data: _alpaca(data, lambda d: [json.dumps(d)])),
        Row("ToolAlpaca, OpenAPI in YAML", lambda data: _alpaca(data, _yaml_texts), 8),
        Row("StableToolBench", _rapid),
        Row("RestBench, OpenAPI in JSON", lambda data: _rest_bench(data, json.dumps)),
        Row("RestBench, OpenAPI in YAML", lambda data: _rest_bench(data, lambda d: _yaml_text(d, sort_keys=False))),
        Row("RestBench, RestGPT's blocks", _rest_gpt, 8),
    ]


# The users of these entries paste documentation of other tools.
_DECOYS = tuple(
    f"live_{kind}_{number}-"
    for kind, numbers in (("simple", [78]), ("multiple", [125]), ("irrelevance", [91, 121, 257, 421, 517, 518, 765]))
    for number in numbers
)
_FRAMES = (
    ("You compose functions. [Use] {only} these:\n", "\n\nQuestion: QUESTION\n"),
    (
        "<|im_start|>system\nYou may call one or more functions (e.g. f(x)).\n\n# Tools\n\n",
        "\n<|im_end|>\n<|im_start|>user\nQUESTION<|im_end|>\n<|im_start|>assistant\n",
    ),
    ("SYSTEM: answer in the format [func(key='value')], nothing else.\n\n```\n", "\n```\nUser: QUESTION\nAssistant:"),
    ("Here is a list of functions in JSON, XML or Python format that you can invoke.\n", "\n\n### User: QUESTION\n"),
)
_REST_GPT_KEYS = ("description", "parameters", "requestBody")


def _prompt(text: str, question: str, number: int) -> str:
    """Documentation with other text around it, in one of several layouts, such as indented or with CRLF."""
    layout = number % (len(_FRAMES) + 2)
    before, after = _FRAMES[layout % len(_FRAMES)]
    if layout == len(_FRAMES):
        text = indent(text, "    ")
    whole = f"{before}{text}{after.replace('QUESTION', question)}"
    return whole.replace("\n", "\r\n") if layout == len(_FRAMES) + 1 else whole


def _yaml_text(value: Any, **settings: Any) -> str:
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return yaml.dump(value, Dumper=dumper, **settings)


def _yaml_texts(value: Any) -> Iterator[str]:
    """The value in several styles of YAML."""
    yield _yaml_text(value, sort_keys=False)
    yield _yaml_text(value, sort_keys=False, allow_unicode=True, width=1000, indent=4)
    yield _yaml_text(value, sort_keys=False, default_flow_style=None, width=60)
    yield _yaml_text(value, sort_keys=False, default_style='"', explicit_start=True)


def _read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _groups(entries: list[Any], size: int) -> Iterator[tuple[int, list[Any]]]:
    for number, start in enumerate(range(0, len(entries), size)):
        yield number, entries[start : start + size]


def _bfcl(data: Path, pattern: str) -> Iterator[Case]:
    paths = sorted((data / "bfcl").glob(f"BFCL_v4_{pattern}.json"))
    entries = [entry for path in paths for entry in _read_lines(path) if "function" in entry]
    for number, entry in enumerate(entries):
        if not entry["id"].startswith(_DECOYS):
            question = "\n".join(message["content"] for turn in entry["question"] for message in turn)
            text = _prompt(json.dumps(entry["function"], indent=4), question, number)
            yield Case(entry["id"], text, list(map(schema_tool, entry["function"])))


def _sgd(data: Path) -> Iterator[Case]:
    for number, path in enumerate(sorted((data / "sgd").glob("*_tools*.json"))):
        tools = _read(path)
        expected = renamed([(schema_tool(tool), "") for tool in tools])
        text = _prompt(json.dumps(tools, indent=1), "Find me a bus.", number)
        yield Case(path.stem, text, expected, on_duplicate="rename")


def _api_bank_lines(data: Path) -> Iterator[Case]:
    path = data / "api-bank" / "api_descriptions.jsonl"
    documents = _read_lines(path)
    yield Case(path.name, path.read_text(encoding="utf-8"), list(map(api_bank_tool, documents)), origin=str(path))
    for number, group in _groups(documents, 4):
        lines = "".join(f"{json.dumps(document, ensure_ascii=False)}\n" for document in group)
        text = _prompt(lines, "Book a meeting.", number)
        yield Case(f"{path.name}, group {number}", text, list(map(api_bank_tool, group)))


def _tool_searcher(data: Path) -> Iterator[Case]:
    for path in sorted((data / "api-bank" / "level-2-toolsearcher").glob("*.jsonl")):
        documents = []
        for row in _read_lines(path):
            output = row["result"].get("output") if row["role"] == "API" else None
            listed = output if isinstance(output, list) else [output]
            documents += [d for d in listed if isinstance(d, Mapping) and "input_parameters" in d]
        if documents:
            expected = renamed([(api_bank_tool(document), "") for document in documents])
            text = path.read_text(encoding="utf-8")
            yield Case(path.stem, text, expected, origin=str(path), on_duplicate="rename")


def _seal_prompts(data: Path) -> Iterator[Case]:
    """Seal-Tools' prompts. Quotes inside the instruction are not escaped."""
    for number, group in _groups(_read_lines(data / "seal-tools" / "tool.jsonl"), 5):
        text = f'api_list = {group!r}\ntask_instruction = "Tell me the details of the film "Pulp Fiction"."'
        yield Case(f"tools {5 * number + 1}-", text, list(map(seal_tool, group)))


def _alpaca(data: Path, printed: Callable[[Any], Any]) -> Iterator[Case]:
    found = [api for path in sorted((data / "toolalpaca").glob("eval_*.json")) for api in _read(path)]
    for number, entry in enumerate(entry for entry in found if "Documentation" in entry):
        document = json.loads(entry["Documentation"])
        expected = openapi_tools(document)
        for style, text in enumerate(printed(document)):
            yield Case(f"{entry['Name']}, style {style}", text, expected)
            text = text if text.startswith("{") else f"```yaml\n{text.rstrip()}\n```"
            text = _prompt(text, entry["Instructions"][0], number)
            yield Case(f"{entry['Name']}, style {style}, in a prompt", text, expected)


def _rapid(data: Path) -> Iterator[Case]:
    """Prompts, and several in one, so that names repeat: in two collections, or of the same tool."""
    queries = [query for path in sorted((data / "stabletoolbench").glob("*instruction*.json")) for query in _read(path)]
    for size in (1, 6):
        for number, group in _groups(queries, size):
            documents = [document for query in group for document in query["api_list"]]
            expected = renamed([(rapid_tool(d), d["tool_name"]) for d in documents])
            text = _prompt(json.dumps(documents), group[0]["query"], number)
            yield Case(f"query {group[0]['query_id']}", text, expected, on_duplicate="rename")


def _rest_bench(data: Path, printed: Callable[[Any], str]) -> Iterator[Case]:
    for path in sorted((data / "restbench").glob("*_oas.json")):
        document = _read(path)
        yield Case(path.name, printed(document), openapi_tools(document))


def _rest_gpt(data: Path) -> Iterator[Case]:
    """RestGPT's blocks: keys sorted, lines folded, without the parameters of the path."""
    for document_path in sorted((data / "restbench").glob("*_oas.json")):
        document = _read(document_path)
        for number, group in _groups(list(operations(document)), 4):
            blocks, expected = [], []
            for method, path, operation, _ in group:
                title = f"{method.upper()} {path}"
                kept = {key: expanded(document, operation[key]) for key in _REST_GPT_KEYS if key in operation}
                kept["responses"] = operation["responses"]
                blocks.append(f"== Docs for {title} == \n{_yaml_text(kept)}\n")
                expected.append(operation_tool(document, title, path, kept, {}))
            name, text = f"{document_path.name}, group {number}", "".join(blocks)
            yield Case(name, _prompt(text, "Who directed it?", number), expected)
            template = text.replace("{", "{{").replace("}", "}}")
            yield Case(f"{name}, template", _prompt(template, "{input}", number), expected)
