"""Docstrings in Google's, NumPy's and Sphinx's style: the description of a function and of its keys.

>>> found = read_docstring("Adds.\\n\\nArgs:\\n    a (int, optional): The first. Or none.\\n")
>>> found.description, found.keys["a"].raw_type, found.keys["a"].required, found.keys["a"].description
('Adds.', 'int', False, 'The first. Or none.')
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from lookup.dictionary import MISSING, ParameterSpec, ToolSpec
from lookup.parameters.requiredness import decide
from lookup.python.docstring_sections import split_docstring
from lookup.python.documented_key import DocumentedKey, read_entries
from lookup.python.signature import Parameter


@dataclass(frozen=True)
class Docstring:
    """The description above the sections, and what the sections say of each key (``*args`` with its star)."""

    description: str
    keys: Mapping[str, DocumentedKey]


def document(name: str, parameters: Iterable[Parameter], notes: Iterable[str], docstring: str) -> ToolSpec:
    """The tool with this signature and docstring. The docstring adds what the signature does not say.

    A note names each documented key that is not in the signature.
    """
    declared = {parameter.key: parameter for parameter in parameters}
    found = read_docstring(docstring, declared)
    lacking = [key for key in found.keys if key not in declared and not key.startswith("*")]
    return ToolSpec(
        name,
        found.description,
        tuple(_merge(parameter, found.keys.get(key, DocumentedKey())) for key, parameter in declared.items()),
        notes=(*notes, *(f"the docstring documents {key!r}, which the signature lacks" for key in lacking)),
    )


def _merge(declared: Parameter, documented: DocumentedKey) -> ParameterSpec:
    description = dedent(declared.description).strip() or documented.description
    if declared.optional:
        required, rule = decide(has_default=True)
    else:
        marker = {True: "[required] ", False: "[optional] ", None: ""}[documented.required]
        required, rule = decide(description=marker + description, has_default=documented.has_default, habit=True)
    listed = declared.enum is None and documented.enum is not None
    return ParameterSpec(
        declared.key,
        declared.type if declared.raw_type else documented.type,
        declared.raw_type or documented.raw_type,
        required,
        description,
        documented.enum if listed else declared.enum,
        documented.default if declared.default is MISSING else declared.default,
        rule,
        None if listed else declared.schema,  # members that a docstring lists say more than limits
    )


def read_docstring(text: str, keys: Collection[str] = ()) -> Docstring:
    """Read a docstring in any of the three styles, with or without the indentation of the source.

    Parameters
    ----------
    keys : collection of str
        The keys of the signature. Outside of sections, a bullet documents a key only if it is one of them.
    """
    description, entries = split_docstring(dedent(text).split("\n"), keys)
    return Docstring(description, read_entries(entries))


def dedent(text: str) -> str:
    """The text without the common indentation of all lines but the first, and without surrounding blank lines."""
    lines = text.replace("\r\n", "\n").expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    return "\n".join([lines[0].strip(), *(line[margin:].rstrip() for line in lines[1:])]).strip("\n")
