"""Tool documentation -> lookup dictionary: the package's front door.

>>> text = 'Tools: {"name": "GetToday", "description": "Today\\'s date.", "input_parameters": {}}'
>>> list(extract(text))
['GetToday']
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Final

from lookup import api_bank, json_schema, scan
from lookup.errors import DocumentationError
from lookup.forms import MisreadError, ObjectForm, TextForm
from lookup.schema import LookupDictionary, ToolSpec
from lookup.text_file import read_text

# In the order in which they are asked; the last one also reads {"name", "description"} without parameters.
OBJECT_FORMS: Final[tuple[ObjectForm, ...]] = (api_bank.OBJECT_FORM, json_schema.FORM)
TEXT_FORMS: Final[tuple[TextForm, ...]] = (api_bank.TEXT_FORM,)


@dataclass(frozen=True)
class _Found:
    """A tool and where it stands: its offset in a text, and how to name the place in a message."""

    tool: ToolSpec
    order: int
    place: Callable[[], str]


def extract(source: str | Sequence[Any] | Mapping[str, Any], *, origin: str = "<text>") -> LookupDictionary:
    """Read every tool that a text or parsed data documents.

    Parameters
    ----------
    source : str, sequence or mapping
        Any text with documentation in it, or a parsed tool or list of tools.
    origin : str
        Names the source in error messages. One that ends in ``.json`` or ``.jsonl`` allows nothing but JSON.

    Returns
    -------
    LookupDictionary
        The tools in documentation order.

    Raises
    ------
    DocumentationError
        If the source is empty, malformed, documents no tool, or documents two of one name. The message starts
        with ``origin:line:column`` for a text and ``origin[key]`` for data.
    """
    if isinstance(source, str):
        if not source.strip("\ufeff \t\r\n\f\v"):
            raise DocumentationError(f"{origin}: expected tool documentation, found an empty text")
        found = sorted(_in_text(source, origin), key=lambda entry: entry.order)
    elif isinstance(source, Mapping | Sequence) and not isinstance(source, bytes | bytearray):
        found = list(_in_data(source, origin))
    else:
        raise DocumentationError(
            f"{origin}: expected a text, an object or a list of tools, found {type(source).__name__}"
        )
    if not found:
        titles = [form.title for form in OBJECT_FORMS] + [form.title for form in TEXT_FORMS]
        raise DocumentationError(f"{origin}: no tool documentation found; looked for: {'; '.join(titles)}")
    _demand_unique(found)
    return LookupDictionary(tuple(entry.tool for entry in found))


def extract_file(path: str | FilePath) -> LookupDictionary:
    """Read every tool that a UTF-8 file documents.

    Raises
    ------
    DocumentationError
        As ``extract``, or if the file is missing, a directory, unreadable, larger than 64 MiB, or not UTF-8.
    """
    return extract(read_text(path), origin=str(path))


def _in_text(text: str, origin: str) -> Iterator[_Found]:
    """The tools of a text, those of the text forms first."""
    strict = origin.lower().endswith((".json", ".jsonl"))
    taken: list[tuple[int, int]] = []
    try:
        for form in () if strict else TEXT_FORMS:
            for read in form.find(text):
                taken.append((read.start, read.end))
                yield _Found(read.tool, read.start, _place(text, origin, read.start))
        pieces = list(scan.pieces(text, sorted(taken), strict))
        beside = any(piece.document and scan.is_tool(piece.value, OBJECT_FORMS) for piece in pieces)
        for piece in pieces:
            listed = piece.whole or (piece.document and beside)
            for claim in scan.claims(piece.value, OBJECT_FORMS, listed):
                place = _place(text, origin, piece.start, claim.path)
                yield _Found(_read(claim, place), piece.start, place)
    except MisreadError as error:
        raise DocumentationError(f"{_place(text, origin, error.position)()}: {error}") from None


def _in_data(data: Any, origin: str) -> Iterator[_Found]:
    for claim in scan.claims(data, OBJECT_FORMS, listed=True):
        place = f"{origin}{''.join(f'[{step!r}]' for step in claim.path)}".__str__
        yield _Found(_read(claim, place), 0, place)


def _read(claim: scan.Claim, place: Callable[[], str]) -> ToolSpec:
    if claim.form is None:
        raise DocumentationError(
            f"{place()}: tool {claim.data['name']!r} is documented in no form that is known; "
            f"found the keys {', '.join(map(str, claim.data))}"
        )
    try:
        return claim.form.read(claim.data)
    except DocumentationError as error:
        raise DocumentationError(f"{place()}: {error}") from None


def _place(text: str, origin: str, start: int, path: scan.Path = ()) -> Callable[[], str]:
    """``origin:line:column``, worked out only when a message needs it."""

    def place() -> str:
        offset = scan.locate(text, start, path)
        line_start = text.rfind("\n", 0, offset) + 1
        return f"{origin}:{text.count(chr(10), 0, offset) + 1}:{offset - line_start + 1}"

    return place


def _demand_unique(found: Sequence[_Found]) -> None:
    first: dict[str, _Found] = {}
    for entry in found:
        name = entry.tool.name
        if name in first:
            raise DocumentationError(
                f"{entry.place()}: two tools of one name: {name!r} is documented at {first[name].place()} "
                "already; remove or rename one of them"
            )
        first[name] = entry
