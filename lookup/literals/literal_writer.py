"""Write Python values as literals of Python, JSON, or the notations of native call formats."""

import json
import re
from typing import Any

_SPECIAL = re.compile("[\\x00-\\x1f\\x7f\\ud800-\\udfff'\"\\\\]")
_SURROGATE = re.compile("[\\ud800-\\udfff]")
_WORDS = {None: "null", True: "true", False: "false"}
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape(text: str, quote: str) -> str:
    """Escape ``text`` for use between two ``quote`` characters.

    Between double quotes, the result is valid in Python and in JSON.
    """
    return _SPECIAL.sub(lambda match: _escape_character(match[0], quote), text)


def _escape_character(character: str, quote: str) -> str:
    if character in "'\"":
        return "\\" + character if character == quote else character
    return _ESCAPES.get(character) or f"\\u{ord(character):04x}"


def render_literal(value: Any, quote: str = "'") -> str:
    """A Python literal of a JSON-like value: ``render_literal(["a", 1]) -> "['a', 1]"``.

    Raises
    ------
    TypeError
        If the value is not made of str, int, float, bool, None, list, tuple and dict.
    """
    if isinstance(value, str):
        return f"{quote}{escape(value, quote)}{quote}"
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(render_literal(v, quote) for v in value)}]"
    if isinstance(value, tuple):
        inner = ", ".join(render_literal(v, quote) for v in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, dict):
        pairs = (f"{render_literal(k, quote)}: {render_literal(v, quote)}" for k, v in value.items())
        return f"{{{', '.join(pairs)}}}"
    raise TypeError(f"no literal for a value of type {type(value).__name__}: {value!r}")


def render_quoted(value: Any) -> str:
    """The value between single quotes, whatever its type: ``render_quoted(["a"]) -> '\\'["a"]\\''``."""
    text = value if isinstance(value, str) else render_literal(value, '"')
    return f"'{escape(text, chr(39))}'"


def render_json(value: Any) -> str:
    """The JSON text of a value: ``render_json({"a": (1, None)}) -> '{"a": [1, null]}'``.

    A tuple becomes an array. A key that is not a string becomes its JSON text, as in ``json.dumps``.

    Raises
    ------
    TypeError
        If the value is not made of str, int, float, bool, None, list, tuple and dict.
    """
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, str):  # as chat templates do; a lone surrogate has no UTF-8
        return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))
    if isinstance(value, list | tuple):
        return f"[{', '.join(render_json(v) for v in value)}]"
    if isinstance(value, dict):
        pairs = (f"{_json_key(k)}: {render_json(v)}" for k, v in value.items())
        return f"{{{', '.join(pairs)}}}"
    return render_literal(value, '"')


def _json_key(key: Any) -> str:
    return render_json(key if isinstance(key, str) else render_json(key))


def render_python_lists(value: Any) -> str:
    """A Python literal with lists for tuples."""
    return render_literal(_with_lists(value))


def render_python_json(value: Any) -> str:
    """A Python literal with lists for tuples, or the JSON text of an object."""
    return render_json(value) if isinstance(value, dict) else render_python_lists(value)


def _with_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_lists(item) for key, item in value.items()}
    return [_with_lists(item) for item in value] if isinstance(value, list | tuple) else value


def render_raw(value: Any, mark: str, leads: tuple[str, str] = ("", "")) -> str:
    """The text itself, or the JSON text of another value, before a mark.

    Parameters
    ----------
    leads : tuple of str
        What stands before a text, and before other values.
    """
    return leads[0] + value + mark if isinstance(value, str) else leads[1] + render_json(value) + mark


def render_bare(value: Any, mark: str) -> str:
    """JSON without spaces, texts between two marks, bare keys sorted without regard to case (jinja's ``dictsort``)."""
    if isinstance(value, str):
        return f"{mark}{value}{mark}"
    if isinstance(value, list | tuple):
        return f"[{','.join(render_bare(v, mark) for v in value)}]"
    if isinstance(value, dict):
        pairs = sorted(((str(k), v) for k, v in value.items()), key=lambda pair: pair[0].lower())
        return f"{{{','.join(f'{k}:{render_bare(v, mark)}' for k, v in pairs)}}}"
    return render_json(value)
