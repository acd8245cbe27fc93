"""Extract a lookup dictionary from tool documentation.

>>> text = 'Tools: {"name": "GetToday", "description": "Today\\'s date.", "input_parameters": {}}'
>>> list(extract(text))
['GetToday']
"""

from pathlib import Path
from typing import Any

from lookup import structured
from lookup.dictionary import LookupDictionary
from lookup.duplicates import OnDuplicate, distinct
from lookup.errors import DocumentationError
from lookup.forms.registry import OBJECT_FORMS, TEXT_FORMS
from lookup.text.text_file import read_text
from lookup.text.text_reader import TextReader


def extract(source: Any, *, origin: str = "<text>", on_duplicate: OnDuplicate = "error") -> LookupDictionary:
    """Read every tool documented by a text, by parsed data or by live objects.

    Parameters
    ----------
    source : str, mapping, callable, pydantic model, or sequence of these
        Any text that contains documentation; or a parsed tool, a list of tools or a whole document; or Python
        functions and pydantic models.
    origin : str
        The name of the source in error messages. If it ends in ``.json`` or ``.jsonl``, the text must be JSON; if it
        ends in ``.yaml`` or ``.yml``, it must be YAML.
    on_duplicate : {"error", "rename"}
        What to do with two tools of the same name, see ``lookup.duplicates``.

    Returns
    -------
    LookupDictionary
        The tools in documentation order, and what looked like a tool but was not read.

    Raises
    ------
    DocumentationError
        If the source is empty or malformed, documents no tool, or documents two tools of the same name. The message
        starts with ``origin:line:column`` for a text and ``origin[key]`` for data.
    """
    if isinstance(source, str):
        if not source.strip("\ufeff \t\r\n\f\v"):
            raise DocumentationError(f"{origin}: expected tool documentation, found an empty text")
        tools, unread = TextReader(source, origin).read()
    else:
        tools, unread = structured.read(source, origin)
    if not tools:
        forms = "; ".join([form.title for form in OBJECT_FORMS] + [form.title for form in TEXT_FORMS])
        seen = f"; what looks like a tool: {unread[0]}" if unread else ""
        raise DocumentationError(f"{origin}: no tool documentation found{seen}; looked for: {forms}")
    return LookupDictionary(distinct(tools, on_duplicate), tuple(unread))


def extract_file(path: str | Path, *, on_duplicate: OnDuplicate = "error") -> LookupDictionary:
    """Read every tool documented by a UTF-8 file.

    Raises
    ------
    DocumentationError
        As for ``extract``, or if the file is missing, a directory, unreadable, larger than 64 MiB, or not UTF-8.
    """
    return extract(read_text(path), origin=str(path), on_duplicate=on_duplicate)
