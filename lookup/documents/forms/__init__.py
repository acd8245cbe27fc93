"""All documentation forms, whose interface is in ``form``. A new form is one file in this folder and one line here."""

from typing import Final

from lookup.documents.forms import (
    gemma,
    json_tools,
    openapi,
    printed_json,
    python_functions,
    signature_lines,
    typescript,
    xml_listing,
)
from lookup.documents.forms.form import ObjectForm, TextForm

OBJECT_FORMS: Final[tuple[ObjectForm, ...]] = (
    json_tools.API_BANK,
    openapi.FORM,
    json_tools.KEY_LISTS,
    json_tools.FLAT_KEYS,
    json_tools.JSON_SCHEMA,
)
"""Tried in this order. The last one also reads ``{"name", "description"}`` without parameters."""

TEXT_FORMS: Final[tuple[TextForm, ...]] = (
    typescript.FORM,
    gemma.FORM,
    printed_json.FORM,
    xml_listing.FORM,
    python_functions.FORM,
    signature_lines.FORM,
)
"""If two of them find a tool at the same offset, the earlier form in this list wins."""
