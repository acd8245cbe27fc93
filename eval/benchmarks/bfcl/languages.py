"""The languages of BFCL's calls: the types that documentation names, and how values in them become Python values."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from eval.benchmarks.bfcl.java_values import java_texts, read_java
from eval.benchmarks.bfcl.javascript_values import javascript_texts, read_javascript
from eval.benchmarks.bfcl.value_types import TYPES


@dataclass(frozen=True)
class Language:
    """How the official checker takes the values of one language.

    Attributes
    ----------
    name : str
    types : mapping
        Documented type -> exact Python type of a value.
    lists : frozenset of str
        Types whose elements have a documented type.
    read : callable, optional
        ``read(text, type, element type)``: the Python value; what it cannot read stays a text. None if values come as
        Python values.
    write : callable, optional
        The texts that ``read`` may take for a value, one for each type. None as for ``read``.
    not_text : str
        The official error type of a value that is no text, where values come as texts.
    """

    name: str
    types: Mapping[str, type]
    lists: frozenset[str]
    read: Callable[[str, str, str | None], Any] | None = None
    write: Callable[[Any], Iterator[str]] | None = None
    not_text: str = ""


PYTHON: Final = Language("Python", TYPES, frozenset({"array", "tuple"}))

JAVA: Final = Language(
    "Java",
    {
        **dict.fromkeys(("byte", "short", "integer", "long"), int),
        **dict.fromkeys(("float", "double"), float),
        **dict.fromkeys(("char", "String", "any"), str),
        **dict.fromkeys(("Array", "ArrayList", "Queue", "Stack"), list),
        **dict.fromkeys(("HashMap", "Hashtable"), dict),
        "boolean": bool,
        "Set": set,
    },
    frozenset({"Array", "ArrayList"}),
    read_java,
    java_texts,
    "type_error:java",
)

JAVASCRIPT: Final = Language(
    "JavaScript",
    {
        **dict.fromkeys(("integer", "Bigint"), int),
        **dict.fromkeys(("String", "any"), str),
        "float": float,
        "Boolean": bool,
        "dict": dict,
        "array": list,
    },
    frozenset({"array"}),
    read_javascript,
    javascript_texts,
    "type_error:js",
)


def language_of(category: str) -> Language:
    """Return the language of a category's tools."""
    return {"java": JAVA, "javascript": JAVASCRIPT}.get(category.rsplit("_", 1)[-1], PYTHON)
