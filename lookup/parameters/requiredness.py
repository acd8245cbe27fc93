"""Whether a key is required: one decision for every form, and the rule that took it."""

import re
from collections.abc import Mapping
from typing import Any, Final

from lookup.dictionary import Rule
from lookup.errors import DocumentationError
from lookup.messages import shown

_FLAGS: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

# "[Optional]" anywhere, "(optional)" too; a bare word only where it opens the description as a marker.
_BRACKETED = re.compile(r"[\[(]\s*(optional|required)\s*[\])]", re.IGNORECASE)
_LEADING = re.compile(r"\s*(?:(optional|required)\s*(?:[.:,;!]|-\s|$)|(optional)\s)", re.IGNORECASE)


MAX_SEARCHED: Final = 2000
"""How far into a description a marker may stand: many keys may share one description."""


def decide(
    *,
    flag: bool | None = None,
    listed: bool | None = None,
    description: str = "",
    has_default: bool = False,
    habit: bool | None = None,
) -> tuple[bool | None, Rule]:
    """Whether a key is required (``None``: the documentation does not tell), and why.

    Parameters
    ----------
    flag : bool, optional
        What the property itself says.
    listed : bool, optional
        Whether a list of required keys names it; ``None`` without such a list.
    has_default : bool
        Whether a default is documented; such a key is optional.
    habit : bool, optional
        What the form means by saying nothing.
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
    return habit, "habit"


def prose(description: str) -> bool | None:
    """What a description says of its key: ``[Optional] The city.`` or ``Required. string. The city.``

    "The district where the service is required" says nothing: only a marker in brackets, or one that opens the
    description, counts.
    """
    match = _LEADING.match(description) or _BRACKETED.search(description, 0, MAX_SEARCHED)
    if not match:
        return None
    return next(word for word in match.groups() if word).lower() == "required"


def own_flag(spec: Mapping[str, Any], owner: str) -> bool | None:
    """What the property's own ``required`` or ``optional`` says, as a boolean or as "true", "yes", "false", "no".

    Raises
    ------
    DocumentationError
        If it is neither; a list is the required list of a nested object and says nothing of the property.
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
