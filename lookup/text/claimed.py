"""From objects that a form claims to tools, with their places."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from lookup.dictionary import Source, ToolSpec
from lookup.errors import DocumentationError
from lookup.text import scan

UNKNOWN_FORM: Final = "it is documented in no form that is known"


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
            yield replace(tool, source=source(claim.node or node, claim.form.title))
    except DocumentationError as error:
        raise DocumentationError(f"{source(claim.node or claim.data, claim.form.title)}: {error}") from None
