"""What chat templates print for ``tools`` gives the dictionary of the tools themselves.

The original templates render tools that hypothesis makes. What a template does not print is named in ``LOSSES``: the
expected dictionary is that of the tools without it.
"""

import copy
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookup import LookupDictionary, extract

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
TEMPLATES = SHARED / "templates"
ROWS = [SHARED / "judges" / name for name in ("rendered.jsonl", "rendered_more.jsonl")]

# What each template does not print, beyond nothing.
LOSSES = {
    "gptoss": ("integers are numbers", "words of nested keys"),
    "diffusion_gemma": ("the sequence of keys", "defaults"),
    "nemotron_3_nano": ("white space around descriptions",),
}
EXACT = (
    "qwen2_5", "qwen3", "qwen3_5_think", "qwen3_5_nothink", "glm4moe", "llama3_1", "llama3_2", "lfm2_2_5",
    "mistral_v11", "mistral_v13",
)  # fmt: skip
# Mistral's older templates print name and description between quotes as they are: a backslash would be an escape.
UNESCAPED = ("mistral_v3", "mistral_v3_spm", "mistral_v7")

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True) | st.sampled_from(["uber.ride", "get-time"])
KEYS = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True) | st.sampled_from(["Content-Type", "user.id", "from"])
WORDS = st.sampled_from(
    ["Gets", "the", 'a "quoted" word', "it's", "\u00e9t\u00e9", "\u5929\u6c14", "{x}", "(e.g. [a, b])", "<b>", "f(x)"]
)
LINES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
TEXTS = st.lists(LINES, min_size=1, max_size=3).map("\n".join)
ANYTHING = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20) | TEXTS
MEMBERS = st.lists(st.sampled_from(["a", "b c", "\u00e9", "x-1", "it's", "1"]), min_size=1, max_size=3, unique=True)


def described(specs, texts):
    return st.tuples(specs, st.none() | texts).map(lambda pair: pair[0] | ({"description": pair[1]} if pair[1] else {}))


def an_object(properties, share):
    required = [key for key, wanted in zip(properties, share, strict=False) if wanted]
    return {"type": "object", "properties": properties, "required": required}


def schemas(texts):
    text = st.just({"type": "string"}) | MEMBERS.map(lambda members: {"type": "string", "enum": members})
    scalar = text | st.sampled_from([{"type": kind} for kind in ("integer", "number", "boolean")])
    plain = st.sampled_from([{"type": kind} for kind in ("string", "integer", "number", "boolean")])
    lists = plain.map(lambda items: {"type": "array", "items": items})
    nullable = st.sampled_from([{"type": ["string", "null"]}, {"type": "string", "nullable": True}])
    defaults = st.sampled_from(
        [
            {"type": "integer", "default": 3},
            {"type": "string", "default": 'a "b"'},
            {"type": "boolean", "default": False},
            {"type": "string", "enum": ["a", "b"], "default": "b"},
        ]
    )
    leaf = described(scalar | lists | nullable, texts)
    nested = st.builds(
        an_object, st.dictionaries(KEYS, leaf, min_size=1, max_size=3), st.lists(st.booleans(), min_size=3, max_size=3)
    )
    return leaf | described(nested, texts) | described(defaults, texts)


def a_tool(name, description, properties, share):
    function = {"name": name, "description": description, "parameters": an_object(properties, share)}
    return {"type": "function", "function": function}


def tool_lists(texts):
    keys = st.dictionaries(KEYS, schemas(texts), max_size=4)
    tool = st.builds(a_tool, NAMES, texts, keys, st.lists(st.booleans(), min_size=4, max_size=4))
    return st.lists(tool, min_size=1, max_size=3, unique_by=lambda tool: tool["function"]["name"])


def rendered(template, tools):
    utils = pytest.importorskip("transformers.utils.chat_template_utils")
    path = TEMPLATES / f"{template}.jinja"
    if not path.is_file():
        pytest.skip(f"the template is not at {path}")
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Where? I'm in {Paris}."}]
    words = {"bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": True}
    [text], _ = utils.render_jinja_template([messages], tools=tools, chat_template=path.read_text("utf-8"), **words)
    return text


def plain(dictionary):
    """The dictionary without the types as written."""

    def plain_type(kind):
        keys = kind.properties and tuple(map(plain_key, kind.properties))
        branches = tuple(map(plain_type, kind.any_of))
        return replace(kind, items=kind.items and plain_type(kind.items), properties=keys, any_of=branches)

    def plain_key(key):
        return replace(key, raw_type="", type=plain_type(key.type))

    return LookupDictionary(
        tuple(replace(tool, parameters=tuple(map(plain_key, tool.parameters))) for tool in dictionary.tools)
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
        if "white space around descriptions" in losses:
            function["description"] = function["description"].strip()
        for spec, nested in every_schema(function["parameters"]):
            if "integers are numbers" in losses and spec["type"] == "integer":
                spec["type"] = "number"
            if "words of nested keys" in losses and nested:
                spec.pop("description", None)
                spec.pop("default", None)
            if "defaults" in losses:
                spec.pop("default", None)
            if "white space around descriptions" in losses and "description" in spec and not nested:
                spec["description"] = spec["description"].strip()
        if "the sequence of keys" in losses:
            function["parameters"] = in_sequence(function["parameters"])
    return tools


def in_sequence(schema):
    if "properties" not in schema:
        return schema
    keys = sorted(schema["properties"], key=str.lower)
    return schema | {"properties": {key: in_sequence(schema["properties"][key]) for key in keys}}


def assert_read_back(template, tools):
    found = extract(rendered(template, tools))
    assert plain(found) == plain(extract(without_losses(template, tools)))


@pytest.mark.parametrize("template", EXACT)
@given(tools=tool_lists(ANYTHING))
@settings(max_examples=30)
def test_what_is_printed_as_json_reads_back(template, tools):
    assert_read_back(template, tools)


@pytest.mark.parametrize("template", [*UNESCAPED, *LOSSES])
@given(tools=tool_lists(TEXTS))
@settings(max_examples=50)
def test_what_is_printed_without_escapes_reads_back(template, tools):
    assert_read_back(template, tools)


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
