"""What chat templates and encoders print for ``tools`` gives the dictionary of the tools themselves.

The original templates, and small writers of what has none at hand, print tools that hypothesis makes. What one of them
does not print is named in ``LOSSES``: the expected dictionary is that of the tools without it.
"""

import copy
import json
from collections import Counter
from pathlib import Path

import pytest
from drawn_tools import chat_tools
from drawn_tools import without_raw_types as plain
from hypothesis import given, settings
from hypothesis import strategies as st
from seams import tool_text

from lookup import DocumentationError, extract

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
TEMPLATES = SHARED / "templates"
ROWS = [SHARED / "judges" / name for name in ("rendered.jsonl", "rendered_more.jsonl")]

LOSSES = {
    "gptoss": ("integers are numbers", "words of nested keys"),
    "diffusion_gemma": ("the sequence of keys", "defaults"),
    "function_gemma": ("defaults",),
}
EXACT = (
    "qwen2_5", "qwen3", "qwen3_5_think", "qwen3_5_nothink", "glm4moe", "llama3_1", "llama3_2", "lfm2_2_5",
    "mistral_v11", "mistral_v13",
)  # fmt: skip
# Mistral's older templates print name and description between quotes as they are: a backslash would be an escape.
UNESCAPED = ("mistral_v3", "mistral_v3_spm", "mistral_v7")

WORDS = st.sampled_from(
    ["Gets", "the", 'a "quoted" word', "it's", "\u00e9t\u00e9", "\u5929\u6c14", "{x}", "(e.g. [a, b])", "<b>", "f(x)"]
)
LINES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
TEXTS = st.lists(LINES, min_size=1, max_size=3).map("\n".join)
ANYTHING = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20) | TEXTS


def rendered(template, tools):
    utils = pytest.importorskip("transformers.utils.chat_template_utils")
    path = TEMPLATES / f"{template}.jinja"
    if not path.is_file():
        pytest.skip(f"the template is not at {path}")
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Where? I'm in {Paris}."}]
    words = {"bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": True}
    [text], _ = utils.render_jinja_template([messages], tools=tools, chat_template=path.read_text("utf-8"), **words)
    return text


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
    for tool in (tool["function"] for tool in tools):
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
        for tool in (tool["function"] for tool in tools)
    )
    return (
        f"<start_of_turn>developer\nYou can call functions{listed}<end_of_turn>\n<start_of_turn>user\nHi<end_of_turn>"
    )


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


WRITERS = {"hermes_2": hermes_2, "hermes_3": hermes_3, "function_gemma": function_gemma}


@pytest.mark.parametrize("template", [*EXACT, *UNESCAPED, "gptoss", *WRITERS])
@given(data=st.data())
@settings(max_examples=30)
def test_what_is_printed_reads_back(template, data):
    tools = data.draw(chat_tools(ANYTHING if template in EXACT else TEXTS))
    text = WRITERS[template](tools) if template in WRITERS else rendered(template, tools)
    assert plain(extract(text)) == plain(extract(without_losses(template, tools))), text


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
