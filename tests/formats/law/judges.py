"""The judges of a call's text: programs of others that read native formats, each with the cases where it is wrong."""

import ast
import json
from dataclasses import dataclass
from typing import Any, Final

from eval.benchmarks.api_bank.checker import get_api_call
from formats.readers.reader_cases import RAW, JsonWords, judge

Json = dict[str, Any]
Pairs = list[tuple[str, Json]]


@dataclass(frozen=True)
class Judged:
    """A text, the calls that the decoder says stand in it (keys in their sequence), and the schemas of all tools."""

    format: str
    text: str
    calls: Pairs
    schemas: list[Json]


DEFAULT: Final = "the documented default, of another type"
MEMBER: Final = "a text of an enum that is documented with another type"


def ask(judged: Judged) -> str:
    """Why the judge of the format cannot tell; empty if it finds the calls, an error if it does not."""
    return _api_bank(judged) if judged.format == "api-bank" else _strict_reader(judged)


def _strict_reader(judged: Judged) -> str:
    """The strict readers with the tools' schemas: ``../shared/judges``."""
    if judged.format == "pythonic" and any(_has_tuple(arguments) for _, arguments in judged.calls):
        return "a tuple, which only Python reads"
    if judged.format in RAW and (excluded := _contradicted(judged)):
        return excluded  # the schema says how the text is read
    found = judge().read_calls(judged.format, judged.text, judged.schemas)
    if excluded := _disobeyed(found, judged):
        return excluded
    assert _json(found) == _json(judged.calls), judged.text
    return ""


def _json(value: Any) -> str:
    """A text that tells 1, 1.0 and true apart; the sequence of keys does not count."""
    return json.dumps(value, sort_keys=True, default=list)


def _disobeyed(found: Pairs, judged: Judged) -> str:
    """Refuse calls that the schemas forbid; or why that cannot be told.

    Documentation that contradicts itself admits both, as in BFCL, where null is the default of a text.
    """
    if not judge().check_calls(found, judged.schemas):
        return ""
    assert not judge().check_calls([_uncontradicted(call, judged) for call in found], _lenient(judged)), judged.text
    return _contradicted(judged)


def _api_bank(judged: Judged) -> str:
    """Python's own parser and API-Bank's evaluator; every value is a text in quotes."""
    body = ast.parse(judged.text, mode="eval").body
    assert isinstance(body, ast.List)
    found = [_python_call(node) for node in body.elts]
    official = get_api_call(judged.text)
    assert official is not None and official.name == found[0][0], judged.text
    assert [(name, [*keys]) for name, keys in found] == [(name, [*keys]) for name, keys in judged.calls], judged.text
    for (_, arguments), (_, meant) in zip(found, judged.calls, strict=True):
        for key, text in arguments.items():
            assert isinstance(text, str), judged.text
            if text != str(meant[key]):
                assert ast.literal_eval(JsonWords().visit(ast.parse(text, mode="eval").body)) == meant[key], judged.text
    return _disobeyed(judged.calls, judged)


def _has_tuple(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return isinstance(value, tuple) or any(map(_has_tuple, inner))


def _contradicted(judged: Judged) -> str:
    """Why the documentation of an argument contradicts itself, so that a judge cannot know its type."""
    reasons = [
        _contradiction(judged, name, key, value) for name, arguments in judged.calls for key, value in arguments.items()
    ]
    return next(filter(None, reasons), "")


def _contradiction(judged: Judged, name: str, key: str, value: Any) -> str:
    properties = next((s["parameters"].get("properties", {}) for s in judged.schemas if s["name"] == name), {})
    spec = properties.get(key, {})
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


def _python_call(node: ast.expr) -> tuple[str, Json]:
    assert isinstance(node, ast.Call) and not node.args
    return ast.unparse(node.func), {str(k.arg): ast.literal_eval(JsonWords().visit(k.value)) for k in node.keywords}
