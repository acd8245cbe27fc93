"""Each native format by one call with a text and a number, its other spellings, and what is near it but no call."""

import json

import pytest
from reader_cases import RAW, READERS, refused

JSON = '{"city": "Paris \\"x\\"", "days": 3}'
DSML = "｜DSML｜"
ONE = {
    "cohere": '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "f", "parameters": '
    f"{JSON}}}\n]<|END_ACTION|>",
    "deepseek-v3": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n"
    f"```json\n{JSON}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek-v3.1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>"
    f"{JSON}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek-v3.2": f'<{DSML}function_calls>\n<{DSML}invoke name="f">\n<{DSML}parameter name="city" string="true">'
    f'Paris "x"</{DSML}parameter>\n<{DSML}parameter name="days" string="false">3</{DSML}parameter>\n</{DSML}invoke>\n'
    f"</{DSML}function_calls>",
    "functiongemma": '<start_function_call>call:f{city:<escape>Paris "x"<escape>,days:3}<end_function_call>',
    "gemma4": '<|tool_call>call:f{city:<|"|>Paris "x"<|"|>,days:3}<tool_call|>',
    "glm-4.5": '<tool_call>f\n<arg_key>city</arg_key>\n<arg_value>Paris "x"</arg_value>\n<arg_key>days</arg_key>\n'
    "<arg_value>3</arg_value>\n</tool_call>",
    "glm-4.7": '<tool_call>f<arg_key>city</arg_key><arg_value>Paris "x"</arg_value><arg_key>days</arg_key>'
    "<arg_value>3</arg_value></tool_call>",
    "granite3": f'<tool_call>[{{"name": "f", "arguments": {JSON}}}]',
    "harmony": f"<|channel|>commentary to=functions.f <|constrain|>json<|message|>{JSON}<|call|>",
    "hermes": f'<tool_call>\n{{"name": "f", "arguments": {JSON}}}\n</tool_call>',
    "json-list": f'[{{"name": "f", "arguments": {JSON}}}]',
    "kimi-k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
    f"{JSON}<|tool_call_end|><|tool_calls_section_end|>",
    "lfm2.5": "<|tool_call_start|>[f(city='Paris \"x\"', days=3)]<|tool_call_end|>",
    "llama3-json": f'{{"name": "f", "parameters": {JSON}}}',
    "llama4-pythonic": "[f(city='Paris \"x\"', days=3)]",
    "minimax-m2": '<minimax:tool_call>\n<invoke name="f">\n<parameter name="city">Paris "x"</parameter>\n'
    '<parameter name="days">3</parameter>\n</invoke>\n</minimax:tool_call>',
    "mistral-args": f"[TOOL_CALLS]f[ARGS]{JSON}",
    "mistral-list": f'[TOOL_CALLS] [{{"name": "f", "arguments": {JSON}, "id": "call00000"}}]',
    "olmo3": "<function_calls>\nf(city='Paris \"x\"', days=3)\n</function_calls>",
    "phi4-mini": f'<|tool_call|>[{{"name": "f", "arguments": {JSON}}}]<|/tool_call|>',
    "pythonic": "[f(city='Paris \"x\"', days=3)]",
    "qwen-xml": '<tool_call>\n<function=f>\n<parameter=city>\nParis "x"\n</parameter>\n<parameter=days>\n3\n'
    "</parameter>\n</function>\n</tool_call>",
}


@pytest.mark.parametrize("name", READERS)
def test_one_call(name: str) -> None:
    assert READERS[name](ONE[name]) == [("f", [("city", 'Paris "x"'), ("days", "3" if name in RAW else 3)])]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("deepseek-v3.2", f'<{DSML}parameter name="city" string="true">Paris "x"</{DSML}parameter>\n', ""),
        ("granite3", "<tool_call>", "<|tool_call|>"),
        ("harmony", " <|constrain|>", "<|constrain|>"),
        ("harmony", "<|call|>", ""),
        ("harmony", "<|channel|>commentary to=functions.f <|constrain|>", " to=functions.f<|channel|>commentary "),
        ("harmony", "<|channel|>commentary to=functions.f ", " to=functions.f<|channel|>commentary "),
        ("hermes", "\n", ""),
        ("kimi-k2", ":0", ":17"),
        ("mistral-args", "[ARGS]", "[CALL_ID]aB3456789[ARGS]"),
        ("mistral-list", ', "id": "call00000"', ""),
        ("mistral-list", "] ", "]"),
        ("phi4-mini", "<|tool_call|>", "functools"),
    ],
)
def test_other_spellings_are_the_same_call(name: str, old: str, new: str) -> None:
    text = ONE[name].replace(old, new)
    if new == "functools":
        text = text.removesuffix("<|/tool_call|>")
    assert text != ONE[name] and READERS[name](text)[0][1][-1] == READERS[name](ONE[name])[0][1][-1]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("cohere", '"0"', "0"), ("cohere", '"0"', '"00"'), ("cohere", '"0"', '"-1"'),
        ("cohere", '"0"', '"' + "9" * 5000 + '"'),
        ("deepseek-v3", "function<", "tool<"), ("deepseek-v3", "```json\n", "```json"),
        ("deepseek-v3", "\n```<", "```<"),
        ("deepseek-v3.1", "f<", "f <"), ("deepseek-v3.1", "<｜tool▁call▁end｜>", "<｜tool▁call▁end｜>\n"),
        ("deepseek-v3.2", '"false">3', '"false">"3"'), ("deepseek-v3.2", '"false">3', '"false"> 3'),
        ("deepseek-v3.2", '"false">3', '"False">3'), ("deepseek-v3.2", '"false">3', f'"false">["</{DSML}parameter>"]'),
        ("deepseek-v3.2", f"\n</{DSML}invoke>", f"\n\n</{DSML}invoke>"),
        ("functiongemma", "city:", '"city":'), ("functiongemma", ",days", ", days"), ("functiongemma", "3", "3."),
        ("gemma4", "city:", '<|"|>city<|"|>:'), ("gemma4", "3", "03"), ("gemma4", "3", "True"), ("gemma4", "3", '"3"'),
        ("gemma4", "3", "[1,]"), ("gemma4", "3", "{a:1,}"), ("gemma4", "3", "nullx"), ("gemma4", "days:3", ""),
        ("glm-4.5", "</arg_key>\n", "</arg_key>"), ("glm-4.5", ">3<", "> 3<"), ("glm-4.5", ">days<", ">days <"),
        ("glm-4.7", "f<", "f\n<"), ("glm-4.7", "f<", "<"), ("glm-4.7", "3", "</arg_value>"),
        ("granite3", "<tool_call>", ""), ("granite3", "]", "]</tool_call>"),
        ("granite3", "<tool_call>", "<tool_call> "),
        ("harmony", "functions.f", "f"), ("harmony", "commentary", "analysis"), ("harmony", "json", "text"),
        ("hermes", '"name": "f", ', ""), ("hermes", '"f"', '""'), ("hermes", '"f"', "null"), ("hermes", JSON, "[]"),
        ("hermes", JSON, JSON + ', "id": 1'), ("hermes", JSON, f'{JSON}, "name": "g"'), ("hermes", "}\n", "}"),
        ("hermes", '"name"', '"function"'), ("hermes", JSON, '"{}"'), ("hermes", "\n{", "\n {"),
        ("json-list", ONE["json-list"], "[]"), ("json-list", ONE["json-list"], "[[]]"), ("json-list", "}]", "},]"),
        ("json-list", ONE["json-list"], "{}"), ("json-list", "[", " ["),
        ("kimi-k2", ":0", ""), ("kimi-k2", ":0", ":00"), ("kimi-k2", ":0", ":" + "9" * 5000),
        ("kimi-k2", "functions.", ""),
        ("lfm2.5", "3", "true"), ("lfm2.5", "[f", "f"), ("lfm2.5", "<|tool_call_end|>", ""),
        ("lfm2.5", "3", "{1: 1, 1: 2}"),
        ("llama3-json", '"parameters"', '"arguments"'), ("llama3-json", "{", "<|python_tag|>{"),
        ("llama4-pythonic", "[f", "<|python_start|>[f"), ("llama4-pythonic", "]", "]<|python_end|>"),
        ("minimax-m2", ">3<", ">3\n<"), ("minimax-m2", '"days"', "days"), ("minimax-m2", "</invoke>\n", "</invoke>"),
        ("mistral-args", "f[", " f["), ("mistral-args", "[ARGS]", ""),
        ("mistral-args", "[ARGS]", "[CALL_ID]call0000[ARGS]"),
        ("mistral-list", "call00000", "call-0000"), ("mistral-list", '"call00000"', "1"),
        ("mistral-list", "] ", "]  "),
        ("olmo3", "f(", "[f("), ("olmo3", "f(", "\nf("), ("olmo3", "</", "\n</"), ("olmo3", "days=3", "3"),
        ("phi4-mini", "<|/tool_call|>", ""), ("phi4-mini", "<|tool_call|>", "functools"),
        ("phi4-mini", "<|tool_call|>", ""),
        ("pythonic", ONE["pythonic"], "[]"), ("pythonic", ONE["pythonic"], ONE["pythonic"] + " # ]"),
        ("pythonic", ONE["pythonic"], f"({ONE['pythonic']})"), ("pythonic", "3", "1e999"), ("pythonic", "3", "-1e999"),
        ("qwen-xml", "\n3\n", "3\n"), ("qwen-xml", "\n3\n", "\n3"), ("qwen-xml", "\n3\n", "\n\n3\n"),
        ("qwen-xml", "\n3\n", "\n3 \n"), ("qwen-xml", "\n3\n", "\n"), ("qwen-xml", "=days>", "=days >"),
        ("qwen-xml", "</function>\n", "\n</function>\n"),
    ],
)  # fmt: skip
def test_what_is_near_is_refused(name: str, old: str, new: str) -> None:
    text = ONE[name].replace(old, new)
    assert text != ONE[name] and refused(name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cohere", '<|START_ACTION|>[{"tool_call_id": "%d", "tool_name": "f", "parameters": {}}, '
                   '{"tool_call_id": "%d", "tool_name": "g", "parameters": {}}]<|END_ACTION|>'),
        ("kimi-k2", "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:%d<|tool_call_argument_begin|>{}"
                    "<|tool_call_end|><|tool_call_begin|>functions.g:%d<|tool_call_argument_begin|>{}<|tool_call_end|>"
                    "<|tool_calls_section_end|>"),
    ],
)  # fmt: skip
def test_ids_rise_by_one(name: str, text: str) -> None:
    assert READERS[name](text % (4, 5)) == [("f", []), ("g", [])]
    assert all(refused(name, text % ids) for ids in ((4, 4), (4, 6), (4, 3), (0, 0)))


def test_mistral_s_ids_stand_in_all_calls_or_in_none_and_differ() -> None:
    def listed(*ids: str) -> str:
        rows = [{"name": "f", "arguments": {}} | ({"id": i} if i else {}) for i in ids]
        return f"[TOOL_CALLS]{json.dumps(rows)}"

    def told(*ids: str) -> str:
        return "".join(f"[TOOL_CALLS]f{i and f'[CALL_ID]{i}'}[ARGS]{{}}" for i in ids)

    for name, text in (("mistral-list", listed), ("mistral-args", told)):
        for ids in (("", ""), ("call00000", "call00001")):
            assert READERS[name](text(*ids)) == [("f", []), ("f", [])]
        for ids in (("call00000", "call00000"), ("call00000", ""), ("", "call00000")):
            assert refused(name, text(*ids))


def test_raw_values_may_hold_other_marks() -> None:
    for name in RAW:
        held = "<b>&amp;</b> </function> <arg_key> \\n"
        assert READERS[name](ONE[name].replace('Paris "x"', held))[0][1][0] == ("city", held)
        assert READERS[name](ONE[name].replace('Paris "x"', ""))[0][1][0] == ("city", "")


def test_hermes_blocks_are_all_of_one_kind() -> None:
    wide, tight = ONE["hermes"], ONE["hermes"].replace("\n", "")
    for text in (f"{wide}\n{wide}", f"{tight}\n{tight}", f"{tight}{tight}"):
        assert READERS["hermes"](text) == READERS["hermes"](wide) * 2
    for text in (f"{wide}{wide}", f"{wide}\n{tight}", f"{tight}\n{wide}", f"{wide}\n\n{wide}"):
        assert refused("hermes", text)
