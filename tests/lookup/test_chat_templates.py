"""What chat templates and encoders print for ``tools`` gives the dictionary of the tools themselves."""

import json
from collections import Counter
from pathlib import Path

import pytest
from drawn_tools import without_raw_types as plain
from seams import tool_text

from lookup import DocumentationError, extract

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
ROWS = [SHARED / "judges" / name for name in ("rendered.jsonl", "rendered_more.jsonl")]


def printed(schema, form, depth=0):
    """A schema as a template prints it: harmony has no integers and no words of nested keys, Gemma sorts keys."""
    kept = dict(schema)
    if form == "harmony" and schema.get("type") == "integer":
        kept["type"] = "number"
    if form == "harmony" and depth > 1:
        kept.pop("description", None)
    if form == "gemma4" or (form == "harmony" and depth > 1):
        kept.pop("default", None)
    if "items" in schema:
        kept["items"] = printed(schema["items"], form, 2)
    if "properties" in schema:
        keys = sorted(schema["properties"], key=str.lower) if form == "gemma4" else schema["properties"]
        kept["properties"] = {key: printed(schema["properties"][key], form, depth + 1) for key in keys}
    return kept


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
            functions = [tool["function"] for tool in row["tools"]]
            tools = [tool | {"parameters": printed(tool["parameters"], row["format"])} for tool in functions]
            expected = plain(extract(tools))
            found = plain(extract(row["prompt_tools_text"]))
            assert without_sequence(found) == without_sequence(expected), row["prompt_tools_text"]
            assert row["format"] == "gemma4" or found == expected
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
