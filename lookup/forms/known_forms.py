"""The forms that documentation is recognised by."""

from typing import Final

from lookup.corpora import api_bank_table, bfcl_python, bfcl_xml, tool_alpaca
from lookup.forms import (
    api_bank,
    flat_keys,
    gemma,
    javascript,
    json_schema,
    key_lists,
    listings,
    markdown,
    openapi,
    printed_json,
    xml_listing,
)
from lookup.forms.form import ObjectForm, TextForm
from lookup.python import functions, model_classes, signature_line
from lookup.typescript import declarations as typescript

# In the order in which they are asked; the last one also reads {"name", "description"} without parameters.
OBJECT_FORMS: Final[tuple[ObjectForm, ...]] = (
    api_bank.OBJECT_FORM,
    openapi.FORM,
    tool_alpaca.OBJECT_FORM,
    key_lists.FORM,
    flat_keys.FORM,
    json_schema.FORM,
)
# Of two that begin at the same place the first one has it.
TEXT_FORMS: Final[tuple[TextForm, ...]] = (
    typescript.NAMESPACE_FORM,
    gemma.FORM,
    printed_json.FORM,
    xml_listing.FORM,
    javascript.FORM,
    listings.FORM,
    api_bank_table.FORM,
    bfcl_python.FORM,
    bfcl_xml.FORM,
    tool_alpaca.FORM,
    functions.FORM,
    signature_line.FORM,
    typescript.FORM,
    model_classes.FORM,
    markdown.FORM,
)
