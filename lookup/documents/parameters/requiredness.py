"""Decide whether a key is required, for every form, and by which rule."""

import re
from collections.abc import Mapping
from typing import Any, Final

from lookup.dictionary import Rule
from lookup.errors import DocumentationError, shown

_FLAGS: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

_CHINESE: Final = "可选|选填|必填|必选|必需"
# "[Optional]", "(optional)" or "(Optional, text)" anywhere; a bare word only as a marker at the start of the
# description. A Chinese "可选:" begins a list of choices.
_BRACKETED = re.compile(
    rf"[\[(\uff08\u3010]\s*(optional|required|{_CHINESE})\s*(?:[\])\uff09\u3011]|[,\uff0c](?!\s*(?:if|unless|when)\b))",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"\s*(?:[*_]{0,2}(optional|required)[*_]{0,2}\s*(?:[.:,;!]|-\s|$)|(optional)\s"
    rf"|({_CHINESE})\s*(?:[.,;\u3002\uff0c\uff1b]|$))",
    re.IGNORECASE,
)

MAX_SEARCHED: Final = 2000
"""How far a description is searched for a marker. Many keys may share one description."""


def decide(
    *,
    flag: bool | None = None,
    listed: bool | None = None,
    description: str = "",
    has_default: bool = False,
    convention: bool | None = None,
) -> tuple[bool | None, Rule]:
    """Whether a key is required (``None`` if the documentation does not say), and the rule that decided it.

    Parameters
    ----------
    flag : bool, optional
        What the property itself says.
    listed : bool, optional
        Whether a list of required keys contains it; ``None`` without a list.
    has_default : bool
        Whether a default is documented. Such a key is optional.
    convention : bool, optional
        The convention of the form if nothing else decides.
    """
    if flag is not None:
        return flag, "flag"
    if listed is not None:
        return listed, "list"
    said = prose(description)
    if said is not None:
        return said, "prose"
    if has_default:
        return False, "default"
    return convention, "habit"


def is_required(convention: bool | None, spec: object, listed: bool) -> bool:
    """Whether a key of an object inside a parameter is required, as far as it says itself; ``listed``: a list does."""
    if not isinstance(spec, Mapping):
        return False
    try:
        flag = own_flag(spec, "")
    except DocumentationError:
        flag = None
    said = spec.get("description")
    required, _ = decide(
        flag=flag,
        listed=False if listed else None,
        description=said if isinstance(said, str) else "",
        has_default="default" in spec,
        convention=convention,
    )
    return required is True


def prose(description: str) -> bool | None:
    """Whether a description marks its key as required: ``[Optional] The city.`` or ``Required. string. The city.``

    ``None`` without a marker. Only markers in brackets or at the start count, not "where the service is required".
    """
    match = _LEADING.match(description) or _BRACKETED.search(description, 0, MAX_SEARCHED)
    if not match:
        return None
    return next(word for word in match.groups() if word).lower() in ("required", "必填", "必选", "必需")


def own_flag(spec: Mapping[str, Any], owner: str) -> bool | None:
    """The property's own ``required`` or ``optional``: a boolean, or a word such as "true", "yes", "false", "no".

    A list is ignored: it is the required list of a nested object.

    DocumentationError if it is anything else.
    """
    for word, meaning in (("required", True), ("optional", False)):
        flag = spec.get(word)
        if isinstance(flag, str) and flag.strip().lower() in _FLAGS:
            flag = _FLAGS[flag.strip().lower()]
        if isinstance(flag, bool):
            return flag is meaning
        if flag is not None and not isinstance(flag, list | tuple):
            raise DocumentationError(f"{owner}: expected {word!r} to be true or false, found {shown(flag)}")
    return None
