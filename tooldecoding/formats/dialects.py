"""Dialects: how models begin a call where they do not write it as their chat template does.

Qwen2.5-Coder's template asks for ``<tool_call>``; the model answers with a JSON fence. What may open a call is a table
(``_WRAPPERS`` around the head of a JSON object), and what a model has written becomes a ``CallFormat`` with its keys
and its white space. So the opening text::

    ```json
    {
      "name": "get_weather",
      "arguments": {

gives a format whose keys stand in lines of their own, four spaces in, and whose calls end with the two closing braces
and the fence, each in a line of its own. From there on it is a call format as any other: names, keys, orders, votes.

Source: https://github.com/vllm-project/vllm/issues/32926 for calls in fences; the chat templates and parsers of the
formats whose tags stand here; Llama 3.2's ``"type": "function"``.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

import regex

from tooldecoding.formats.call_format import ID, INDEX, CallFormat

_SPACE: Final = r"\s{0,64}+"
_LONGEST_NAME: Final = 256


class _Wrapper(NamedTuple):
    """What stands around calls: a tag, white space, the calls, and what closes them.

    ``each`` says whether every call has a wrapper of its own; else a list, or objects one a line, stand in one.
    """

    name: str
    tag: str
    closing: str
    each: bool = False


_FENCE: Final = _Wrapper("json-fence", "```", "```")
_BARE: Final = _Wrapper("json", "", "")
_WRAPPERS: Final = (
    _FENCE,
    _Wrapper("hermes", "<tool_call>", "</tool_call>", each=True),
    _Wrapper("function-call", "<function_call>", "</function_call>", each=True),
    _Wrapper("tools", "<tools>", "</tools>", each=True),
    _Wrapper("granite3", "<|tool_call|>", ""),
    _Wrapper("phi4-mini", "functools", ""),
    _Wrapper("mistral-list", "[TOOL_CALLS]", ""),
    _Wrapper("llama3-json", "<|python_tag|>", ""),
    _Wrapper("double-braces", "{", "}", each=True),  # as the template of Qwen2.5-Coder prints them
)
"""A call may stand in any of these, anywhere in an answer; or in none, at its beginning."""

_FENCE_OPENING: Final = r"(?<!`)```(?:json|JSON|tool_call|tool_code)?+[ \t]{0,8}+\r?\n" + _SPACE
_JSON: Final = (
    rf'(?P<list>\[(?P<gap>{_SPACE}))?+(?P<item>\{{{_SPACE}(?:"type"{_SPACE}:{_SPACE}"function"{_SPACE},{_SPACE})?+'
    rf'(?P<function>"function"{_SPACE}:{_SPACE}\{{{_SPACE})?+"(?:name|function)"{_SPACE}:{_SPACE}")'
    rf'(?P<name>[^"\\]{{1,{_LONGEST_NAME}}}+)'
    rf'(?P<bracket>"{_SPACE},(?P<line>{_SPACE})"(?P<arguments>arguments|parameters)"{_SPACE}:(?P<colon>{_SPACE})\{{)'
)
_FENCE_LINE: Final = regex.compile(r"^ {0,3}+(?P<marks>`{3,}+)(?P<language>[^`\n]*+)", regex.MULTILINE)
_TOOL_NAME: Final = rf"(?P<name>[\w.\-/]{{1,{_LONGEST_NAME}}}+)"
_PYTHON: Final = regex.compile(
    rf"(?P<fence>```(?:python|py|tool_code)?+[ \t]{{0,8}}+\r?\n)?+(?P<name>[\w.]{{1,{_LONGEST_NAME}}}+)\("
)
_FENCED: Final = ("```json\n", '{\n  "name": "', '",\n  "arguments": {')
_BEGINNINGS: Final = (
    ("", '{"name": "', '", "arguments": {'),
    ("", '{\n  "name": "', '",\n  "arguments": {'),
    ("```json\n", '{"name": "', '", "arguments": {'),
    _FENCED,
    ("", '[{"name": "', '", "arguments": {'),
    ("", '[\n  {\n    "name": "', '",\n    "arguments": {'),
    ("```json\n", '[{"name": "', '", "arguments": {'),
    ("```json\n", '[\n  {\n    "name": "', '",\n    "arguments": {'),
    ("<tool_call>\n", '{"name": "', '", "arguments": {'),
    ("{", '{"name": "', '", "arguments": {'),
    ("<|tool_call|>", '[{"name": "', '", "arguments": {'),
)
"""How calls begin most often: what stands before and behind a name. A tag counts if the tokenizer has its token."""

Known = Callable[[str, bool], bool]
"""Whether a text is a documented name; or may become one, if it is not whole."""


class Opening(NamedTuple):
    """A call that a model has opened, as far as it is written.

    Attributes
    ----------
    start, end : int
        Where it begins, and where the bracket of its arguments ends; the end of the text if it is not whole.
    name : str
        The name of the tool.
    sure : bool
        Whether nothing but a call begins so; else its first key tells it from documentation and code.
    call_format : CallFormat or None
        None if it is not whole.
    """

    start: int
    end: int
    name: str
    sure: bool = False
    call_format: CallFormat | None = None


class Dialects:
    """What may open a call beside the opener of a model's own format.

    Parameters
    ----------
    own : CallFormat
        That of the chat template, bound to the special tokens of a tokenizer.
    bind : callable
        ``SpecialTexts.bound`` of the tokenizer.

    Attributes
    ----------
    usual : tuple of CallFormat
        The formats of the usual beginnings, without that of ``own``.
    guess : str
        How models that do not begin as their template says mostly begin.
    """

    guess: Final = "".join(_FENCED[:2])

    def __init__(self, own: CallFormat, bind: Callable[[str], str]) -> None:
        self._own = own
        by_mark = own.trigger != own.start(0)
        self._patterns: list[tuple[_Wrapper, regex.Pattern[str]]] = []
        openings = []
        for wrapper in (_Wrapper(w.name, bind(w.tag), bind(w.closing), w.each) for w in _WRAPPERS):
            if by_mark and wrapper.tag.startswith(own.trigger):
                continue  # this mark alone opens a call of the own format
            opening = _FENCE_OPENING if wrapper == _FENCE else regex.escape(wrapper.tag) + _SPACE
            openings.append(opening)
            self._patterns.append((wrapper, regex.compile(opening + _JSON)))
        self._spellings = []
        for spelling in own.spellings[1:]:
            pieces = spelling.opener + spelling.bracket
            if not spelling.bracket.startswith('"') and ID not in pieces and INDEX not in pieces:
                openings.append(regex.escape(spelling.opener))
                pattern = openings[-1] + _TOOL_NAME + regex.escape(spelling.bracket)
                alone = replace(spelling, parallel=own.parallel)
                self._spellings.append((alone, regex.compile(pattern)))
        self._starts = regex.compile("|".join(openings))
        self._bare = [(_BARE, regex.compile(_JSON))]
        self._python = own.notation in ("python", "python-lists", "python-json")
        self.usual = tuple(self._usual(bind))

    def _usual(self, bind: Callable[[str], str]) -> Iterator[CallFormat]:
        seen = [self._own.start(0)]
        for before, item, bracket in _BEGINNINGS:
            opener = bind(before) + item
            if before.startswith("<") and bind(before) == before:
                continue
            if not any(opener.startswith(other) or other.startswith(opener) for other in seen):
                found = self.opening(f"{opener}f{bracket}", 0, True, lambda name, whole: True)
                if found is not None and found.call_format is not None:
                    seen.append(opener)
                    yield found.call_format

    def starts(self, text: str, begin: int) -> list[int]:
        """Return where wrappers begin in a text, from an offset on; the last one may be there in part."""
        found = (match.start() for match in self._starts.finditer(text, begin, partial=True))
        starts = [start for start in found if start < len(text)]
        fences = _fences(text[: starts[-1]]) if starts else []
        return [start for start in starts if not any(first < start < end for first, end in fences)]

    def opening(self, text: str, start: int, bare: bool, known: Known) -> Opening | None:
        """Return the opening that begins at an offset, whole or in part; None if there is none and none can come.

        Parameters
        ----------
        bare : bool
            Whether a call may stand without a wrapper here.
        known : callable
            Only a documented name opens a call.
        """
        for spelling, pattern in self._spellings:
            match = pattern.match(text, start, partial=True)
            if match is not None and (match.partial or known(match["name"], True)):
                end, found = (len(text), None) if match.partial else (match.end(), spelling)
                return Opening(start, end, match["name"] or "", True, found)
        for wrapper, pattern in [*self._patterns, *(self._bare if bare else ())]:
            match = pattern.match(text, start, partial=True)
            if match is None:
                continue
            name, whole = match["name"], match["name"] is not None
            if name is None and match["item"] is not None:
                name = text[match.end("item") :]
            if name is not None and not known(name, whole):
                continue
            if match.partial:
                return Opening(start, len(text), name or "")
            sure = match["arguments"] == "arguments"
            return Opening(start, match.end(), match["name"], sure, _json_format(wrapper, match, self._own))
        return self._python_opening(text, start, known) if bare and self._python else None

    def _python_opening(self, text: str, start: int, known: Known) -> Opening | None:
        match = _PYTHON.match(text, start, partial=True)
        if match is None:
            return None
        name = match["name"] or text[match.end("fence") if match["fence"] else start :]
        if match.partial:
            return Opening(start, len(text), name) if name.startswith("`") or known(name, False) else None
        fence = match["fence"] or ""
        call_format = replace(self._own, name="python-fence" if fence else "python", opener=fence, lead="")
        also = tuple({"next_call": gap} for gap in (", ", "; "))
        call_format = replace(call_format, closer="\n```" if fence else "", next_call="\n", also=also)
        return Opening(start, match.end(), name, False, call_format) if known(name, True) else None


def _fences(text: str) -> list[tuple[int, int]]:
    """Return where fenced blocks begin and end; the last one may be open. A longer fence may hold a shorter one."""
    found: list[tuple[int, int]] = []
    begun: tuple[int, int] | None = None
    for line in _FENCE_LINE.finditer(text):
        marks = len(line["marks"])
        if begun is None:
            begun = line.start(), marks
        elif marks >= begun[1] and not line["language"].strip():
            found.append((begun[0], line.end()))
            begun = None
    return found if begun is None else [*found, (begun[0], len(text) + 1)]


def opening_of(call_format: CallFormat) -> str:
    """Return the text from which ``dialect_of`` makes a format of ``Dialects`` again."""
    return f"{call_format.opener}f{call_format.bracket}"


def dialect_of(own: CallFormat, opening: str) -> CallFormat:
    """Return the format of a dialect by its opening, without special tokens; ``own`` for an empty text."""
    found = Dialects(own, str).opening(opening, 0, True, lambda name, whole: True) if opening else None
    return own if found is None or found.call_format is None else found.call_format


def _json_format(wrapper: _Wrapper, match: "regex.Match[str]", own: CallFormat) -> CallFormat:
    """Return the format of a call that begins as matched: further text has the white space of what stands there."""
    opener, item = match[0][: match.start("name") - match.start()], match["item"]
    depth = 1 + (match["list"] is not None) + (match["function"] is not None)
    lines = "\n" in match["line"]
    indent = match["line"].rpartition("\n")[2]
    line_break = "\r\n" if "\r\n" in match["line"] + opener else "\n"

    def line(level: int) -> str:
        """Return what stands before a closing bracket, or a key, at a level of nesting."""
        return line_break + indent[: len(indent) // depth] * level if lines else ""

    outer = depth - 1 - (match["function"] is not None)
    end = "".join(line(level) + "}" for level in range(depth, outer - 1, -1))
    closer = line(0) + "]" if match["list"] else ""
    broken = wrapper.tag == _FENCE.tag or opener[len(wrapper.tag) :].startswith(line_break)
    break_behind = line_break if broken else ""
    closing = break_behind + wrapper.closing if wrapper.closing else ""
    if match["list"]:
        next_call = "," + (match["gap"] or match["line"]) + item
    elif wrapper.each:
        next_call, end, closing = line_break + opener, end + closing, ""
    else:
        next_call = line_break + item
    call_format = CallFormat(
        name=wrapper.name,
        parallel=own.parallel,  # else the template could not write the answer in the next turn
        opener=opener,
        bracket=match["bracket"] + line(depth + 1),
        notation="json-lines" if lines else "json",
        separator="," + (line(depth + 1) or match["line"]),
        key_closer=":" if not match["colon"] else ": ",
        end=end,
        empty_end=end.lstrip() if lines else None,
        next_call=next_call,
        closer=closer + closing,
        turn_ends=own.turn_ends,
    )
    if match["list"] or wrapper.each:
        return call_format
    further = [f"; {item}", f", {item}"]
    if wrapper.tag == _FENCE.tag:
        further.append(f"{call_format.closer}{line_break}{opener}")  # a fence of its own for each call
    return replace(call_format, also=tuple({"next_call": text} for text in further))
