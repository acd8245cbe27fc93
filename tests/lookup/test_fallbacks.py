"""Code and prose that could be documentation count only where nothing else documents a tool."""

import json

import pytest

from lookup import DocumentationError, extract

REAL = {"name": "real", "description": "d", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}

FALLBACKS = {
    "type": "// Gets it.\ntype get = (_: {\n// The city.\ncity: string,\n}) => any;",
    "interface": "interface Props {\n  title: string;\n}",
    "function": "/** Gets it. */\nfunction get(city: string): string;",
    "pydantic": 'class Answer(BaseModel):\n    """An answer."""\n\n    text: str\n',
    "dataclass": "@dataclass\nclass Note:\n    text: str\n    tags: list[str]\n",
    "Markdown list": "## get_city\nGets it.\n\n**Parameters:**\n- `city` (string, required): The city.",
    "Markdown table": "## get_city\nGets it.\n\n| parameter | type |\n|---|---|\n| city | string |",
    "lines": "Name: get_weather\nDescription: Gets weather\nParameters:\n- city (string, required): The city",
}


@pytest.mark.parametrize("kind", FALLBACKS)
def test_a_fallback_counts_alone_and_is_reported_beside_other_tools(kind):
    text = FALLBACKS[kind]
    assert len(extract(f"Use this.\n\n{text}\n").tools) == 1
    beside = extract(f"{json.dumps(REAL)}\n\nExample:\n\n{text}\n")
    assert list(beside) == ["real"]
    assert any("beside tools in another form" in entry.reason for entry in beside.unread)


@pytest.mark.parametrize("kind", FALLBACKS)
def test_a_fallback_of_the_system_goes_before_tools_of_a_question(kind):
    text = f"<|im_start|>system\n{FALLBACKS[kind]}\n<|im_end|>\n<|im_start|>user\n{json.dumps(REAL)}<|im_end|>\n"
    tools = extract(text)
    assert "real" not in tools and len(tools.tools) == 1
    assert any("in the user's words" in entry.reason for entry in tools.unread)


NO_TOOLS = [
    "# Guide\n\n## Installation\n- python (3.11): needed\n- pip: newest\n\n## Options\n"
    "| Name | Value |\n|---|---|\n| a | b |\n",
    "Action: search\nAction Input: {'q': 'x'}\nParameters: {'city': 'Paris'}\nArguments: {\"a\": {\"b\": 1}}\n",
    "const x = {name: 'get', arguments: {city: 'Paris'}};\nf({type: 'object', name: 'y'});\n",
    "const tools = [{type: 'function', function: {name: 'g'}}];\n",
    "function add(a, b) { return a + b; }\nexport function sub(a: number, b: number): number {\n  return a - b;\n}\n",
    "type Unit = 'c' | 'f';\nenum Colour { Red, Green }\nlet x: string = 'type y = (_: {z: string}) => any';\n",
    "class Service:\n    url: str\n    def run(self) -> None: ...\n".replace("def run(self) -> None: ...", "pass"),
    "class Colour(Enum):\n    RED = 1\n",
    "<function><name>f</name>is a function</function> and <name>Peter</name>\n",
    "The call:f{a:1} follows declaration:f{a} as in <escape>x<escape>.\n",
    "Returns, args: {} and more, args: {'a': 1}\n",
    "- note: this\n    Takes inputs: none\n",
]


@pytest.mark.parametrize("text", NO_TOOLS)
def test_code_prose_and_calls_are_no_tools(text):
    with pytest.raises(DocumentationError, match="no tool documentation found"):
        extract(f"Hello.\n{text}\nGo on.")
    assert list(extract(f"{json.dumps(REAL)}\n\n{text}")) == ["real"]


@pytest.mark.parametrize(
    "text",
    [
        "type get = (_: {city string}) => any;",
        "namespace functions {\n\n// D.\ntype get = (_: {\n// The city.\ncity: {\n\n} // namespace functions",
        "**Parameters:**\nas told",
        "- get: Gets it.\n    Takes inputs: {'city': String}\n",
        "const t = tool({description: 'd', parameters: z.object({city: z.string()})})",
        "<function>\n<name>get</name>\n<parameters>\n",
        "get: Gets it, args: {city: string}",
    ],
)
def test_what_stays_unread_is_reported(text):
    tools = extract(f"{json.dumps(REAL)}\n\n{text}\n")
    assert list(tools) == ["real"] and tools.unread
