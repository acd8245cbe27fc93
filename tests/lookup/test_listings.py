"""Listings of frameworks and encoders: tools that hypothesis makes, written by small writers, read back the same."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_chat_templates import KEYS, MEMBERS, NAMES, TEXTS, plain, tool_lists

from lookup import extract

IDENTIFIERS = st.from_regex(r"[a-z][a-z0-9_]{1,8}", fullmatch=True).filter(
    lambda name: name not in ("args", "api", "input", "inputs", "note", "notes", "tool", "tools", "user", "output")
)
LINE = TEXTS.map(lambda text: text.split("\n")[0])


def functions(tools):
    return [tool["function"] for tool in tools]


def python_type(spec):
    names = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "dict"}
    if isinstance(spec["type"], list):
        return f"Union[{','.join(python_type({'type': kind}) for kind in spec['type'])}]"
    if spec["type"] == "array":
        return f"list[{python_type(spec['items'])}]"
    return names.get(spec["type"], "Any")


def hermes(tools, quote):
    """The listing of Hermes 2 Pro (without a quote before the name) and of Hermes 3."""
    lines = []
    for tool in functions(tools):
        keys = tool["parameters"]["properties"]
        signature = ", ".join(f"{key}: {python_type(spec)}" for key, spec in keys.items())
        listed = "".join(
            f"        {key}({python_type(spec)}): {spec.get('description', '').strip()}" for key, spec in keys.items()
        )
        described = f"{tool['name']}({signature}) - {tool['description']}\n\n" + (
            "    Args:\n" + listed if keys else ""
        )
        parameters = json.dumps(tool["parameters"], ensure_ascii=False) if keys else "{}"
        lines.append(
            f'{{"type": "function", "function": {{"name": {quote}{tool["name"]}", "description": "{described}", '
            f'"parameters": {parameters}}}'
        )
    instruction = '{"properties": {"arguments": {"title": "Arguments", "type": "object"}}, "title": "FunctionCall"}'
    return f"Here are the available tools: <tools> {chr(10).join(lines)} </tools>Use this schema: {instruction}\n"


def hermes_2(tools):
    return hermes(tools, "")


def hermes_3(tools):
    return hermes(tools, '"')


def command_r7b(tools):
    lines = [
        f'    {{"name": "{tool["name"]}", "description": "{tool["description"]}", '
        f'"parameters": {json.dumps(tool["parameters"])}, "responses": null}}'
        for tool in functions(tools)
    ]
    return "## Available Tools\n```json\n[\n" + ",\n".join(lines) + "\n]\n```\n\n# Default Preamble\nBe kind."


def deepseek(tools):
    listed = "".join(
        f"\n### {tool['name']}\nDescription: {tool['description']}\n\nParameters: {json.dumps(tool['parameters'])}\n"
        for tool in functions(tools)
    )
    return f"## Tools\nYou have access to the following tools:\n{listed}\nIMPORTANT: ALWAYS adhere to this format."


def llama_index(tools):
    listed = "\n".join(
        f"> Tool Name: {tool['name']}\nTool Description: {tool['description']}\n"
        f"Tool Args: {json.dumps(tool['parameters'])}\n"
        for tool in functions(tools)
    )
    return f"## Tools\nYou have access to these tools:\n{listed}\n## Output Format\nPlease answer."


def gemma_value(value, mark):
    if isinstance(value, str):
        return f"{mark}{value}{mark}"
    return "[" + ",".join(gemma_value(member, mark) for member in value) + "]"


def gemma_schema(schema, mark):
    words = []
    if schema.get("description"):
        words.append(f"description:{mark}{schema['description']}{mark}")
    if "enum" in schema:
        words.append(f"enum:{gemma_value(schema['enum'], mark)}")
    if "items" in schema:
        words.append(f"items:{{type:{mark}{schema['items']['type'].upper()}{mark}}}")
    if schema.get("nullable"):
        words.append("nullable:true")
    if "properties" in schema:
        keys = ",".join(f"{key}:{gemma_schema(spec, mark)}" for key, spec in schema["properties"].items())
        words.append(f"properties:{{{keys}}}")
        words += [f"required:{gemma_value(schema['required'], mark)}"] if schema["required"] else []
    return "{" + ",".join([*words, f"type:{mark}{str(schema['type']).upper()}{mark}"]) + "}"


def function_gemma(tools):
    mark = "<escape>"
    listed = "".join(
        f"<start_function_declaration>declaration:{tool['name']}{{description:{mark}{tool['description']}{mark},"
        f"parameters:{gemma_schema(tool['parameters'], mark)}}}<end_function_declaration>"
        for tool in functions(tools)
    )
    return (
        f"<start_of_turn>developer\nYou can call functions{listed}<end_of_turn>\n<start_of_turn>user\nHi<end_of_turn>"
    )


def ts_type(spec, indent):
    names = {"integer": "number"}
    if "enum" in spec:
        return " | ".join(f'"{member}"' for member in spec["enum"])
    if isinstance(spec["type"], list):
        return " | ".join(spec["type"])
    if spec.get("nullable"):
        return f"{spec['type']} | null"
    if spec["type"] == "array":
        return f"Array<{ts_type(spec['items'], indent)}>"
    return ts_object(spec, indent) if "properties" in spec else names.get(spec["type"], spec["type"])


def ts_comment(text, indent):
    return "".join(f"{indent}// {line}\n" if line else "\n" for line in text.split("\n"))


def ts_object(schema, indent):
    inner = indent + "  "
    keys = []
    for key, spec in schema["properties"].items():
        above = ts_comment(spec["description"], inner) if "description" in spec else ""
        if "default" in spec:
            shown = spec["default"] if isinstance(spec["default"], bool) else json.dumps(spec["default"])
            above += f"{inner}// Default: {shown}\n"
        optional = "" if key in schema["required"] else "?"
        keys.append(f"{above}{inner}{key}{optional}: {ts_type(spec, inner)}")
    return "{\n" + ",\n".join(keys) + f"\n{indent}}}" if keys else "{}"


def kimi(tools):
    """Kimi K2.5's namespace, in the sequence of the documentation."""
    listed = "".join(
        f"{ts_comment(tool['description'], '')}type {tool['name']} = (_: {ts_object(tool['parameters'], '')}) => any;\n"
        for tool in functions(tools)
    )
    return f"# Tools\n\n## functions\nnamespace functions {{\n{listed}}}\n<|im_end|>"


def without(words, tools):
    """The tools without some words of their keys, and with numbers for integers if ``integer`` is one of them."""

    def changed(schema):
        if not isinstance(schema, dict):
            return schema
        kept = {}
        for word, value in schema.items():
            if word == "properties":
                kept[word] = {key: changed(spec) for key, spec in value.items()}
            elif word not in words:
                kept[word] = changed(value)
        if "integer" in words and kept.get("type") == "integer":
            kept["type"] = "number"
        return kept

    return [{"function": tool["function"] | {"parameters": changed(tool["function"]["parameters"])}} for tool in tools]


WRITERS = {
    hermes_2: (), hermes_3: (), command_r7b: (), deepseek: (), llama_index: (), function_gemma: ("default",),
    kimi: ("integer",),
}  # fmt: skip


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
@given(tools=tool_lists(TEXTS))
@settings(max_examples=60)
def test_what_an_encoder_lists_reads_back(writer, tools):
    expected = [dict(tool["function"]) for tool in without(WRITERS[writer], tools)]
    found = extract(writer(tools))
    assert plain(found) == plain(extract(expected)), writer(tools)


# Listings of keys with schemas of their own


SPECS = st.builds(
    lambda kind, text: {"type": kind, "description": text},
    st.sampled_from(["string", "integer", "number", "boolean", "array", "object"]),
    LINE,
) | st.builds(lambda members, text: {"type": "string", "enum": members, "description": text}, MEMBERS, LINE)
LISTED = st.lists(
    st.tuples(IDENTIFIERS, LINE, st.dictionaries(IDENTIFIERS, SPECS, max_size=3)),
    min_size=1,
    max_size=3,
    unique_by=lambda t: t[0],
)


def described(name, description, keys, optional=()):
    required = [key for key in keys if key not in optional]
    schema = {"type": "object", "properties": keys, "required": required}
    return {"name": name, "description": description, "parameters": schema}


@given(LISTED, st.sampled_from([": ", " - "]))
def test_lang_chain(tools, separator):
    written = "\n".join(f"{name}{separator}{text}, args: {keys!r}" for name, text, keys in tools)
    prompt = f"Answer the question. You have access to the following tools:\n\n{written}\n\nQuestion: what?\nThought:"
    assert plain(extract(prompt)) == plain(extract([described(*tool) for tool in tools]))


def test_lang_chain_with_signatures_of_python():
    text = (
        "search(query: str, n: Optional[int] = None) -> str - Searches., args: {'query': {'title': 'Query', 'type': "
        "'string'}, 'n': {'anyOf': [{'type': 'integer'}, {'type': 'null'}], 'default': None, 'title': 'N'}}"
    )
    [tool] = extract(text).tools
    assert (tool.name, tool.description) == ("search", "Searches.")
    assert [(p.name, str(p.type), p.required, p.type.nullable) for p in tool.parameters] == [
        ("query", "str", True, False),
        ("n", "int", False, True),
    ]


@given(LISTED, st.data())
def test_smolagents_list(tools, data):
    lines, expected = [], []
    for name, text, keys in tools:
        nullable = [key for key in keys if data.draw(st.booleans())]
        inputs = {key: spec | ({"nullable": True} if key in nullable else {}) for key, spec in keys.items()}
        lines.append(f"- {name}: {text}\n    Takes inputs: {inputs}\n    Returns an output of type: string\n")
        expected.append(described(name, text, inputs, nullable))
    prompt = f"You only have access to these tools:\n{''.join(lines)}\nHere are the rules: be kind."
    assert plain(extract(prompt)) == plain(extract(expected))


@given(LISTED)
def test_smolagents_functions(tools):
    tools = [
        (name, text, {k: {w: v for w, v in s.items() if w != "enum"} for k, s in ks.items()})
        for name, text, ks in tools
    ]
    lines = []
    for name, text, keys in tools:
        signature = ", ".join(f"{key}: {spec['type']}" for key, spec in keys.items())
        args = "".join(f"\n        {key}: {spec['description']}" for key, spec in keys.items())
        documented = f"{text}\n\n    Args:{args}" if keys else text
        lines.append(f'def {name}({signature}) -> string:\n    """{documented}\n    """\n')
    prompt = "behaving like regular python functions:\n```python\n" + "\n".join(lines) + "```\nRules: be kind."
    found = plain(extract(prompt))
    assert [t.name for t in found.tools] == [name for name, _, _ in tools]
    for tool, (_, _, keys) in zip(found.tools, tools, strict=True):
        assert [(p.name, p.required) for p in tool.parameters] == [(key, True) for key in keys]


# Markdown


@given(LISTED, st.data())
def test_markdown_lists_and_tables(tools, data):
    text, expected = "# Tools\n\n", []
    for name, description, keys in tools:
        optional = [key for key in keys if data.draw(st.booleans())]
        keys = {key: {"type": spec["type"], "description": spec["description"]} for key, spec in keys.items()}
        say = {key: "optional" if key in optional else "required" for key in keys}
        text += f"## `{name}`\n\n{description}\n\n"
        if not keys:
            text += "Parameters: none\n\n"
        elif data.draw(st.booleans()):
            text += "**Parameters:**\n\n"
            text += "".join(f"- `{k}` ({s['type']}, {say[k]}): {s['description']}\n" for k, s in keys.items())
        else:
            text += "| Name | Type | Required | Description |\n|---|:--|:-:|--:|\n"
            text += "".join(
                f"| `{k}` | {s['type']} | {'no' if k in optional else 'yes'} | {s['description']} |\n"
                for k, s in keys.items()
            )
        text += "\n"
        expected.append(described(name, description, keys, optional))
    assert plain(extract(f"{text}\nAnswer in French.\n")) == plain(extract(expected))


def test_markdown_lists_inside_lists():
    text = (
        "### 1. book\nBooks.\n\n**Arguments**\n- `at` (object, required): Where.\n    - `lat` (number, required): L.\n"
        "    - `lon` (number): M.\n- `items` (array, optional): The items.\n    - id: string (required) - An id.\n"
        '- `unit` (string, one of: "c", "f", default: "c") - U.\n\n**Returns**: a text\n'
    )
    [tool] = extract(text).tools
    at, items, unit = tool.parameters
    assert [(p.name, p.required) for p in at.type.properties] == [("lat", True), ("lon", None)]
    assert [(p.name, p.required) for p in items.type.items.properties] == [("id", True)]
    assert (unit.enum, unit.required, unit.default) == (("c", "f"), False, "c")
    assert tool.description == "Books."


# Source code


def test_classes_of_pydantic():
    text = '''
class Unit(str, Enum):
    C = "c"
    F = "f"

class Place(BaseModel):
    """A place."""
    lat: float
    lon: float = Field(..., description="East.", ge=-180)

class Weather(BaseModel):
    """Tells the weather.

    In detail.
    """

    place: Place  # where
    stops: List[Place] = Field(default_factory=list, description="On "
        "the way.")
    unit: Optional[Unit] = Field(default=None, description='The unit.')
    mode: Literal["a", "b"] = "a"
    model_config = ConfigDict(extra="forbid")

    @field_validator("mode")
    def check(cls, value):
        more: int = 3
        return value
'''
    [tool] = extract(f"Use these:\n```python{text}```\nGo.").tools
    assert (tool.name, tool.description) == ("Weather", "Tells the weather.\n\nIn detail.")
    place, stops, unit, mode = tool.parameters
    assert [p.name for p in place.type.properties] == ["lat", "lon"] and place.required
    assert [p.description for p in stops.type.items.properties] == ["", "East."] and stops.description == "On the way."
    assert unit.enum == ("c", "f") and unit.type.nullable and unit.required is False
    assert (mode.enum, mode.default) == (("a", "b"), "a")


def test_a_class_inside_itself_is_an_object():
    [tool] = extract("class Tree(BaseModel):\n    kids: List['Tree']\n    name: str\n").tools
    assert str(tool.parameters[0].type) == "list[dict]" and tool.parameters[0].type.items.properties is None


JAVASCRIPT = """const tools = [
  {
    type: "function",
    function: {
      name: 'get_weather', // the name
      description: "It's " + `the weather`,
      parameters: {
        type: 'object',
        properties: {
          city: { type: 'string', description: 'The city', },
          'unit-x': { type: 'string', enum: ['c', "f"], default: "c" },
          n: {type: "integer", default: 1_000},
        },
        required: ['city'],
        additionalProperties: false,
      },
      execute: async ({ city }) => { return fetch(`x${city}`); },
    },
  } as const,
];
"""


@pytest.mark.parametrize("text", [JAVASCRIPT, f"Tools:\n```js\n{JAVASCRIPT}```\nGo.", JAVASCRIPT.split("= ")[1]])
def test_objects_of_javascript(text):
    [tool] = extract(text).tools
    assert (tool.name, tool.description) == ("get_weather", "It's the weather")
    assert [(p.name, str(p.type), p.enum, p.required) for p in tool.parameters] == [
        ("city", "str", None, True),
        ("unit-x", "str", ("c", "f"), False),
        ("n", "int", None, False),
    ]


TYPESCRIPT = {
    "function": "/**\n * Finds rides.\n * @param to - Where to.\n * @param unit The unit.\n */\n"
    "export async function ride(to: Place, unit: 'km' | 'mi' = 'km', stops?: Array<string>): Promise<string> {\n"
    "  return x;\n}\n\ninterface Place { lat: number; lon?: number }\n",
    "type": "interface Place { lat: number; lon?: number }\n\n// Finds rides.\ntype ride = (args: {\n  // Where to.\n"
    "  to: Place,\n  unit?: 'km' | 'mi', // default: \"km\"\n  stops?: string[],\n}) => Promise<string>;\n",
    "method": "interface Place { lat: number; lon?: number }\ninterface Api {\n  /** Finds rides. */\n"
    "  ride(args: {\n    /** Where to. */\n    to: Place;\n    unit?: 'km' | 'mi';\n    stops?: string[];\n"
    "  }): string;\n}\n",
    "interface": "/** Finds rides. */\ninterface ride {\n  /** Where to. */\n  to: Place;\n  unit?: 'km' | 'mi';\n"
    "  stops?: Array<string>\n}\ntype Place = { lat: number, lon?: number }\n",
}


@pytest.mark.parametrize("text", TYPESCRIPT.values(), ids=TYPESCRIPT)
def test_declarations_of_typescript(text):
    [tool] = extract(f"Use this:\n\n{text}").tools
    assert (tool.name, tool.description) == ("ride", "Finds rides.")
    to, unit, stops = tool.parameters
    assert (to.description, to.required, [(p.name, p.required) for p in to.type.properties]) == (
        "Where to.",
        True,
        [("lat", True), ("lon", False)],
    )
    assert unit.enum == ("km", "mi") and not unit.required
    assert str(stops.type) == "list[str]" and not stops.required


def test_the_harmony_library_s_namespace():
    text = (
        "# Tools\n\n## functions\n\nnamespace functions {\n\n// Where one is.\ntype get_location = () => any;\n\n"
        "// All.\ntype sink = (_: // params object\n{\n// STRING\n//\n// A string\nstring?: string,\n"
        '// A nullable one\nnull?: string | null, // default: "the default"\n// a oneof\n// default: 20\none?:\n'
        ' | string // default: "other"\n | number // numbers, too\n,\n}) => any;\n\n} // namespace functions'
    )
    location, sink = extract(text).tools
    assert (location.name, location.description, location.parameters) == ("get_location", "Where one is.", ())
    string, null, one = sink.parameters
    assert string.description == "STRING\n\nA string"
    assert (null.default, null.type.nullable) == ("the default", True)
    assert (one.default, one.description, str(one.type)) == (20, "a oneof", "str | float")


def test_built_in_tools_of_another_namespace_are_reported():
    text = (
        "namespace browser {\n\n// Searches.\ntype search = (_: {\nquery: string,\n}) => any;\n\n"
        "} // namespace browser\n\n"
        "namespace functions {\n\n// Now.\ntype now = () => any;\n\n} // namespace functions\n"
    )
    tools = extract(text)
    assert list(tools) == ["now"] and len(tools.unread) == 1


@given(NAMES, KEYS)
def test_a_gemma_declaration_that_is_cut_short_is_an_error(name, key):
    from lookup import DocumentationError

    text = f'<|tool>declaration:{name}{{description:<|"|>D<|"|>,parameters:{{properties:{{{key}:{{type:<|"|>STR'
    with pytest.raises(DocumentationError, match="expected a closing"):
        extract(text)


def test_types_as_written_are_kept():
    [tool] = extract(
        '<|tool>declaration:f{description:<|"|>D<|"|>,parameters:{properties:{a:{type:<|"|>STRING<|"|>}}}}'
    ).tools
    assert replace(tool.parameters[0], rule="habit").raw_type == "string"
