"""The rows of a batch: ``{"id", "prompt", "messages" or "dialogue", "tools", "tool_choice"}``.

An ``Entry`` has an id and a digest, which is all that finished rows need; ``read_content`` reads what is decoded.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from tooldecoding.batches.row_sources import CONTENTS, RowSource, SourceRow
from tooldecoding.chat.dialogue import read_rows
from tooldecoding.chat.messages import read_messages
from tooldecoding.chat.templates import Content
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import MAX_LINE_BYTES, json_line, short_repr

MAX_ID_CHARACTERS: Final = 1000
_MOST_LEVELS: Final = 200
"""Far below what JSON is read and written at, which depends on the stack: a row must be the same in every run."""


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
    columns : mapping
        Empty if it cannot be read.
    error : str
        Why it cannot be read; empty if nothing has been found yet.
    """

    id: str | int
    place: str
    digest: str
    columns: Mapping[str, Any]
    error: str = ""


def entries(source: RowSource) -> Iterator[Entry]:
    """Yield the rows of a batch; their ids are kept in memory.

    A row without an id is called ``row-`` and its digest, so that an inserted line renames no other; the second of
    equal rows ends with ``-2``, and so on.

    PromptError if there are no rows, or two rows have one id; if the source cannot be read.
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
    columns, error, content = row.columns, row.error, ""
    if not error:
        try:
            content = _content_text(columns, row.place)
        except PromptError as cause:
            columns, error = {}, str(cause)
    content = content or json_line(row.raw.strip() if isinstance(row.raw, str) else repr(row.raw))
    digest = sha256(content.encode()).hexdigest()[:16]
    if "id" not in columns:
        return Entry(name(digest), row.place, digest, columns, error)
    given = columns["id"]
    if type(given) is int or (isinstance(given, str) and len(given) <= MAX_ID_CHARACTERS):
        return Entry(given, row.place, digest, columns)
    wanted = f"a text of at most {MAX_ID_CHARACTERS} characters or a whole number"
    error = f"{row.place}: expected 'id' to be {wanted}, got {short_repr(given)}"
    return Entry(name(digest), row.place, digest, {}, error)


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
    if text.count("[") + text.count("{") > _MOST_LEVELS and _is_deeper(row, _MOST_LEVELS):
        raise deep
    return text


def _is_deeper(value: Any, levels: int) -> bool:
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return not levels or any(_is_deeper(each, levels - 1) for each in inside)


def read_content(entry: Entry) -> Content:
    """Return the prompt, messages or dialogue of a row; PromptError if it has none that can be read."""
    row, place = entry.columns, entry.place
    if entry.error:
        raise PromptError(entry.error)
    given = [key for key in CONTENTS if key in row]
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
