"""The rows of a batch: ``{"id", "prompt", "messages" or "dialogue", "tools", "tool_choice"}``.

A row is read in two steps. An ``Entry`` has an id and a digest, which is all that finished rows need. What is decoded
becomes a ``Row``.
"""

import warnings
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, TypeGuard

from lookup.duplicates import OnDuplicate
from tooldecoding.batches.sources import CONTENTS, Source, SourceRow
from tooldecoding.chat.dialogue import read_rows
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import Conversation, Message, read_messages
from tooldecoding.chat.tools import read_tool_choice, read_tools
from tooldecoding.errors import ChatWarning, PromptError
from tooldecoding.files.json_lines import MAX_LINE_BYTES, json_line, short_repr
from tooldecoding.files.manifest import digest

MAX_ID_CHARACTERS: Final = 1000
MAX_DEPTH: Final = 500
"""Far below what JSON is read and written at, which depends on the stack: a row must be the same in every pass."""

_CACHED_CHARACTERS: Final = 16 << 20
_CACHED_TOOLS: Final = 256


@dataclass(frozen=True)
class Row:
    """A row that can be decoded.

    Attributes
    ----------
    id : str or int
    content : str, sequence of Message or Conversation
        The prompt's text, the dialogue, or messages.
    documentation : Documentation or None
    tool_choice : str or None
        The row's own.
    """

    id: str | int
    content: str | Sequence[Message] | Conversation
    documentation: Documentation | None
    tool_choice: str | None = None


@dataclass(frozen=True)
class Entry:
    """A row of which nothing but the id has been read.

    Attributes
    ----------
    id : str or int
        Its own, or ``row-`` and digits of its digest.
    place : str
        For messages.
    digest : str
        16 hexadecimal digits of the SHA-256 of the row's content; they tell whether a row has changed.
    columns : mapping or None
    error : str
        Why it cannot be read; empty if nothing has been found yet.
    """

    id: str | int
    place: str
    digest: str
    columns: Mapping[str, Any] | None
    error: str = ""

    @property
    def content(self) -> str | None:
        """The column of its content; None for a row that is not worth decoding."""
        given = _given(self.columns or {})
        return None if self.error or len(given) != 1 else given[0]


def entries(source: Source) -> Iterator[Entry]:
    """Yield the rows of a batch; their ids are kept in memory.

    A row without an id is called ``row-`` and its digest, so that an inserted line renames no other; the second of
    equal rows ends with ``-2``, and so on.

    Raises
    ------
    PromptError
        If there are no rows, or two rows have one id; if the source cannot be read.
    """
    seen: set[str | int] = set()
    repeats: Counter[str] = Counter()

    def name(digest: str) -> str:
        if f"row-{digest}" not in seen:
            return f"row-{digest}"
        repeats[digest] += 1
        return f"row-{digest}-{repeats[digest] + 1}"

    for row in source.rows:
        found = _entry(row, name)
        if found.id in seen:
            raise PromptError(f"{found.place}: two rows of one id: a row before it is called {found.id!r}")
        seen.add(found.id)
        yield found
    if not seen:
        raise PromptError(f"{source.origin}: expected rows, found none")


def _entry(row: SourceRow, name: Callable[[str], str]) -> Entry:
    columns, error = row.columns, row.error
    content = None
    if columns is not None:
        try:
            content = _content_text(columns, row.place)
        except PromptError as cause:
            columns, error = None, str(cause)
    if content is None:
        content = json_line(row.raw.strip() if isinstance(row.raw, str) else repr(row.raw))
    digest = sha256(content.encode()).hexdigest()[:16]
    given = None if columns is None else columns.get("id")
    if columns is not None and _is_id(given):
        return Entry(given, row.place, digest, columns, error)
    if columns is not None and "id" in columns:
        error = (
            f"{row.place}: expected 'id' to be a text of at most {MAX_ID_CHARACTERS} characters or a whole number, "
            f"got {short_repr(given)}"
        )
    return Entry(name(digest), row.place, digest, columns, error)


class RowReader:
    """Reads what stands in rows.

    Documentation that many rows share is read once: what was used last is kept, 256 sets of tools at most.

    Parameters
    ----------
    documentation : Documentation or None
        For rows without ``tools``.
    on_duplicate : {"error", "rename"}
        What happens to two tools of one name in a row's ``tools``.
    """

    def __init__(self, documentation: Documentation | None, on_duplicate: OnDuplicate = "error") -> None:
        self._documentation = documentation
        self._on_duplicate = on_duplicate
        self._cache: OrderedDict[str, tuple[Documentation, int]] = OrderedDict()
        self._cached = 0

    def read(self, entry: Entry) -> Row:
        """Read a row; ToolDecodingError if it cannot be decoded."""
        row, place = entry.columns, entry.place
        if entry.error or row is None:
            raise PromptError(entry.error)
        content = _content(row, place)
        choice = row.get("tool_choice")
        own = self._tools(row.get("tools"), isinstance(content, Conversation), f"{place}: tools")
        choice = None if choice is None else read_tool_choice(choice, f"{place}: tool_choice")
        return Row(entry.id, content, own or self._documentation, choice)

    def _tools(self, tools: Any, of_messages: bool, place: str) -> Documentation | None:
        if tools is None:
            return None
        text = json_line([of_messages, tools])
        key = digest(text)
        if key in self._cache:
            self._cache.move_to_end(key)
            return self._cache[key][0]
        read = read_tools if of_messages else Documentation.read
        with warnings.catch_warnings():
            # "default" would keep each message for as long as the process lives
            warnings.simplefilter("always", ChatWarning)
            found = read(tools, place, self._on_duplicate)
        self._cache[key] = found, len(text)
        self._cached += len(text)
        while len(self._cache) > _CACHED_TOOLS or self._cached > _CACHED_CHARACTERS:
            _, (_, size) = self._cache.popitem(last=False)
            self._cached -= size
        return found


def _content_text(row: Mapping[str, Any], place: str) -> str:
    """Return what the digest is of.

    White space and the sequence of columns do not count; the sequence inside a column, which prompts show, does.
    """
    deep = PromptError(f"{place}: malformed JSON: nested too deeply")
    try:
        text = json_line(dict(sorted(row.items())))
    except RecursionError:
        raise deep from None
    except TypeError as error:  # a table may hold bytes and dates
        raise PromptError(f"{place}: expected JSON values: {error}") from None
    if len(text) > MAX_LINE_BYTES:
        raise PromptError(f"{place}: expected a row of at most {MAX_LINE_BYTES} characters, found {len(text)}")
    if text.count("[") + text.count("{") > MAX_DEPTH and _deeper(row, MAX_DEPTH):
        raise deep
    return text


def _deeper(value: Any, most: int) -> bool:
    """Tell whether a value is nested deeper, however deep the interpreter's stack is."""
    level = [value]
    for _ in range(most):
        children = (each.values() if isinstance(each, dict) else each for each in level)
        level = [child for some in children for child in some if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _is_id(given: Any) -> TypeGuard[str | int]:
    if isinstance(given, str):
        return len(given) <= MAX_ID_CHARACTERS
    return isinstance(given, int) and not isinstance(given, bool)


def _given(row: Mapping[str, Any]) -> list[str]:
    return [key for key in CONTENTS if key in row]


def _content(row: Mapping[str, Any], place: str) -> str | tuple[Message, ...] | Conversation:
    given = _given(row)
    if len(given) != 1:
        columns = ", ".join(map(repr, row)) or "an empty object"
        found = " and ".join(map(repr, given)) or f"only {columns:.200}"
        raise PromptError(f"{place}: a row needs one of {', '.join(map(repr, CONTENTS))}, found {found}")
    if "dialogue" in row:
        return read_rows(row["dialogue"], place)
    if "messages" in row:
        return read_messages(row["messages"], f"{place}: messages")
    prompt = row["prompt"]
    if not isinstance(prompt, str) or not prompt:
        raise PromptError(f"{place}: expected 'prompt' to be a text that is not empty, got {short_repr(prompt)}")
    return prompt
