"""Reads calls by the pieces of their format, in every spelling that models and templates write.

This shares the pieces with what writes calls, and no code; ``lookup.literals`` reads values. It knows no tools, so that
every raw value is a text. ``tests/formats/readers`` has it judged by readers of other hands.
"""

import re
from typing import Any, Final

from lookup.grammar.notations import BareKeys, RawText, is_json
from lookup.literals.syntaxes import JSON, PYTHON_OR_JSON, LiteralSyntax, bare_keys
from tooldecoding.formats.call_format import ID, INDEX, CallFormat
from tooldecoding.formats.cursor import NO_PAIRS, Cursor, ReadCall, UnreadableCallError
from tooldecoding.formats.python_reader import read_python

_TOOL_NAME: Final = re.compile(r"[\w.\-/]++")
_WORD: Final = re.compile(r"\w++")
_QUOTED: Final = re.compile(r"'(?:[^'\\\n]|\\.)*+'")
_RAW_KEY: Final = re.compile(r"[^\n<>]++")
_ATTRIBUTE: Final = re.compile(r'[^"\n<>]++')
_JSON_KEY: Final = re.compile(r'"(\w+)"\s*:')
_ARGUMENTS: Final = ("arguments", "parameters")
_INNER: Final = dict.fromkeys(_ARGUMENTS, NO_PAIRS) | {"function": dict.fromkeys(_ARGUMENTS, NO_PAIRS)}
_HELD: Final = {INDEX: re.compile(r"0|[1-9][0-9]{0,8}"), ID: re.compile(r"[a-zA-Z0-9]{9}")}
"""What stands for the number of a call, and for its id."""

Arguments = list[tuple[str, Any]]


def read_back(call_format: CallFormat, text: str) -> list[ReadCall]:
    """Read a text of one call or more in one of the spellings of a format, or as its own reader does.

    Numbers of calls rise by one from any number, for ids may count the whole dialogue. Ids differ.

    UnreadableCallError if the text is anything else, longer than ``MAX_LENGTH`` or nested deeper than ``MAX_DEPTH``.
    """
    if call_format.reader is not None:
        return call_format.reader(text)
    reasons = []
    for spelling in call_format.spellings:
        try:
            return _read(spelling, text)
        except UnreadableCallError as error:
            reasons.append(error)
    raise reasons[0]


def _read(form: CallFormat, text: str) -> list[ReadCall]:
    if form.notation in ("python", "python-lists", "python-json"):
        return read_python(form, text)
    reader = _Reader(form, text)
    named_in_json = is_json(form.notation) and form.bracket.startswith('"')
    return reader.objects() if named_in_json else reader.calls()


class _Reader:
    """Reads one text in one spelling."""

    def __init__(self, form: CallFormat, text: str) -> None:
        self._form = form
        self._cursor = Cursor(text)
        self._held: dict[str, list[str]] = {INDEX: [], ID: []}

    def calls(self) -> list[ReadCall]:
        """Read calls of a name among marks and its arguments."""
        cursor, form, calls = self._cursor, self._form, list[ReadCall]()
        begins_with_brace = is_json(form.notation) or isinstance(form.notation, BareKeys)
        bracket, end = (form.bracket[:-1], form.end[1:]) if begins_with_brace else (form.bracket, "")
        while not calls or self._goes_on():
            self._expect(form.next_call if calls else form.opener)
            pattern = _WORD if form.notation == "quoted" else _TOOL_NAME
            name = cursor.match(pattern, "a tool name of letters, digits and _.-/")[0]
            self._expect(bracket)
            calls.append((name, self._arguments()))
            cursor.expect(end)
        self._demand_held()
        return calls

    def objects(self) -> list[ReadCall]:
        """Read calls that are JSON objects, each by itself or in one list, with any white space that JSON allows."""
        calls = [self._call(row) for row in self._rows()]
        self._demand_held()
        return calls

    def _rows(self) -> list[Arguments]:
        cursor, form, rows = self._cursor, self._form, list[Arguments]()
        head = form.opener.partition("{")[0]
        if not head.rstrip().endswith("["):
            while not rows or self._goes_on():
                cursor.expect(form.next_call.partition("{")[0] if rows else head)
                rows.append(cursor.pairs(inner=_INNER))
                cursor.expect(form.end.rpartition("}")[2])
            return rows
        cursor.expect(head.rstrip())
        while not rows or cursor.take(","):
            cursor.match(JSON.space, "")
            rows.append(cursor.pairs(inner=_INNER))
            cursor.match(JSON.space, "")
        cursor.expect(form.closer.lstrip())
        cursor.expect_end()
        return rows

    def _call(self, row: Arguments) -> ReadCall:
        written = self._form.opener + self._form.bracket + self._form.end
        keys = _JSON_KEY.findall(written)
        found, flat = list[str](), Arguments()
        for key, value in row:
            inside = value if key == "function" and isinstance(value, list) else None  # the call is in it
            found += [key, *(inner for inner, _ in inside or ())]
            flat += [(key, value)] if inside is None else inside
        if found != keys:
            raise UnreadableCallError(f"expected a JSON object with exactly {', '.join(keys)}, in this sequence")
        name, arguments = "", Arguments()
        for key, value in flat:
            if key in _ARGUMENTS and isinstance(value, list):
                arguments = value
            elif not isinstance(value, str) or not value:
                raise UnreadableCallError(f"expected a text as {key}")
            elif key == "type":
                if value != "function":
                    raise UnreadableCallError("expected function as type")
            elif key in ("name", "tool_name", "function"):
                name = value
            else:
                self._hold(INDEX if INDEX in written else ID, Cursor(value))
        return name, arguments

    def _goes_on(self) -> bool:
        """Whether another call follows; else what ends the calls is read."""
        cursor, closer = self._cursor, self._form.closer
        ended = cursor.text.endswith(closer) and cursor.position == len(cursor.text) - len(closer)
        if not ended and not self._form.parallel:
            raise cursor.error("expected the end")
        return not ended

    def _expect(self, piece: str) -> None:
        for part in re.split(f"([{INDEX}{ID}])", piece):
            if part in self._held:
                self._hold(part, self._cursor, whole=False)
            else:
                self._cursor.expect(part)

    def _hold(self, kind: str, cursor: Cursor, whole: bool = True) -> None:
        self._held[kind].append(cursor.match(_HELD[kind], "the number or id of a call")[0])
        if whole:
            cursor.expect_end()

    def _demand_held(self) -> None:
        numbers, ids = [*map(int, self._held[INDEX])], self._held[ID]
        if numbers and numbers != [*range(numbers[0], numbers[0] + len(numbers))]:
            raise UnreadableCallError("expected every number of a call to be one more than the last")
        if len({*ids}) != len(ids):
            raise UnreadableCallError("two calls have the same id")

    def _arguments(self) -> Arguments:
        match self._form.notation:
            case RawText():
                return self._listed(_ATTRIBUTE if self._form.key_opener.endswith('"') else _RAW_KEY)
            case BareKeys(mark):
                return self._cursor.pairs(bare_keys(mark))
            case "quoted":
                return self._listed(_WORD)
        return self._cursor.pairs()

    def _listed(self, key_pattern: re.Pattern[str]) -> Arguments:
        """Read keys with their values one by one, and the end of the call."""
        cursor, form, pairs = self._cursor, self._form, Arguments()
        while not cursor.take(form.end_of(not pairs)):
            cursor.expect((form.separator if pairs else "") + form.key_opener)
            key = cursor.match(key_pattern, "a key")[0]
            cursor.expect(form.key_closer)
            if isinstance(form.notation, RawText):
                self._demand_unpadded(key)
                pairs.append((key, self._raw(form.notation)))
            else:
                pairs.append((key, _whole(cursor.match(_QUOTED, "a quoted value")[0], PYTHON_OR_JSON)))
        return pairs

    def _raw(self, notation: RawText) -> Any:
        cursor = self._cursor
        is_text = cursor.take(notation.text_lead)
        if not is_text:
            cursor.expect(notation.other_lead)
        raw = cursor.until(notation.mark)
        if self._form.value_mark in raw:
            raise cursor.error("expected a newline before the end of a value")
        if is_text:
            self._demand_unpadded(raw)
            return raw
        value = _whole(raw, JSON)
        if isinstance(value, str):
            raise cursor.error("expected a text to be written as one")
        return value

    def _demand_unpadded(self, text: str) -> None:
        """Refuse white space that parsers strip, where nothing says that the value is a text."""
        if text != text.strip() and not self._form.notation.text_lead:  # type: ignore[union-attr]
            raise self._cursor.error("expected no white space around keys and values")


def _whole(text: str, syntax: LiteralSyntax) -> Any:
    """Read a text that is one value."""
    cursor = Cursor(text)
    value = cursor.literal(syntax)
    cursor.expect_end()
    return value
