"""The original chat templates, and short ones of our own for each format that writes calls in its own way."""

from typing import Final

import pytest

from data import DATA

TEMPLATES: Final = DATA.parent / "templates"

ORIGINALS: Final = {
    "deepseekv3": "deepseek-v3",
    "glm4moe": "glm-4.5",
    "gptoss": "harmony",
    "lfm2_2_5": "lfm2.5",
    **dict.fromkeys(["llama3_1", "llama3_2"], "llama3-json"),
    **dict.fromkeys(["mistral_v3", "mistral_v3_spm", "mistral_v7"], "mistral-list"),
    **dict.fromkeys(["mistral_v11", "mistral_v13"], "mistral-args"),
    **dict.fromkeys(["qwen2_5", "qwen3"], "hermes"),
    **dict.fromkeys(["qwen3_5_nothink", "qwen3_5_think"], "qwen-xml"),
}
"""Original template that writes calls -> format."""


def original(name: str) -> str:
    """The text of an original template."""
    path = TEMPLATES / f"{name}.jinja"
    if not path.is_file():
        pytest.skip(f"the template is not at {path}")
    return path.read_text(encoding="utf-8")


_TURNS: Final = """\
{{ bos_token }}{% if tools %}Tools: {{ tools | tojson }}
{% endif %}{% for message in messages %}<turn of {{ message.role }}>
{% if message.tool_calls %}CALLS{% else %}{{ message.content }}{% endif %}</turn>
{% endfor %}"""

_EACH: Final = (
    "{% for c in message.tool_calls %}{% set f = c.function %}{% set last = loop.last %}{% set n = loop.index0 %}"
)
_JSON_LIST: Final = (
    "["
    + _EACH
    + '{"name": "{{ f.name }}", "arguments": {{ f.arguments | tojson }}}{{ "" if last else ", " }}{% endfor %}]'
)
_PYTHON: Final = (
    _EACH
    + "{{ f.name }}({% for k, v in f.arguments.items() %}{{ k }}={{ QUOTED if v is string else v }}"
    + '{{ "" if loop.last else ", " }}{% endfor %}){{ "" if last else GAP }}{% endfor %}'
)
_GEMMA: Final = (
    "{% macro put(v) %}{% if v is string %}MARK{{ v }}MARK{% elif v is mapping %}{{ '{' }}"
    "{% for k, x in v | dictsort %}{{ k }}:{{ put(x) }}{{ '' if loop.last else ',' }}{% endfor %}{{ '}' }}"
    "{% else %}{{ v | tojson }}{% endif %}{% endmacro %}"
) + (_EACH + "OPENcall:{{ f.name }}{{ put(f.arguments) }}CLOSE{% endfor %}")
_COHERE: Final = (
    f"<|START_ACTION|>[{_EACH}"
    '\n    {"tool_call_id": "{{ n }}", "tool_name": "{{ f.name }}", "parameters": {{ f.arguments | tojson }}}'
    '{{ "" if last else "," }}{% endfor %}\n]<|END_ACTION|>'
)
_RAW: Final = "{{ v if v is string else v | tojson }}"


def _python(quoted: str, gap: str = "', '") -> str:
    return _PYTHON.replace("QUOTED", quoted).replace("GAP", gap)


def _gemma(mark: str, opening: str, closing: str) -> str:
    return _GEMMA.replace("MARK", mark).replace("OPEN", opening).replace("CLOSE", closing)


CALLS: Final = {
    "hermes": _EACH
    + '<tool_call>\n{"name": "{{ f.name }}", "arguments": {{ f.arguments | tojson }}}\n</tool_call>'
    + '{{ "" if last else "\\n" }}{% endfor %}',
    "hermes, arguments first": _EACH
    + '<tool_call>\n{ "arguments": {{ f.arguments | tojson }}, "name": "{{ f.name }}"}\n</tool_call> {% endfor %}',
    "hermes, spread over lines": _EACH
    + '<tool_call>\n{"name": {{ f.name | tojson }}, "arguments": {{ f.arguments | tojson(indent=2) }}}\n'
    + "</tool_call>{% endfor %}",
    "qwen-xml, Python's words": _EACH
    + "<tool_call>\n<function={{ f.name }}>\n{% for k, v in f.arguments.items() %}<parameter={{ k }}>\n"
    + "{{ v | tojson if v is mapping else v }}\n</parameter>\n{% endfor %}</function>\n</tool_call>{% endfor %}",
    "mistral-list, escaped unless a text": "[TOOL_CALLS]["
    + _EACH
    + '{"name": "{{ f.name }}", "arguments": {{ f.arguments if f.arguments is string else f.arguments | string | e }},'
    + ' "id": "{{ c.id }}"}{{ "" if last else ", " }}{% endfor %}]',
    "glm-4.7": _EACH
    + "<tool_call>{{ f.name }}{% for k, v in f.arguments.items() %}<arg_key>{{ k }}</arg_key>"
    + f"<arg_value>{_RAW}</arg_value>"
    + "{% endfor %}</tool_call>{% endfor %}",
    "deepseek-v3.1": "<｜tool▁calls▁begin｜>"
    + _EACH
    + "<｜tool▁call▁begin｜>{{ f.name + '<｜tool▁sep｜>' + f.arguments }}<｜tool▁call▁end｜>"
    + "{% endfor %}<｜tool▁calls▁end｜>",
    "deepseek-v3.2": "\n\n<｜DSML｜function_calls>\n"
    + _EACH
    + '<｜DSML｜invoke name="{{ f.name }}">\n{% for k, v in f.arguments.items() %}'
    + '<｜DSML｜parameter name="{{ k }}" string="{{ (v is string) | tojson }}">'
    + _RAW
    + "</｜DSML｜parameter>\n{% endfor %}</｜DSML｜invoke>\n{% endfor %}</｜DSML｜function_calls>",
    "gemma4": _gemma('<|"|>', "<|tool_call>", "<tool_call|>"),
    "functiongemma": _gemma("<escape>", "<start_function_call>", "<end_function_call>"),
    "llama4-pythonic": "[" + _python('"\'" + v + "\'"') + "]",
    "olmo3": "<function_calls>\n" + _python("'\"' + v + '\"'", gap=r"'\n'") + "{{ '\\n' }}</function_calls>",
    "json-list": _JSON_LIST,
    "granite3": "<tool_call>" + _JSON_LIST,
    "granite3, a token": "<|tool_call|>" + _JSON_LIST,
    "phi4-mini": "<|tool_call|>" + _JSON_LIST + "<|/tool_call|>",
    "kimi-k2": "<|tool_calls_section_begin|>"
    + _EACH
    + "<|tool_call_begin|>{{ c.id }}<|tool_call_argument_begin|>"
    + "{{ f.arguments if f.arguments is string else f.arguments | tojson }}<|tool_call_end|>"
    + "{% endfor %}<|tool_calls_section_end|>",
    "minimax-m2": "\n<minimax:tool_call>\n"
    + _EACH
    + '<invoke name="{{ f.name }}">\n{% for k, v in f.arguments.items() %}<parameter name="{{ k }}">'
    + _RAW
    + "</parameter>\n{% endfor %}</invoke>\n{% endfor %}</minimax:tool_call>",
    "cohere": _COHERE,
    "cohere, ids": _COHERE.replace("{{ n }}", "{{ c.id }}"),
}
"""Format, with what is special about its spelling behind a comma -> what the template writes for ``tool_calls``.

For formats and spellings that no original template has.
"""

UNKNOWN: Final = {
    "tags around a list": "<TOOLCALL>" + _JSON_LIST + "</TOOLCALL>",
    "bare objects with arguments": _EACH
    + '{"name": "{{ f.name }}", "arguments": {{ f.arguments | tojson }}}{% endfor %}',
    "arguments that are texts twice": _EACH
    + '<tool_call>\n{"name": "{{ f.name }}", "arguments": {{ f.arguments | string | tojson }}}\n</tool_call>'
    + "{% endfor %}",
}
"""Ways to write calls that no format has."""


def template(calls: str) -> str:
    """Return a chat template that writes calls in this way."""
    return _TURNS.replace("CALLS", calls)
