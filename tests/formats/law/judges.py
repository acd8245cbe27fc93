"""The judges of a call's text: programs of others that read native formats, each with the cases where it is wrong."""

import ast
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from eval.benchmarks.api_bank.parser import get_api_call
from formats.readers.reader_cases import JsonWords, judge

Json = dict[str, Any]
Pairs = list[tuple[str, Json]]


@dataclass(frozen=True)
class Judged:
    """A text, the calls that the decoder says stand in it (keys in their sequence), and the schemas of all tools."""

    format: str
    text: str
    calls: Pairs
    schemas: list[Json]


class Refused(Exception):
    """Why a judge does not find the calls in a text."""


Verdict = str | None
"""Why a judge is not asked; None if it has found the calls."""

Judge = Callable[[Judged], Verdict]


def same(found: Any, judged: Judged) -> None:
    """Refuse other names, keys or values than those of the decoder."""
    if _json(found) != _json(judged.calls):
        raise Refused(f"reads {_json(found)}, not {_json(judged.calls)}")


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
    if excluded := _disobeyed(found, judged):
        return excluded
    same(found, judged)
    return None


def _disobeyed(found: Pairs, judged: Judged) -> str:
    """Refuse calls that the schemas forbid; or why that cannot be told.

    Documentation that contradicts itself admits both, as in BFCL, where null is the default of a text.
    """
    if not judge().check_calls(found, judged.schemas):
        return ""
    if problems := judge().check_calls([_uncontradicted(call, judged) for call in found], _lenient(judged)):
        raise Refused(problems[0])
    return _contradicted(judged)


def api_bank(judged: Judged) -> Verdict:
    """Python's own parser and API-Bank's evaluator; every value is a text in quotes."""
    try:
        body = ast.parse(judged.text, mode="eval").body
        assert isinstance(body, ast.List)
        found = [_python_call(node) for node in body.elts]
    except (SyntaxError, ValueError) as error:
        raise Refused(str(error)) from None
    official = get_api_call(judged.text)
    if official is None or official.name != found[0][0]:
        raise Refused(f"API-Bank's evaluator reads {official}")
    if [(name, [*arguments]) for name, arguments in found] != [(name, [*pairs]) for name, pairs in judged.calls]:
        raise Refused(f"reads {found}, not {judged.calls}")
    for (_, arguments), (_, meant) in zip(found, judged.calls, strict=True):
        for key, text in arguments.items():
            if not isinstance(text, str) or not (text == str(meant[key]) or json.loads(text) == meant[key]):
                raise Refused(f"reads {text!r} for {key}, not {meant[key]!r}")
    return _disobeyed(judged.calls, judged) or None


def _has_tuple(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return isinstance(value, tuple) or any(map(_has_tuple, inner))


_RAW: Final = ("qwen-xml", "glm-4.5", "glm-4.7", "minimax-m2")


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


def judge_of(call_format: str) -> Judge:
    """The judge that reads a format."""
    return api_bank if call_format == "api-bank" else strict_reader
