"""All documentation forms. A new form is one file in this folder and one line here."""

from typing import Final

from lookup.forms import (
    api_bank,
    flat_keys,
    gemma,
    javascript,
    json_schema,
    key_lists,
    listings,
    markdown,
    model_classes,
    openapi,
    printed_json,
    python_functions,
    signature_lines,
    typescript_declarations,
    xml_listing,
)
from lookup.forms.corpora import api_bank_table, bfcl_python, bfcl_xml, tool_alpaca
from lookup.forms.form import ObjectForm, TextForm

OBJECT_FORMS: Final[tuple[ObjectForm, ...]] = (
    api_bank.OBJECT_FORM,
    openapi.FORM,
    tool_alpaca.OBJECT_FORM,
    key_lists.FORM,
    flat_keys.FORM,
    json_schema.FORM,
)
"""Tried in this order. The last one also reads ``{"name", "description"}`` without parameters."""

TEXT_FORMS: Final[tuple[TextForm, ...]] = (
    typescript_declarations.NAMESPACE_FORM,
    gemma.FORM,
    printed_json.FORM,
    xml_listing.FORM,
    javascript.FORM,
    listings.FORM,
    api_bank_table.FORM,
    bfcl_python.FORM,
    bfcl_xml.FORM,
    tool_alpaca.FORM,
    python_functions.FORM,
    signature_lines.FORM,
    typescript_declarations.FORM,
    model_classes.FORM,
    markdown.FORM,
)
"""If two of them find a tool at the same offset, the earlier form in this list wins."""
