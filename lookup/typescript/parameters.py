"""The parameters of a TypeScript function as JSON Schema."""

import re
from typing import Any, Final

from lookup.dictionary import MISSING
from lookup.literals.literal_reader import read_literal
from lookup.typescript.comments import DocComment
from lookup.typescript.schemas import Schema
from lookup.typescript.type_reader import TypeReader

_OF_PARAMETERS: Final = frozenset({"_", "args", "arguments", "params", "parameters", "input", "props"})
_PARAMETER = re.compile(r"(?:\.\.\.)?(?P<name>[A-Za-z_$][\w$]{0,199})[ \t]*(?P<optional>\?)?[ \t]*")
_REFERENCE = re.compile(r"[A-Za-z_$][\w$.]{0,200}")


def read_parameters(reader: TypeReader, doc: DocComment | None) -> Schema:
    """The schema of the parameters of a function: of its one object of parameters, or of each of them.

    Raises
    ------
    LiteralError
        If they are no typed parameters.
    """
    reader.expect("(")
    properties: Schema = {}
    required: list[str] = []
    only: Schema | None = None
    while not reader.take(")"):
        reader.skip()
        destructured = reader.text.startswith("{", reader.position)
        if destructured:
            _step_over_pattern(reader)
            name, optional = "_", False
        else:
            match = _PARAMETER.match(reader.text, reader.position, reader.limit)
            if not match:
                reader.fail("a parameter")
            reader.position = match.end()
            name, optional = match["name"], match["optional"] is not None
        reader.expect(":")
        schema = reader.type()
        has_default, default = _default(reader)
        if not properties and name in _OF_PARAMETERS and _is_object(schema):
            only = schema
        spec = dict(schema)
        if doc and doc.parameters.get(name):
            spec["description"] = doc.parameters[name]
        if default is not MISSING:
            spec["default"] = default
        properties[name] = spec
        if not optional and not has_default:
            required.append(name)
        if not reader.take(","):
            reader.expect(")")
            break
    if only is not None and len(properties) == 1:
        return _described(only, doc)
    return {"type": "object", "properties": properties, "required": required}


def _is_object(schema: Schema) -> bool:
    return schema.get("type") == "object" or "$ref" in schema or "allOf" in schema


def _described(schema: Schema, doc: DocComment | None) -> Schema:
    """The schema with the descriptions that a doc comment gives its keys."""
    properties = schema.get("properties")
    if not doc or not isinstance(properties, dict):
        return schema
    named = {key: doc.parameters.get(key) for key in properties}
    return schema | {
        "properties": {
            key: spec if not named[key] or spec.get("description") else spec | {"description": named[key]}
            for key, spec in properties.items()
        }
    }


def _step_over_pattern(reader: TypeReader) -> None:
    """Step over ``{ a, b = 1 }``."""
    end = reader.text.find("}", reader.position, reader.limit)
    if end < 0:
        reader.fail("'}'")
    reader.position = end + 1


def _default(reader: TypeReader) -> tuple[bool, Any]:
    """Whether a parameter has a default, and the default if it is a literal; ``MISSING`` for any other."""
    if not reader.take("="):
        return False, MISSING
    reader.skip()
    if name := _REFERENCE.match(reader.text, reader.position, reader.limit):
        reader.position = name.end()
        return True, {"true": True, "false": False, "null": None}.get(name[0], MISSING)
    value, reader.position = read_literal(reader.text, reader.position)
    return True, value
