"""Finds a call that a model opens in free text, in whatever dialect, while the text is written."""

import json
from collections.abc import Collection, Mapping
from typing import Final

import regex

from lookup.grammar.notations import Notation, is_json
from tooldecoding.formats.dialects import Dialects, Opening

_LONGEST_TAG: Final = 32
"""Characters: no tag of a dialect is longer."""
_JSON_KEY: Final = regex.compile(r'\s*+(?:(?P<key>"(?:[^"\\]|\\.){0,256}+")\s*+:|\})')
_SCHEMA: Final = regex.compile(r'\s*+"type"\s*+:\s*+"object"')
"""How a JSON Schema begins behind its bracket."""
_PYTHON_KEY: Final = regex.compile(r"\s*+(?:(?P<key>\w{1,256}+)=(?!=)|\)[ \t]*+[\r\n;,])")


class DialectSearch:
    """Reads an answer as it grows.

    Parameters
    ----------
    tools : mapping of str to collection of str
        Documented names and their keys. Only these open a call: an unknown name, other JSON, documentation and code
        are text.
    """

    def __init__(self, dialects: Dialects, tools: Mapping[str, Collection[str]]) -> None:
        self._dialects = dialects
        self._tools = tools
        self._begin: int | None = None
        """Where the answer begins behind white space: there a call needs no wrapper."""
        self._seen: set[int] = set()
        self._scanned = 0
        self._open: dict[int, Opening] = {}
        """Offset -> what may still become a call there."""

    def read(self, text: str) -> list[Opening]:
        """Read the whole answer so far; returns the openings that became whole since the last time."""
        starts = self._dialects.starts(text, self._scanned)
        self._scanned = max(self._scanned, len(text) - _LONGEST_TAG)
        if self._begin is None and text.strip():
            self._begin = len(text) - len(text.lstrip())
            starts.append(self._begin)
        new = {start: Opening(start, start, "") for start in starts if start not in self._seen}
        self._seen.update(new)
        whole = []
        for start, before in (self._open | new).items():
            found: Opening | None = before
            if before.call_format is None:
                found = self._dialects.opening(text, start, start == self._begin, self._known)
            if found is None:
                self._open.pop(start, None)
                continue
            self._open[start] = found
            if found.call_format is not None and before.call_format is None:
                whole.append(found)
        return whole

    def is_call(self, opening: Opening, text: str) -> bool | None:
        """Whether an opening begins a call; None if the text does not show it yet."""
        assert opening.call_format is not None
        is_call = opening.sure or self._calls(opening.name, text[opening.end :], opening.call_format.notation)
        if is_call is False:
            del self._open[opening.start]
        return is_call

    def _calls(self, name: str, behind: str, notation: Notation) -> bool | None:
        """Whether what stands behind the bracket of a tool's arguments makes a call of it; None if it is too short.

        ``"parameters": {"type": "object"`` is how documentation goes on, and code in an answer may call anything; only
        a documented key makes a call of them, or nothing but the closing bracket.
        """
        match = (_JSON_KEY if is_json(notation) else _PYTHON_KEY).match(behind, partial=True)
        if match is not None and match.partial:
            return None
        is_call = match is not None and (match["key"] is None or _read(match["key"]) in self._tools[name])
        documents = is_schema(behind) if is_call else False
        return None if documents is None else is_call and not documents

    @property
    def held(self) -> int | None:
        """Where text begins that may still become a call; None if there is none."""
        return min(self._open, default=None)

    def expected(self, text: str) -> str:
        """Return what is likely to come next: the rest of a usual beginning, or of the only name that begins so."""
        start = self.held
        if start is None:
            return ""
        begun = text[start:]
        for usual in self._dialects.usual:
            if usual.opener.startswith(begun) and begun.strip():
                return usual.opener[len(begun) :]
        for usual in self._dialects.usual:
            name = begun.removeprefix(usual.opener)
            if name != begun:
                names = [known for known in self._tools if known.startswith(name)]
                return names[0][len(name) :] + usual.bracket if len(names) == 1 else ""
        return ""

    def _known(self, name: str, whole: bool) -> bool:
        return name in self._tools if whole else any(known.startswith(name) for known in self._tools)


def is_schema(behind: str) -> bool | None:
    """Whether what stands behind ``"parameters": {`` is the schema of documentation; None if it is too short."""
    match = _SCHEMA.match(behind, partial=True)
    return match is not None and (None if match.partial else True)


def _read(key: str) -> str:
    """Return a key without the quotes and escapes of JSON."""
    try:
        return str(json.loads(key)) if key.startswith('"') else key
    except json.JSONDecodeError:
        return ""
