"""Texts that the readers read, in every format: rendered ones, or written from the same calls here."""

import json
from functools import cache

from reader_cases import RAW, padded, rendered

from tooldecoding.formats.reading import ReadCall

_GLM47 = "<arg_key>{}</arg_key><arg_value>{}</arg_value>"


@cache
def samples(name: str) -> list[str]:
    """Some dozens of valid texts of a format, without repetitions."""
    if name in _MADE:
        calls = [calls for _, calls in rendered()["json-list"] if name not in RAW or not padded(calls)]
        return list(dict.fromkeys(_MADE[name](c) for c in calls))
    texts = [text for text, calls in rendered()[name] if name not in RAW or not padded(calls)]
    return list(dict.fromkeys([*texts, *_VARIANTS.get(name, [])]))


def _json_list(calls: list[ReadCall]) -> str:
    rows = [{"name": name, "arguments": dict(pairs)} for name, pairs in calls]
    return json.dumps(rows, ensure_ascii=False)


def _glm47(calls: list[ReadCall]) -> str:
    blocks = []
    for name, pairs in calls:
        values = [(k, v if isinstance(v, str) else json.dumps(v)) for k, v in pairs]
        blocks.append(f"<tool_call>{name}{''.join(_GLM47.format(*pair) for pair in values)}</tool_call>")
    return "".join(blocks)


def _functiongemma(calls: list[ReadCall]) -> str:
    def value(found: object) -> str:
        if isinstance(found, str):
            return f"<escape>{found}<escape>"
        if isinstance(found, list):
            return f"[{','.join(map(value, found))}]"
        if isinstance(found, dict):
            return f"{{{','.join(f'{k}:{value(v)}' for k, v in found.items())}}}"
        return json.dumps(found)

    return "".join(f"<start_function_call>call:{name}{value(dict(pairs))}<end_function_call>" for name, pairs in calls)


def _python(calls: list[ReadCall]) -> list[str]:
    return [f"{name}({', '.join(f'{key}={value!r}' for key, value in pairs)})" for name, pairs in calls]


_MADE = {
    "functiongemma": _functiongemma,
    "glm-4.7": _glm47,
    "granite3": lambda calls: ("<tool_call>" if len(calls) > 1 else "<|tool_call|>") + _json_list(calls),
    "llama4-pythonic": lambda calls: (
        f"<|python_start|>[{', '.join(_python(calls))}]<|python_end|>"
        if len(calls) > 1
        else f"[{', '.join(_python(calls))}]"
    ),
    "olmo3": lambda calls: "<function_calls>\n" + "\n".join(_python(calls)) + "\n</function_calls>",
    "phi4-mini": lambda calls: (
        f"<|tool_call|>{_json_list(calls)}<|/tool_call|>" if len(calls) > 1 else f"functools{_json_list(calls)}"
    ),
    "pythonic": lambda calls: f"[{', '.join(_python(calls))}]",
}
_VARIANTS = {
    "harmony": [
        '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": [1, null]}<|call|>',
        '<|channel|>commentary to=functions.f<|constrain|>json<|message|>{"a": {"b": ""}}',
        " to=functions.a.b<|channel|>commentary <|constrain|>json<|message|>{}<|call|>",
    ],
    "hermes": [
        '<tool_call>{"name": "f", "arguments": {}}</tool_call><tool_call>{"name": "g", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "f", "arguments": {}}</tool_call>\n<tool_call>{"name": "g", "arguments": {}}</tool_call>',
    ],
    "llama3-json": ['{"name": "f", "parameters": {"a": "; "}}; {"name": "g", "parameters": {}}'],
    "mistral-list": ['[TOOL_CALLS][{"name": "f", "arguments": {}}, {"name": "g", "arguments": {"a": "é"}}]'],
    "lfm2.5": ['<|tool_call_start|>[f(a={"b": [true, null], "c": {"d": false}}, e=[None, True])]<|tool_call_end|>'],
    "deepseek-v3.2": [
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    ],
}
