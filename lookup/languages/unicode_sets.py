"""Sets of code points by Unicode property: ``\\p{L}``, ``\\p{Script=Greek}``."""

import re
import sys
from array import array
from functools import lru_cache

import regex

from lookup.languages.codepoints import END, CodePoints
from lookup.languages.limits import UnsupportedPattern

_NAME = re.compile(r"[A-Za-z_]+(?:=[A-Za-z_0-9]+)?")


@lru_cache(maxsize=1)
def _all_characters() -> str:
    return array("I", range(END)).tobytes().decode(f"utf-32-{sys.byteorder[0]}e", "surrogatepass")


@lru_cache(maxsize=64)
def property_set(name: str) -> CodePoints:
    """The code points with a property, as ``regex`` knows it.

    Raises
    ------
    UnsupportedPattern
        If there is no such property.
    """
    if not _NAME.fullmatch(name):
        raise UnsupportedPattern(f"\\p{{{name[:40]}}} is not a Unicode property")
    try:
        runs = regex.compile(rf"\p{{{name}}}+").finditer(_all_characters())
    except regex.error:
        raise UnsupportedPattern(f"\\p{{{name[:40]}}} is not a Unicode property") from None
    return tuple(boundary for run in runs for boundary in run.span())
