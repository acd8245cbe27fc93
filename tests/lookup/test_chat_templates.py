"""What chat templates and encoders print for ``tools`` gives the dictionary of the tools themselves.

The original templates, and small writers of what has none at hand, print tools that hypothesis makes. What one of them
does not print is named in ``LOSSES``: the expected dictionary is that of the tools without it.
"""

import copy
import json
from collections import Counter
from pathlib import Path

import pytest
from drawn_tools import without_raw_types as plain
from seams import tool_text

from lookup import DocumentationError, extract

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
ROWS = [SHARED / "judges" / name for name in ("rendered.jsonl", "rendered_more.jsonl")]

LOSSES = {
    "gptoss": ("integers are numbers", "words of nested keys"),
    "diffusion_gemma": ("the sequence of keys", "defaults"),
    "function_gemma": ("defaults",),
}


def every_schema(schema, nested=False):
    """Each schema inside one, and whether it is that of a nested key."""
    for spec in schema.get("properties", {}).values():
        yield spec, nested
        yield from every_schema(spec, nested=True)
        if "items" in spec:
            yield spec["items"], True


def without_losses(template, tools):
    """The tools as the template prints them."""
    tools = copy.deepcopy(tools)
    losses = LOSSES.get(template, ())
    for tool in tools:
        function = tool["function"]
        for spec, nested in every_schema(function["parameters"]):
            if "integers are numbers" in losses and spec["type"] == "integer":
                spec["type"] = "number"
            if "words of nested keys" in losses and nested:
                spec.pop("description", None)
                spec.pop("default", None)
            if "defaults" in losses:
                spec.pop("default", None)
        if "the sequence of keys" in losses:
            function["parameters"] = in_sequence(function["parameters"])
    return tools


def in_sequence(schema):
    if "properties" not in schema:
        return schema
    keys = sorted(schema["properties"], key=str.lower)
    return schema | {"properties": {key: in_sequence(schema["properties"][key]) for key in keys}}


def without_sequence(dictionary):
    return {tool.name: (tool.description, {key.name: key for key in tool.parameters}) for tool in dictionary.tools}


def test_every_prompt_that_an_original_template_printed_reads_back():
    """Rows of prompts; Gemma's are in a sequence of their own, gpt-oss' have no integers."""
    read = Counter()
    for path in ROWS:
        if not path.is_file():
            pytest.skip(f"the rendered prompts are not at {path}")
        for line in path.read_text("utf-8").split("\n"):  # texts hold other ends of lines
            row = json.loads(line) if line else {}
            if not row.get("prompt_tools_text"):
                continue
            losses = {"harmony": "gptoss", "gemma4": "diffusion_gemma"}.get(row["format"], "")
            expected = plain(extract(without_losses(losses, row["tools"])))
            found = plain(extract(row["prompt_tools_text"]))
            assert without_sequence(found) == without_sequence(expected), row["prompt_tools_text"]
            assert losses == "diffusion_gemma" or found == expected
            read[row["template"]] += 1
    assert len(read) >= 20 and min(read.values()) > 30


def test_the_harmony_library_s_namespace():
    text = (
        "# Tools\n\n## functions\n\nnamespace functions {\n\n// Where one is.\ntype get_location = () => any;\n\n"
        "// All.\ntype sink = (_: // params object\n{\n// STRING\n//\n// A string\nstring?: string,\n"
        '// A nullable one\nnull?: string | null, // default: "the default"\n// a oneof\n// default: 20\none?:\n'
        ' | string // default: "other"\n | number // numbers, too\n,\n}) => any;\n\n} // namespace functions'
    )
    assert list(map(tool_text, extract(text).tools)) == [
        "get_location() -> Where one is.",
        'sink(string: str # STRING\n\nA string, null: str? = "the default" # A nullable one, '
        "one: str | float = 20 # a oneof) -> All.",
    ]


def test_built_in_tools_of_another_namespace_are_reported():
    text = (
        "namespace browser {\n\n// Searches.\ntype search = (_: {\nquery: string,\n}) => any;\n\n"
        "} // namespace browser\n\n"
        "namespace functions {\n\n// Now.\ntype now = () => any;\n\n} // namespace functions\n"
    )
    tools = extract(text)
    assert list(tools) == ["now"] and len(tools.unread) == 1


@pytest.mark.parametrize("name", ["f", "get-time", "uber.ride"])
def test_a_gemma_declaration_that_is_cut_short_is_an_error(name):
    text = f'<|tool>declaration:{name}{{description:<|"|>D<|"|>,parameters:{{properties:{{a:{{type:<|"|>STR'
    with pytest.raises(DocumentationError, match="expected a closing"):
        extract(text)
    (tool,) = extract(f'{text}ING<|"|>}}}}}}}}').tools
    assert (tool.name, tool.parameters[0].raw_type) == (name, "string")


HERMES_3 = (
    '<tools> {"type": "function", "function": {"name": "f", "description": "f(a: int, b: list[str]) - Does "it".\n\n'
    '    Args:\n        a(int): It\'s {a}.        b(list[str]): ", "parameters": {"type": "object", "properties": '
    '{"a": {"type": "integer", "description": "It\'s {a}."}, "b": {"type": "array", "items": {"type": "string"}}}, '
    '"required": ["a"]}}\n{"type": "function", "function": {"name": "g", "description": "g() - Ends.\n\n", '
    '"parameters": {}} </tools>Use this schema: {"properties": {"arguments": {"type": "object"}}}\n'
)
FUNCTION_GEMMA = (
    'developer\nYou can call functions<start_function_declaration>declaration:f{description:<escape>Does "it".'
    "<escape>,parameters:{properties:{a:{description:<escape>It's {a}.<escape>,type:<escape>INTEGER<escape>},"
    "b:{items:{type:<escape>STRING<escape>},type:<escape>ARRAY<escape>}},required:[<escape>a<escape>],"
    "type:<escape>OBJECT<escape>}}<end_function_declaration><start_function_declaration>declaration:g{description:"
    "<escape>Ends.<escape>,parameters:{type:<escape>OBJECT<escape>}}<end_function_declaration><end_of_turn>\nHi"
)


@pytest.mark.parametrize("text", [HERMES_3, FUNCTION_GEMMA], ids=["hermes 3", "function gemma"])
def test_listings_without_rendered_prompts(text):
    found = extract(text)
    assert list(map(tool_text, found.tools)) == ['f(a!: int # It\'s {a}., b: list[str]) -> Does "it".', "g() -> Ends."]
