"""Reads tool documentation into a lookup dictionary of tools, their keys, types, enums and defaults."""

from lookup.dictionary import ANY, MISSING, LookupDictionary, ParameterSpec, ToolSpec, ValueType
from lookup.errors import DocumentationError, LiteralError, ToolDecodingError
from lookup.extract import extract, extract_file
from lookup.literals.literal_reader import parse_literal, read_literal

__all__ = [
    "ANY",
    "MISSING",
    "DocumentationError",
    "LiteralError",
    "LookupDictionary",
    "ParameterSpec",
    "ToolDecodingError",
    "ToolSpec",
    "ValueType",
    "extract",
    "extract_file",
    "parse_literal",
    "read_literal",
]
