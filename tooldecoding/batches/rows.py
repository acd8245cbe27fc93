"""The rows of a batch file: ``{"id", "prompt", "messages" or "dialogue", "tools", "tool_choice"}``, one a line."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from lookup.duplicates import OnDuplicate
from lookup.errors import ToolDecodingError
from tooldecoding.chat.messages import Conversation, read_messages
from tooldecoding.chat.tools import read_tool_choice, read_tools
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import numbered_lines, read_row
from tooldecoding.files.manifest import digest
from tooldecoding.prompts.dialogue import Turn, read_rows
from tooldecoding.prompts.documentation import Documentation

_CONTENTS: Final = ("prompt", "messages", "dialogue")


@dataclass(frozen=True)
class Row:
    """A row that can be decoded.

    Attributes
    ----------
    id : str or int
    content : str, sequence of Turn or Conversation
        The prompt's text, the dialogue, or messages.
    documentation : Documentation or None
    line : int
        Of the file, from 1.
    digest : str
        SHA-256 of the row's content; tells whether a row has changed.
    tool_choice : str or None
        The row's own.
    """

    id: str | int
    content: str | Sequence[Turn] | Conversation
    documentation: Documentation | None
    line: int
    digest: str
    tool_choice: str | None = None


@dataclass(frozen=True)
class BadRow:
    """A row that cannot be decoded, and why; ``line`` and ``digest`` as in ``Row``."""

    id: str | int
    error: str
    line: int
    digest: str

    def to_json(self) -> dict[str, Any]:
        """Return the row's result."""
        return failed(self.id, self.error)


def failed(identifier: str | int, error: object) -> dict[str, Any]:
    """Return the result of a row that could not be decoded."""
    return {"id": identifier, "error": str(error)}


def read_batch(
    text: str, origin: str, documentation: Documentation | None, on_duplicate: OnDuplicate = "error"
) -> list[Row | BadRow]:
    """Read the rows of a batch.

    A row without an id is called ``row-`` and 16 digits of its digest, so that an inserted line renames no other; the
    second of equal rows ends with ``-2``, and so on. A row that cannot be read becomes a ``BadRow``.

    Parameters
    ----------
    documentation : Documentation or None
        For rows without ``tools``.
    on_duplicate : {"error", "rename"}
        What happens to two tools of one name in a row's ``tools``.

    Raises
    ------
    PromptError
        If there are no rows, or two rows of one id.
    """
    rows: list[Row | BadRow] = []
    lines: dict[str | int, int] = {}
    names = _Names()
    for number, line in numbered_lines(text):
        row = _read_line(line, number, origin, documentation, on_duplicate, names)
        if row.id in lines:
            raise PromptError(
                f"{origin}:{number}: two rows of one id: {row.id!r} stands at {origin}:{lines[row.id]} already"
            )
        lines[row.id] = number
        rows.append(row)
    if not rows:
        raise PromptError(f"{origin}: expected rows, one JSON object a line, found an empty text")
    return rows


class _Names:
    """Names rows without ids by their digests."""

    def __init__(self) -> None:
        self._equal: Counter[str] = Counter()

    def __call__(self, key: str) -> str:
        self._equal[key] += 1
        return f"row-{key[:16]}" + (f"-{self._equal[key]}" if self._equal[key] > 1 else "")


def _read_line(
    line: str,
    number: int,
    origin: str,
    documentation: Documentation | None,
    on_duplicate: OnDuplicate,
    names: _Names,
) -> Row | BadRow:
    place = f"{origin}:{number}"
    try:
        row = read_row(line, number, origin, PromptError)
        key = _row_digest(row, place)
    except PromptError as error:
        key = digest(line.strip())
        return BadRow(names(key), str(error), number, key)
    given = row.get("id")
    identifier = given if _is_id(given) else names(key)
    try:
        if "id" in row and not _is_id(given):
            raise PromptError(f"{place}: expected 'id' to be a text or a whole number, got {given!r}")
        tools = row.get("tools")
        content = _content(row, place)
        if isinstance(content, Conversation):
            own = None if tools is None else read_tools(tools, f"{place}: tools", on_duplicate)
        else:
            own = None if tools is None else Documentation.read(tools, f"{place}: tools", on_duplicate)
        choice = (
            None if row.get("tool_choice") is None else read_tool_choice(row["tool_choice"], f"{place}: tool_choice")
        )
        return Row(identifier, content, own or documentation, number, key, choice)
    except ToolDecodingError as error:
        return BadRow(identifier, str(error), number, key)


def _row_digest(row: Mapping[str, Any], place: str) -> str:
    """White space and the sequence of columns do not count; the sequence inside a column, which prompts show, does."""
    try:
        return digest(dict(sorted(row.items())))
    except RecursionError:
        raise PromptError(f"{place}: malformed JSON: nested too deeply") from None


def _is_id(given: Any) -> TypeGuard[str | int]:
    return isinstance(given, str | int) and not isinstance(given, bool)


def _content(row: Mapping[str, Any], place: str) -> str | tuple[Turn, ...] | Conversation:
    given = [key for key in _CONTENTS if key in row]
    if len(given) != 1:
        found = " and ".join(map(repr, given)) or f"only {', '.join(map(repr, row)) or 'an empty object'}"
        raise PromptError(f"{place}: a row needs one of {', '.join(map(repr, _CONTENTS))}, found {found}")
    if "dialogue" in row:
        return read_rows(row["dialogue"], place)
    if "messages" in row:
        return read_messages(row["messages"], f"{place}: messages")
    prompt = row["prompt"]
    if not isinstance(prompt, str) or not prompt:
        raise PromptError(f"{place}: expected 'prompt' to be a text that is not empty, got {prompt!r}")
    return prompt
