"""Names of tools and keys that calls in Python's syntax can carry."""

import keyword
import re
from typing import Final

_RESERVED: Final = frozenset({"from", "class", "return", "false", "true", "id", "and"})
"""Words that ToolBench writes as ``is_…``."""


def python_name(name: str) -> str:
    """Return ``TheClique: Songs`` as ``theclique_songs``, as ToolBench does (its ``standardize`` and ``change_name``).

    A leading digit gets the prefix ``get_``, a reserved word ``is_``. Here, Python's other keywords are reserved, too,
    and a name of nothing but marks is ``unnamed``.
    """
    standard = re.sub(r"_{2,}", "_", re.sub(r"\W", "_", name)).lower().strip("_")
    if standard[:1].isdigit():
        standard = f"get_{standard}"
    if standard in _RESERVED or keyword.iskeyword(standard):
        return f"is_{standard}"
    return standard if standard.isidentifier() else "unnamed"


def writable_name(name: str) -> str:
    """Return a name as it is where a call in Python's syntax can have it, otherwise its ``python_name``."""
    return name if name.isidentifier() and not keyword.iskeyword(name) else python_name(name)
