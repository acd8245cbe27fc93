"""What encoders print that have no template at hand: tools, written by small writers, read back the same."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from test_chat_templates import KEYS, NAMES, TEXTS, plain, tool_lists

from lookup import DocumentationError, extract


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


def without_defaults(tools):
    """The tools without the defaults of their keys."""

    def changed(schema):
        if not isinstance(schema, dict):
            return schema
        return {
            word: {key: changed(spec) for key, spec in value.items()} if word == "properties" else changed(value)
            for word, value in schema.items()
            if word != "default"
        }

    return [{"function": tool["function"] | {"parameters": changed(tool["function"]["parameters"])}} for tool in tools]


@pytest.mark.parametrize("writer", [hermes_2, hermes_3, command_r7b, function_gemma], ids=lambda w: w.__name__)
@given(tools=tool_lists(TEXTS))
@settings(max_examples=60)
def test_what_an_encoder_lists_reads_back(writer, tools):
    expected = functions(without_defaults(tools) if writer is function_gemma else tools)
    assert plain(extract(writer(tools))) == plain(extract(expected)), writer(tools)


def test_kimi_s_namespace():
    text = (
        "# Tools\n\n## functions\nnamespace functions {\n// Rides.\n\n// Far.\ntype uber.ride = (_: {\n"
        '  // From where.\n  // Default: "a \\"b\\""\n  Content-Type?: "a" | "b c",\n'
        "  // Default: false\n  now?: boolean,\n  stops: Array<number>,\n  place: {\n"
        "    // Of a city.\n    city: string,\n    zone?: string | null\n  }\n"
        "}) => any;\n// Stops.\ntype stop = (_: {}) => any;\n}\n<|im_end|>"
    )
    ride, stop = extract(text).tools
    assert (ride.name, ride.description, stop.name, stop.description, stop.parameters) == (
        "uber.ride", "Rides.\n\nFar.", "stop", "Stops.", (),
    )  # fmt: skip
    kind, now, stops, place = ride.parameters
    assert (kind.name, kind.required, kind.enum, kind.default) == ("Content-Type", False, ("a", "b c"), 'a "b"')
    assert (kind.description, now.default, str(stops.type)) == ("From where.", False, "list[float]")
    city, zone = place.type.properties
    assert (city.description, city.required, zone.required, zone.type.nullable) == ("Of a city.", True, False, True)


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
    text = f'<|tool>declaration:{name}{{description:<|"|>D<|"|>,parameters:{{properties:{{{key}:{{type:<|"|>STR'
    with pytest.raises(DocumentationError, match="expected a closing"):
        extract(text)


def test_types_as_written_are_kept():
    [tool] = extract(
        '<|tool>declaration:f{description:<|"|>D<|"|>,parameters:{properties:{a:{type:<|"|>STRING<|"|>}}}}'
    ).tools
    assert replace(tool.parameters[0], rule="habit").raw_type == "string"
