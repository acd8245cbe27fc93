"""The judges of a call's text: programs of others that read native formats, each with the cases where it is wrong."""

import ast
import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from formats.readers.reader_cases import judge

Json = dict[str, Any]
Pairs = list[tuple[str, Json]]


@dataclass(frozen=True)
class Judged:
    """A text with the calls that the decoder says stand in it.

    Attributes
    ----------
    calls : list of (str, dict)
        Names and arguments as JSON has them, keys in the sequence of the text.
    schemas : list of dict
        Of all tools.
    """

    format: str
    text: str
    calls: Pairs
    schemas: list[Json]


class Refused(Exception):
    """Why a judge does not find the calls in a text."""


Verdict = str | None
"""Why a judge is not asked; None if it has found the calls."""

NOT_ASKED: Final = "-"
"""The verdict of a judge that does not read the format, or is not installed."""

Judge = Callable[[Judged], Verdict]


def same(found: Any, judged: Judged) -> None:
    """Refuse other names, keys or values than those of the decoder."""
    meant = [(name, arguments) for name, arguments in judged.calls]
    if _json([list(call) for call in found]) != _json([list(call) for call in meant]):
        raise Refused(f"reads {_json(found)}, not {_json(meant)}")


def _json(value: Any) -> str:
    """A text that tells 1, 1.0 and true apart; the sequence of keys does not count."""
    return json.dumps(value, sort_keys=True, default=list)


DEFAULT: Final = "the documented default, of another type"
MEMBER: Final = "a text of an enum that is documented with another type"


def strict_reader(judged: Judged) -> Verdict:
    """The strict readers with the tools' schemas: ``../shared/judges``."""
    if judged.format == "pythonic" and any(_has_tuple(arguments) for _, arguments in judged.calls):
        return "a tuple, which only Python reads"
    try:
        found = judge().read_calls(judged.format, judged.text, judged.schemas)
    except judge().FormatError as error:
        if judged.format in _RAW and (excluded := _contradicted(judged)):
            return excluded  # the schema says how the text is read
        raise Refused(str(error)) from None
    if judged.format in _RAW and (excluded := _contradicted(judged)):
        return excluded
    if judge().check_calls(found, judged.schemas):
        # Documentation that contradicts itself admits both, as in BFCL, where null is the default of a text.
        if problems := judge().check_calls([_uncontradicted(call, judged) for call in found], _lenient(judged)):
            raise Refused(problems[0])
        return _contradicted(judged)
    same(found, judged)
    return None


def _has_tuple(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return isinstance(value, tuple) or any(map(_has_tuple, inner))


_RAW: Final = ("qwen-xml", "glm-4.5", "glm-4.7", "minimax-m2")


def _specs(judged: Judged, name: str) -> Json:
    return next((s["parameters"].get("properties", {}) for s in judged.schemas if s["name"] == name), {})


def _contradicted(judged: Judged) -> str:
    """Why the documentation of an argument contradicts itself, so that a judge cannot know its type."""
    reasons = [
        _contradiction(judged, name, key, value) for name, arguments in judged.calls for key, value in arguments.items()
    ]
    return next(filter(None, reasons), "")


def _contradiction(judged: Judged, name: str, key: str, value: Any) -> str:
    spec = _specs(judged, name).get(key, {})
    if isinstance(value, str) and value in spec.get("enum", ()) and spec.get("type") != "string":
        return MEMBER
    is_default = "default" in spec and _json(spec["default"]) == _json(value)
    return DEFAULT if is_default and judge().check_calls([(name, {key: value})], _lenient(judged)) else ""


def _uncontradicted(call: tuple[str, Json], judged: Judged) -> tuple[str, Json]:
    """A call without the arguments whose documentation contradicts itself."""
    name, arguments = call
    return name, {k: v for k, v in arguments.items() if not _contradiction(judged, name, k, v)}


def _lenient(judged: Judged) -> list[Json]:
    """The schemas without required keys."""
    return [{**s, "parameters": {**s["parameters"], "required": []}} for s in judged.schemas]


_WRAPPERS: Final = {
    "pythonic": ("[", "]"), "llama4-pythonic": ("[", "]"), "lfm2.5": ("<|tool_call_start|>[", "]<|tool_call_end|>"),
    "olmo3": ("<function_calls>\n", "\n</function_calls>"),
}  # fmt: skip


def python(judged: Judged) -> Verdict:
    """Python's own parser."""
    if judged.format not in _WRAPPERS:
        return NOT_ASKED
    opener, closer = _WRAPPERS[judged.format]
    if not judged.text.startswith(opener) or not judged.text.endswith(closer):
        raise Refused("other brackets")
    inside = judged.text[len(opener) : len(judged.text) - len(closer)]
    try:
        body = ast.parse(f"[{inside if judged.format != 'olmo3' else inside.replace(chr(10), ', ')}]", mode="eval").body
        assert isinstance(body, ast.List)
        same([_python_call(node) for node in body.elts], judged)
    except (SyntaxError, ValueError) as error:
        raise Refused(str(error)) from None
    return None


def _python_call(node: ast.expr) -> tuple[str, Json]:
    assert isinstance(node, ast.Call) and not node.args
    return ast.unparse(node.func), {str(k.arg): ast.literal_eval(_JsonWords().visit(k.value)) for k in node.keywords}


class _JsonWords(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.expr:
        words = {"true": True, "false": False, "null": None}
        return ast.Constant(words[node.id]) if node.id in words else node


_MODEL_TYPES: Final = {"hermes": "qwen3", "qwen-xml": "qwen3_5", "gemma4": "gemma4"}


@cache
def _response_template(model_type: str) -> Any:
    from transformers.cli.serving.utils import _RESPONSE_TEMPLATE_FALLBACKS
    from transformers.utils.chat_parsing.response_templates import load_response_template

    found = next(t for types, t in _RESPONSE_TEMPLATE_FALLBACKS.items() if model_type in types)
    return load_response_template(found)


def transformers(judged: Judged) -> Verdict:
    """The response templates that transformers ships."""
    if judged.format not in _MODEL_TYPES:
        return NOT_ASKED
    if excluded := _transformers_cannot(judged):
        return excluded
    from transformers.utils.chat_parsing.response_parser import parse_response

    tools = [{"type": "function", "function": schema} for schema in judged.schemas]
    try:
        template = _response_template(_MODEL_TYPES[judged.format])
        message = parse_response(judged.text, template, prefix="", tools=tools)
    except (ValueError, TypeError) as error:
        raise Refused(str(error)) from None
    found = [call["function"] for call in message.get("tool_calls", [])]
    same([(call["name"], call["arguments"]) for call in found], judged)
    return None


def _transformers_cannot(judged: Judged) -> str:
    """Cases in which these parsers are known to be wrong."""
    if excluded := _contradicted(judged):
        return excluded
    if judged.format == "gemma4":
        if re.search("[\x01\x02]", judged.text):
            return "gemma4: \\x01 and \\x02, which the parser refuses"
        for name, arguments in judged.calls:
            if not re.fullmatch(r"\w+", name) or not all(re.fullmatch(r"\w+", key) for key in _keys(arguments)):
                return "gemma4: a name or key with other characters than \\w"
    if judged.format == "qwen-xml":
        for name, arguments in judged.calls:
            for key, value in arguments.items():
                if not isinstance(_specs(judged, name).get(key, {}).get("type"), str):
                    return "qwen-xml: a value without one documented type"
                if isinstance(value, float) and value.is_integer():
                    return "qwen-xml: 1.0 and 1e0 are read as 1"
    return ""


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _keys(item)


_XGRAMMAR: Final = {
    "hermes": "qwen_3", "qwen-xml": "qwen_3_5", "llama3-json": "llama", "glm-4.7": "glm_4_7", "kimi-k2": "kimi",
    "deepseek-v3": "deepseek_r1", "deepseek-v3.1": "deepseek_v3_1", "deepseek-v3.2": "deepseek_v3_2",
    "harmony": "harmony", "minimax-m2": "minimax",
}  # fmt: skip
"""Format -> its structural tag. The tag ``cohere`` is another format, that of Command A+."""

_BEFORE: Final = {"deepseek-v3.2": "\n\n", "minimax-m2": "\n</think>\n\n\n\n\n"}
"""What these tags want before the first mark."""


@cache
def has_xgrammar() -> bool:
    """Whether the package can be imported; it is no requirement."""
    try:
        import xgrammar.testing  # noqa: F401
    except ImportError:
        return False
    return True


def xgrammar(judged: Judged) -> Verdict:
    """The structural tags of xgrammar, for exactly this call: its keys in the sequence of the text."""
    if judged.format not in _XGRAMMAR or not has_xgrammar():
        return NOT_ASKED
    return _accepted(judged)


def _accepted(judged: Judged) -> Verdict:
    from xgrammar import Grammar
    from xgrammar.builtin_structural_tag import get_builtin_structural_tag
    from xgrammar.testing import _is_grammar_accept_string

    if excluded := _xgrammar_cannot(judged):
        return excluded
    tools = [{"type": "function", "function": _called(judged, name)} for name in dict(judged.calls)]
    tag = get_builtin_structural_tag(
        _XGRAMMAR[judged.format], tools, "required", reasoning="disabled", any_order=False, exclude_special_tokens=False
    )
    text = _BEFORE.get(judged.format, "") + judged.text.lstrip("\n")
    if judged.format == "harmony":  # the tag has no space there, and always the end of the turn
        text = text.replace(" <|constrain|>", "<|constrain|>", 1).removesuffix("<|call|>") + "<|call|>"
    if not _is_grammar_accept_string(Grammar.from_structural_tag(tag), text):
        raise Refused(f"xgrammar refuses {text!r}")
    return None


def _called(judged: Judged, name: str) -> Json:
    """A tool with just the keys of its calls, in their sequence."""
    tool = copy.deepcopy(next(s for s in judged.schemas if s["name"] == name))
    arguments = [called for other, called in judged.calls if other == name]
    properties = tool["parameters"].get("properties", {})
    keys = {key: _ordered(properties[key], [a[key] for a in arguments if key in a]) for key in max(arguments, key=len)}
    tool["parameters"] |= {"properties": keys, "additionalProperties": False}
    return tool


def _ordered(schema: Any, values: list[Any]) -> Any:
    """A schema with its keys in the sequence of the values, and without what xgrammar does not know."""
    plain = {k: v for k, v in schema.items() if k in ("type", "enum", "items", "properties", "required", "anyOf")}
    objects = [value for value in values if isinstance(value, dict)]
    if objects and isinstance(plain.get("properties"), dict):
        within = {key: [o[key] for o in objects if key in o] for key in max(objects, key=len)}
        plain["properties"] = {key: _ordered(plain["properties"][key], found) for key, found in within.items()}
        plain["additionalProperties"] = False
    if isinstance(plain.get("items"), dict):
        plain["items"] = _ordered(plain["items"], [v for value in values if isinstance(value, list) for v in value])
    return plain


def _xgrammar_cannot(judged: Judged) -> str:
    """Cases for which no schema with one sequence of keys can be made, or in which a tag is known to be wrong."""
    if excluded := _contradicted(judged):
        return excluded
    if re.search(r"-0(?![.\d])", judged.text):
        return "-0, which xgrammar takes for no integer"
    for name, arguments in judged.calls:
        if _several_sequences([other for called, other in judged.calls if called == name]):
            return "one tool twice, with keys in two sequences"
        if judged.format == "qwen-xml" and not arguments:
            return "qwen-xml: xgrammar wants an empty line in a call without arguments"
    return ""


def _several_sequences(values: Sequence[Any]) -> bool:
    """Whether objects in the same place have their keys in two sequences."""
    objects = [value for value in values if isinstance(value, dict)]
    longest = max(objects, key=len, default={})
    if any([key for key in longest if key in found] != list(found) for found in objects):
        return True
    items = [item for value in values if isinstance(value, list | tuple) for item in value]
    inside = [[found[key] for found in objects if key in found] for key in longest]
    return any(_several_sequences(part) for part in (*inside, items) if part)


JUDGES: Final[dict[str, Judge]] = {
    "strict reader": strict_reader, "Python's ast": python, "transformers": transformers, "xgrammar": xgrammar,
}  # fmt: skip


def judges_of(call_format: str) -> Sequence[str]:
    """The names of the judges that read a format."""
    asked = {"strict reader": True, "Python's ast": call_format in _WRAPPERS}
    asked |= {"transformers": call_format in _MODEL_TYPES, "xgrammar": call_format in _XGRAMMAR}
    return [name for name, reads in asked.items() if reads]
