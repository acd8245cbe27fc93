"""Documentation that is no text: parsed data, Python functions and pydantic models."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from lookup import scan
from lookup.errors import DocumentationError
from lookup.known_forms import OBJECT_FORMS
from lookup.schema import Source, ToolSpec, Unread

UNKNOWN_FORM = "it is documented in no form that is known"


def read(source: Any, origin: str) -> tuple[list[ToolSpec], list[Unread]]:
    """The tools of parsed data, a callable, a pydantic model, or a sequence of these, and what was not taken.

    Raises
    ------
    DocumentationError
        As ``lookup.extract``.
    """
    if isinstance(source, Sequence) and not isinstance(source, str | bytes | bytearray):
        entries = list(source)
    elif isinstance(source, Mapping) or _reader(source):
        entries = [source]
    else:
        raise DocumentationError(
            f"{origin}: expected a text, an object, a function, a pydantic model or a list of these, "
            f"found {type(source).__name__}"
        )
    listed = entries is not source and isinstance(source, Sequence)
    found: list[tuple[int, ToolSpec]] = []
    unread: list[Unread] = []
    data = []
    for index, entry in enumerate(entries):
        place = f"{origin}[{index}]" if listed else origin
        if reader := _reader(entry):
            found.append((index, _read_live(reader, entry, place)))
            entry = None
        data.append(_dumped(entry))
    for claim in scan.claims(data if listed else data[0], OBJECT_FORMS, listed=True):
        index = int(claim.path[0]) if listed else 0
        path = "".join(f"[{step!r}]" for step in claim.path)
        if claim.form is None and not claim.beside:
            unread.append(Unread(Source("", origin, path=path), UNKNOWN_FORM))
        else:
            found += [(index, tool) for tool in read_claim(claim, partial(_at, origin, path))]
    return [tool for _, tool in sorted(found, key=lambda entry: entry[0])], unread


def _at(origin: str, path: str, node: Mapping[str, Any], form: str) -> Source:
    return Source(form, origin, path=path)


def read_claim(claim: scan.Claim, source: Callable[[Mapping[str, Any], str], Source]) -> Iterator[ToolSpec]:
    """The tools of a claimed object.

    Parameters
    ----------
    source : callable
        Gives the place of an object and the title of its form.

    Raises
    ------
    DocumentationError
        With the place, if the object is malformed or no form fits.
    """
    if claim.form is None:
        name = claim.data.get("api_name", claim.data.get("name"))
        raise DocumentationError(
            f"{source(claim.data, '')}: tool {name!r} is documented in no form that is known; "
            f"found the keys {', '.join(map(str, claim.data))}"
        )
    try:
        for tool, node in claim.form.read(claim.data):
            yield replace(tool, source=source(node, claim.form.title))
    except DocumentationError as error:
        raise DocumentationError(f"{source(claim.data, claim.form.title)}: {error}") from None


def _reader(entry: Any) -> Callable[[Any], ToolSpec] | None:
    """What reads a live object; ``None`` for data."""
    if isinstance(entry, ToolSpec):
        return lambda tool: tool
    if _is_model(entry, kind=True):
        from lookup.callables import read_model

        return read_model
    if callable(entry) and not isinstance(entry, Mapping):
        from lookup.callables import read_callable

        return read_callable
    return None


def _read_live(reader: Callable[[Any], ToolSpec], entry: Any, place: str) -> ToolSpec:
    try:
        tool = reader(entry)
    except DocumentationError as error:
        raise DocumentationError(f"{place}: {error}") from None
    form = "pydantic model" if _is_model(entry, kind=True) else "Python callable"
    return tool if tool.source else replace(tool, source=Source(form, place))


def _dumped(entry: Any) -> Any:
    """Instances of pydantic models, such as the tools of MCP's and OpenAI's own packages, as data."""
    return entry.model_dump(by_alias=True, exclude_none=True) if _is_model(entry, kind=False) else entry


def _is_model(entry: Any, kind: bool) -> bool:
    """Whether it is a pydantic model itself (``kind``), or an instance of one; without pydantic there is none."""
    pydantic = sys.modules.get("pydantic")
    if pydantic is None:
        return False
    if kind:
        return isinstance(entry, type) and issubclass(entry, pydantic.BaseModel)
    return isinstance(entry, pydantic.BaseModel)
