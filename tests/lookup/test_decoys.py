"""Documentation inside a user's turn and text that resembles documentation: what is read, and what is reported."""

import json

import pytest

from lookup import DocumentationError, extract

REAL = {"name": "uber.ride", "description": "d", "parameters": {"type": "dict", "properties": {}, "required": []}}
TWIN = REAL | {"api_name": "uber.ride", "parameters": [{"name": "loc", "description": "d"}]}

# Other lists of tools that people paste into a question.
DECOYS = {
    "gorilla": f"### Instruction: <<function>>[[{json.dumps(TWIN)}]]\n<<question>>Go.\n### Response: ",
    "gorilla call": '<<function>>[{"name": "Ride", "api_call": "uber.ride2", "parameters": [{"name": "a"}]}]',
    "lists": str(
        [{"name": "acl.add", "parameters": {"required": [{"name": "x", "type": "torch.dtype"}], "optional": []}}]
    ),
    "trailing commas": 'functions = [ {"name": "g", "parameters": {"properties": {"a": {"type": "list"},},},},]',
    "openai": json.dumps({"type": "function", "function": {"name": "g", "parameters": {"description": "g(a: int)"}}}),
    "langchain": "add(a: int, b: int) -> int - Adds.\n    Args:\n        a: x",
    "xml": "<function><name>g</name><parameters><parameter><name>a</name></parameter></parameters></function>",
    "python": "def g(a: int):\n    return a",
    "broken": '{"name": "g", "description": "d", "parameters": {"type": "object" "properties"',
}
TEMPLATES = {
    "lines": "Instruction.\n{tools}\n\nUser: {question}\nCalls: ",
    "chatml": "<|im_start|>system\n{tools}<|im_end|>\n<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n",
    "llama": "<|start_header_id|>system<|end_header_id|>\n\n{tools}<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\n{question}",
    "llama 2": "[INST] <<SYS>>\n{tools}\n<</SYS>>\n\n{question} [/INST]",
    "mistral": "[AVAILABLE_TOOLS] {tools}[/AVAILABLE_TOOLS][INST] {question}[/INST]",
    "zephyr": "<|system|>\n{tools}\n<|user|>\n{question}\n<|assistant|>\n",
}


@pytest.mark.parametrize("decoy", DECOYS)
@pytest.mark.parametrize("template", TEMPLATES)
def test_the_tools_of_the_system_go_before_those_in_a_question(template: str, decoy: str) -> None:
    question = f"What is this?\n{DECOYS[decoy]}"
    tools = extract(TEMPLATES[template].format(tools=json.dumps([REAL]), question=question))
    assert list(tools) == ["uber.ride"] and not tools["uber.ride"].parameters
    assert any("in the user's words" in entry.reason for entry in tools.unread), tools.unread


FOUND = json.dumps({"name": "found", "description": "d", "input_parameters": {}})
FUNCTIONS = 'def f(a: int):\n    """Answers.\n\nUser: asks\n    """\n\ndef g(b: str):\n    """d"""\n'


@pytest.mark.parametrize(
    ("text", "names"),
    [
        *((t.format(tools="Be kind.", question=f"Use {json.dumps(REAL)}."), ["uber.ride"]) for t in TEMPLATES.values()),
        (f"Tools:\n{json.dumps(REAL)}\n\nUser: hi\nAPI-Response: {FOUND}\nAPI-Request: ", ["uber.ride", "found"]),
        (FUNCTIONS, ["f", "g"]),
    ],
)
def test_where_no_user_s_words_stand_beside_others_all_tools_are_taken(text: str, names: list[str]) -> None:
    assert list(extract(text)) == names


def test_documentation_in_strings_is_not_searched_but_reported() -> None:
    inner = json.dumps(json.dumps({"name": "g", "parameters": {"type": "object", "properties": {}}}))
    tools = extract(f'{json.dumps(REAL)}\n{{"note": {inner}}}')
    assert list(tools) == ["uber.ride"]
    assert str(tools.unread[0]) == "<text>:2:29: documentation inside a string, which is not searched"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("type get_weather = (_: {city: string}) => any;", "a function without documentation"),
        ("namespace functions {\ntype get = (_: {city: {\n}", "a function without documentation"),
        ("class Weather(BaseModel):\n    city: str", "the source text of a class"),
        ("const tools = [{name: 'g', parameters: {type: 'object'}}]", "an object of a script"),
        ("name: g\nparameters:\n  type: object\n  properties: {a: {type: string}}", "YAML inside other text"),
        ('<function name="g"><params></params></function>', "an element of a tool"),
        ("**Parameters:**\n- `city` (string, required): The city.", "parameters of a tool in a form"),
        ("get: Gets it.\nParameters: {'city': 'Required. string.'}", "parameters of a tool in a form"),
        ("get: Gets it, args: {'city': {'type': 'string'}}", "parameters of a tool in a form"),
        ("- get: Gets it.\n    Takes inputs: {'city': {'type': 'string'}}", "parameters of a tool in a form"),
        ("Tool Arguments: {'city': {'type': 'str'}}", "parameters of a tool in a form"),
        ("| Parameter | Type |\n|---|---|\n| city | string |", "parameters of a tool in a form"),
        ("- get(city?: string): string", "parameters of a tool in a form"),
        ("## Function: get_weather\nIt takes a city.", "a heading of a tool"),
        ('<tool name="x" kind="y">nothing</tool>', "an element of a tool"),
        ('"parameters": {"a": 1}', "an object with parameters"),
        ("input_parameters = build()", "an assignment of parameters"),
        ('{"name": "g", "description": "d", "arguments": {"a": "text"}}', "documented in no form"),
    ],
)
def test_what_looks_like_a_tool_is_reported(text: str, reason: str) -> None:
    tools = extract(f"{json.dumps(REAL)}\n\nNow\n{text}\n")
    assert list(tools) == ["uber.ride"]
    assert reason in tools.unread[0].reason
    span = tools.unread[0].source.span
    assert span and span.line in (4, 5)
    with pytest.raises(DocumentationError, match=f"no tool documentation found; what looks like a tool: .*{reason}"):
        extract(f"Now\n{text}\n")


def test_ordinary_prose_is_not_reported() -> None:
    text = "Use f(x), {braces} and [lists]. def is a word; Function names vary.\nArgs are fine.\nparameters: many\n"
    assert not extract(f"{text}{json.dumps(REAL)}\n{text}").unread


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "uber.ride", "parameters": {}}',
        '{"type": "function", "name": "uber.ride", "parameters": {}}',
        '{"name": "create_page", "parameters": {"parent": {"id": "1"}, "properties": {"title": "T"}}}',
        'Respond with {"name": "tool_name", "parameters": {"arg1": value1}} only.',
        '{"name": "func", "parameters": {"param": <value>}}',
        '{"name": "tool_name", "parameters": {...}}',
        'Answer as {"name": function name, "parameters": dictionary of argument name and its value}.',
        'Answer as {"name": <function-name>, "arguments": <args-json-object>}.',
        'For example {"name": "uber.ride", "parameters": {"type": "plus", "time": 10}}.',
        'Call {"type": "function", "function": {"name": "uber.ride", "arguments": "{}"}}.',
        'With {"tool_choice": {"type": "function", "function": {"name": "uber.ride"}}}.',
        "Use [brackets], {braces} and {'sets', } {\"a\": b} as you like, don't (unless [",
        'It says "{\\"name\\": \\"g\\"}" in a string: {"text": "{\\"name\\": 1, \\"parameters\\": {}}"}',
        'search(query: "Paris")',
        "get_weather(city: Paris)",
        "print(x: y)",
        "Action: search\nAction Input: {'q': 'x'}\nParameters: {'city': 'Paris'}",
        "<function><name>f</name>is a function</function> and <name>Peter</name>",
        "The call:f{a:1} follows declaration:f{a} as in <escape>x<escape>.",
        "class Colour(Enum):\n    RED = 1",
        "f(a: int) {\n  return a;\n}",
        *("f(x=1)", "see f(x) for more", "Returns (a: b)", "if (x: y)", "if(x: y):", 'print("a: b")', "f()", "f(x)"),
        *("[f(x: int)](https://a.b)", "f(a: int) {", "f(a: int) -> int {", "f(a: int): string;", "f(lambda: int)"),
        *("(token: str, content: str)", "f(a: the first, b: int)", "f(a: int, b)", "f(a: int) and more", "f(a: 1)"),
        *("class A(b: int):", "function f(a: number): string", 'f() -> "text"', "f(a: int", "f(e.g.: int)"),
        *("AddAgenda(token: str, ...)\ninput_parameters = {}", 'x = {"a": "\\nf(a: int)"}'),
        "The paths: many.\nopenapi: what is it\nname: Bob\ndescription: A man: tall.\nUser: hello\n",
        "---\nname: review\ndescription: Reviews code.\ntools: ['a', 'b']\n---\n# Review\n\nDo: it.\n",
        "User: find the paths: /a\nAI: name: x\ntools: none\nparameters: none\n",
        '```\n{\n  "openapi": "3.0.0",\n  "paths": {\n    "/a": {}\n  },\n  "parameters": {}\n}\n```',
        "```\nclass Tool:\n    name: str\n    parameters: dict\n    tools: list = [\n```\n",
        "GET /movie/{movie_id}/keywords\nGET /a to list: b\n\n== Docs for the API ==\nparameters:\n- a\n",
        "```\ntools:\n- 'a\n```\n```yaml\na: 1\n```\n",
    ],
)
def test_calls_placeholders_code_and_prose_beside_documentation_are_no_tools(text: str) -> None:
    real = json.dumps(REAL)
    for written in (f"{text}\n{real}", f"For example\n{text}\n\n{real}\n\nExample:\n{text}\n"):
        if not written.startswith("{"):  # then the whole text would be JSON
            assert list(extract(written)) == ["uber.ride"]
