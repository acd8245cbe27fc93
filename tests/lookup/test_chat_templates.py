"""What chat templates and encoders print for ``tools`` gives the dictionary of the tools themselves."""

import json
from collections import Counter

import pytest
from seams import key_text, tool_text

from data import DATA
from lookup import DocumentationError, extract

ROWS = [DATA.parent / "judges" / name for name in ("rendered.jsonl", "rendered_more.jsonl")]


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
            expected, found = (
                [(tool.name, tool.description, list(map(key_text, tool.parameters))) for tool in extract(source).tools]
                for source in (tools, row["prompt_tools_text"])
            )
            assert found == expected, row["prompt_tools_text"]
            read[row["template"]] += 1
    assert len(read) >= 20 and min(read.values()) > 30


@pytest.mark.parametrize("name", ["f", "get-time", "uber.ride"])
def test_a_gemma_declaration_that_is_cut_short_is_an_error(name):
    text = f'<|tool>declaration:{name}{{description:<|"|>D<|"|>,parameters:{{properties:{{a:{{type:<|"|>STR'
    with pytest.raises(DocumentationError, match="expected a closing"):
        extract(text)
    (tool,) = extract(f'{text}ING<|"|>}}}}}}}}').tools
    assert (tool.name, tool.parameters[0].raw_type) == (name, "string")


HARMONY = (
    "# Tools\n\n## functions\n\nnamespace functions {\n\n// Where one is.\ntype get_location = () => any;\n\n"
    "// All.\ntype sink = (_: // params object\n{\n// STRING\n//\n// A string\nstring?: string,\n"
    '// A nullable one\nnull?: string | null, // default: "the default"\n// a oneof\n// default: 20\none?:\n'
    ' | string // default: "other"\n | number // numbers, too\n,\n}) => any;\n\n} // namespace functions'
)
SINK = (
    'sink(string: str # STRING\n\nA string, null: str? = "the default" # A nullable one, '
    "one: str | float = 20 # a oneof) -> All."
)
NESTED = (
    "namespace functions {\n\n// Finds.\ntype find = (_: {\nwhere?: {\n// A city.\ncity: string,\n},\n"
    "counts: Record<string, number>,\n}) => any;\n\n} // namespace functions"
)
BROWSER = "namespace browser {\n\n// Searches.\ntype search = (_: {\nquery: string,\n}) => any;\n\n}\n\n"
WIDE = f"namespace functions {{\ntype f = (_: {{{' '.join(f'k{i}: string,' for i in range(60))}}}) => any;\n}}"
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


F_AND_G = ['f(a!: int # It\'s {a}., b: list[str]) -> Does "it".', "g() -> Ends."]


@pytest.mark.parametrize(
    ("text", "tools", "unread"),
    [
        (HERMES_3, F_AND_G, 0),
        (FUNCTION_GEMMA, F_AND_G, 0),
        (HARMONY, ["get_location() -> Where one is.", SINK], 0),
        (NESTED, ["find(where: {city!: str # A city.}, counts!: dict[float]) -> Finds."], 0),
        (WIDE, [f"f({', '.join(f'k{i}!: str' for i in range(60))})"], 0),
        (BROWSER + HARMONY, ["get_location() -> Where one is.", SINK], 1),  # built-in tools are none
    ],
    ids=["hermes 3", "function gemma", "harmony", "nested", "wide", "browser"],
)
def test_listings_without_rendered_prompts(text, tools, unread):
    found = extract(text)
    assert list(map(tool_text, found.tools)) == tools and len(found.unread) == unread


def test_a_declared_type_that_cannot_be_read_is_noted():
    [lost] = extract("namespace functions {\ntype Odd = <;\ntype f = (_: {a: Odd}) => any;\n}").tools
    assert "#/$defs/Odd" in lost.notes[0]
