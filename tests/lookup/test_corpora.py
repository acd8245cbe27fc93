"""Every public tool document of BFCL and API-Bank, compared with a structural reading."""

import ast
import csv
import json

import pytest

from data import DATA, needs_data
from lookup import MISSING, extract, extract_file

BFCL = sorted((DATA / "bfcl").glob("*.json"))
# These users paste other documentation into the question.
DECOYS = ("live_simple_78-",)


def prompt(entry):
    question = "\n".join(message["content"] for turn in entry["question"] for message in turn)
    functions = json.dumps(entry["function"], indent=4)
    return f"You compose functions. [Use] {{only}} these:\n{functions}\n\nQuestion: {question}\n"


def assert_same(tool, function):
    properties = function["parameters"]["properties"]
    required = function["parameters"]["required"]
    assert tool.description == function["description"]
    assert [p.name for p in tool.parameters] == list(properties)
    for found in tool.parameters:
        spec = properties[found.name]
        assert found.required is (found.name in required)
        assert found.raw_type == spec["type"]
        assert found.description == spec.get("description", "")
        assert found.enum == (tuple(spec["enum"]) if "enum" in spec else None)
        assert found.default == spec.get("default", MISSING)
        assert type(found.default) is type(spec.get("default", MISSING))


@needs_data
@pytest.mark.parametrize("path", BFCL, ids=lambda path: path.stem)
def test_bfcl_prompts(path):
    checked = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry["id"].startswith(DECOYS):
            continue
        tools = extract(prompt(entry))
        assert list(tools) == [function["name"] for function in entry["function"]], entry["id"]
        for function in entry["function"]:
            assert_same(tools[function["name"]], function)
        checked += 1
    assert checked > 10


@needs_data
def test_python_repr_and_parsed_data_give_the_same():
    for line in (DATA / "bfcl" / "BFCL_v4_live_parallel_multiple.json").read_text("utf-8").splitlines():
        functions = json.loads(line)["function"]
        tools = extract(functions)
        assert extract(f"api_list = {functions!r}\nDo it.") == tools
        assert extract("\n".join(map(json.dumps, functions)), origin="t.jsonl") == tools


@needs_data
def test_api_bank_descriptions():
    path = DATA / "api-bank" / "api_descriptions.jsonl"
    documents = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    tools = extract_file(path)
    assert list(tools) == [document["name"] for document in documents]
    for document in documents:
        found = [(p.name, p.raw_type, p.description) for p in tools[document["name"]].parameters]
        expected = document["input_parameters"].items()
        assert found == [(key, spec["type"], spec["description"]) for key, spec in expected]
        for parameter in tools[document["name"]].parameters:
            assert parameter.required is ("[Optional]" not in parameter.description)


def table_rows():
    with (DATA / "api-bank" / "all_apis.csv").open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


def literals_of(source):
    return {node.targets[0].id: ast.literal_eval(node.value) for node in ast.parse(source).body}


@needs_data
def test_api_bank_table_read_as_text():
    tools = extract_file(DATA / "api-bank" / "all_apis.csv")
    documented = [row for row in table_rows() if "input_parameters" in row["api_info"]]
    assert list(tools) == [row["类名"] for row in table_rows()]
    (signed,) = [row for row in table_rows() if row not in documented]  # documented in its signature columns only
    assert (signed["input_parameters"], signed["api_info"]) == ("(image: str)", ".")
    assert [(p.name, p.raw_type, p.required) for p in tools[signed["类名"]].parameters] == [("image", "str", True)]
    for row in documented:
        expected = literals_of(row["api_info"])
        tool = tools[row["类名"]]
        assert tool.description == expected["description"]
        properties = expected["input_parameters"]
        found = [(p.name, p.raw_type, p.description, p.required) for p in tool.parameters]
        assert found == [
            (key, spec["type"], spec["description"], True)
            for key, spec in (properties.items() if isinstance(properties, dict) else ())
        ]


@needs_data
def test_api_bank_source_in_every_layout():
    tools = extract_file(DATA / "api-bank" / "all_apis.csv")
    for row in table_rows():
        name, info = row["类名"], row["api_info"]
        if "input_parameters" not in info:
            continue
        body = info.replace("\n", "\n    ")
        for text in (
            f"{name}\n{info}",
            f"# {name}\n\n{info}",
            f"API: {name}\n{info}",
            f"{name}(a: str, b: List[str])\n{info}",
            f"api_name = '{name}'\n{info}",
            f'class {name}(API):\n    """Doc.\n\n    Returns\n    """\n    {body}\n    def f(self):\n  pass',
        ):
            assert extract(f"Here you are.\n\nTools:\n{text}\n\nUser: hello") == type(tools)((tools[name],))


@needs_data
def test_tool_searcher_results():
    found = 0
    for path in (DATA / "api-bank" / "level-2-toolsearcher").glob("*.jsonl"):
        text = path.read_text("utf-8")
        documents = []
        for turn in map(json.loads, filter(str.strip, text.splitlines())):
            output = turn["result"].get("output") if turn["role"] == "API" else None
            documents += [
                document
                for document in (output if isinstance(output, list) else [output])
                if isinstance(document, dict) and "input_parameters" in document
            ]
        names = [document["name"] for document in documents]
        if names and len(set(names)) == len(names):
            assert list(extract_file(path)) == names
            found += 1
    assert found > 10
