"""Read live Python functions, dataclasses and pydantic models from their type hints, not from their source."""

import copy
import inspect
import typing
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Final

from lookup.dictionary import ParameterSpec, ToolSpec
from lookup.documents.parameters.plain_values import plain_value
from lookup.documents.parameters.property_reader import PropertyReader
from lookup.documents.python.docstring import document, read_docstring
from lookup.documents.python.hints import UNKNOWN, adapter, is_model, resolved
from lookup.documents.python.live_signature import EMPTY, LEFT_OUT, LiveKey, LiveSignature, read_live
from lookup.documents.python.signature import no_key, no_literal, read_annotation, unsaid
from lookup.errors import DocumentationError, shown

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo
    from pydantic.json_schema import GenerateJsonSchema

_NAIVE: Final = (
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?$"
)
"""A date and a time without a zone."""


def read_callable(function: Callable[..., Any]) -> ToolSpec:
    """Read a function, method, partial, callable object, dataclass, ``TypedDict`` or named tuple as a tool.

    Types and limits (``Field(ge=1)``) come from the type hints as pydantic understands them; the rest comes from the
    docstring. The source text of the function gives the same tool without the limits. A hint that pydantic does not
    accept is ``any``, with a note.

    DocumentationError as ``read_live``.
    """
    live = read_live(function)
    notes: list[str] = []
    parameters = [_parameter(key, live, notes) for key in live.keys.values()]
    notes += map(no_key, live.starred)
    return document(live.name, parameters, notes, live.docstring)


def _parameter(key: LiveKey, live: LiveSignature, notes: list[str]) -> ParameterSpec:
    from pydantic.fields import FieldInfo

    name, annotation, default = key
    found = unsaid(name)
    hint: Any = UNKNOWN
    if annotation is not EMPTY:
        hint = resolved(annotation, live.namespace)
        if isinstance(default, FieldInfo) and hint is not UNKNOWN:
            hint = Annotated[hint, default]
        found = _typed(found, annotation, hint, live.name, notes)
    if isinstance(default, FieldInfo):
        return _described(found, default, notes) if hint is UNKNOWN else found
    if default is LEFT_OUT:
        return replace(found, rule="default")
    return found if default is EMPTY else _with_default(found, default, notes)


def _typed(found: ParameterSpec, annotation: object, hint: Any, tool: str, notes: list[str]) -> ParameterSpec:
    """The parameter with its type and the extras of ``Annotated``."""
    from pydantic.fields import FieldInfo

    plain: Any = hint
    extras: tuple[Any, ...] = ()
    if typing.get_origin(hint) is Annotated:
        plain, extras = hint.__origin__, hint.__metadata__
    if isinstance(annotation, str):
        raw_type = read_annotation(unsaid(found.name), annotation).raw_type
    else:
        raw_type = _shown_type(plain if extras else annotation)
    found = replace(found, raw_type=raw_type)
    for extra in extras:
        if isinstance(extra, FieldInfo):
            found = _described(found, extra, notes)
        elif isinstance(said := getattr(extra, "documentation", extra), str) and not found.description:
            found = replace(found, description=said)
    if hint is UNKNOWN:
        notes.append(f"the type of {found.name!r} cannot be resolved: {raw_type}")
        return found
    try:
        schema = adapter(hint).json_schema(schema_generator=_generator(notes))
        reader = PropertyReader(f"tool {tool!r}", schema)
        bare = {word: value for word, value in schema.items() if word not in ("default", "description")}
        read = reader.parameter(found.name, bare)
    except Exception:  # noqa: BLE001 - pydantic runs the code of foreign classes
        notes.append(f"the type of {found.name!r} is no type to pydantic: {raw_type}")
        return found
    notes += reader.notes
    return replace(found, type=read.type, enum=read.enum, schema=read.schema)


def _shown_type(annotation: object) -> str:
    return inspect.formatannotation(annotation).replace("typing.", "").replace("NoneType", "None")


def _described(found: ParameterSpec, info: "FieldInfo", notes: list[str]) -> ParameterSpec:
    """The parameter with the description and default of pydantic's ``Field(...)``."""
    from pydantic_core import PydanticUndefined

    found = replace(found, description=info.description or found.description)
    if info.default is not PydanticUndefined:
        return _with_default(found, info.default, notes)
    factory: Any = info.default_factory
    if factory in (list, dict):
        return replace(found, default=factory(), rule="default")
    if factory is not None:
        notes.append(no_literal(found.name, f"{getattr(factory, '__name__', 'a factory')}()"))
        return replace(found, rule="default")
    return found


def _with_default(found: ParameterSpec, value: Any, notes: list[str]) -> ParameterSpec:
    if isinstance(value, Enum) and value.value in (found.enum or ()):
        value = value.value  # any other enum member is probably a sentinel
    try:
        default = copy.deepcopy(plain_value(value, "default", "a parameter"))
    except DocumentationError:
        notes.append(no_literal(found.name, shown(value)))
        return replace(found, rule="default")
    return replace(found, default=default, rule="default")


def read_model(model: "type[BaseModel]") -> ToolSpec:
    """Read a pydantic model or pydantic's dataclass as a tool. Its keys are the fields, by their aliases.

    Name and description are those of the class.

    DocumentationError if it is no class of pydantic's with fields, pydantic cannot make a schema of it, or a field
    that must be given has no key.
    """
    from pydantic import RootModel, TypeAdapter

    if not is_model(model) or issubclass(model, RootModel):
        raise DocumentationError(f"expected a pydantic model with fields, found {shown(model)}")
    name = model.__name__
    notes: list[str] = []
    try:
        schema = TypeAdapter(model).json_schema(schema_generator=_generator(notes))
    except Exception as error:  # noqa: BLE001 - pydantic runs the code of foreign classes
        raise DocumentationError(f"tool {name!r}: pydantic has no schema of this model: {error}") from None
    reader = PropertyReader(f"tool {name!r}", schema)
    docstring = read_docstring(schema.get("description") or model.__doc__ or "")
    fields = model_fields(model)
    config = getattr(model, "model_config", None) or getattr(model, "__pydantic_config__", {})
    by_name = config.get("populate_by_name") or config.get("validate_by_name")
    parameters = []
    for parameter in reader.parameters(schema):
        if not by_name and parameter.name in fields and _is_of_path(fields[parameter.name]):
            why = f"the field {parameter.name!r} is read from a path (AliasPath), and no argument of a call is one"
            if parameter.required:
                raise DocumentationError(f"tool {name!r}: {why}")
            notes.append(f"{why}: it is left out")
            continue
        said = docstring.keys.get(parameter.name)
        if info := fields.get(parameter.name):
            # Otherwise pydantic's description is the docstring of the field's class.
            description = info.description or (said.description if said else "") or parameter.description
            parameter = replace(parameter, raw_type=_shown_type(info.annotation), description=description)
        parameters.append(parameter)
    notes += reader.notes
    return ToolSpec(name, docstring.description, tuple(parameters), notes=tuple(notes), conditions=reader.conditions)


def model_fields(model: Any) -> dict[str, "FieldInfo"]:
    """Return the fields of a class of pydantic's by the keys that its schema has for them."""
    from pydantic import BaseModel

    fields = model.model_fields if issubclass(model, BaseModel) else model.__pydantic_fields__
    return {next(_aliases(field), key): field for key, field in fields.items()}


def _aliases(field: "FieldInfo") -> Iterator[str]:
    """The aliases of a field that are keys and no paths."""
    alias = field.validation_alias
    return (each for each in getattr(alias, "choices", [alias]) if isinstance(each, str))


def _is_of_path(field: "FieldInfo") -> bool:
    return field.validation_alias is not None and not any(_aliases(field))


def _generator(notes: list[str]) -> "type[GenerateJsonSchema]":
    """A schema generator with tuples. What JSON Schema cannot describe is any value, with a note."""
    from pydantic.json_schema import GenerateJsonSchema

    class Generator(GenerateJsonSchema):
        def tuple_schema(self, schema: Any) -> dict[str, Any]:
            return {**super().tuple_schema(schema), "type": "tuple"}

        def datetime_schema(self, schema: Any) -> dict[str, Any]:
            is_naive = schema.get("tz_constraint") == "naive"  # the format date-time demands a zone
            return {"type": "string", "pattern": _NAIVE} if is_naive else super().datetime_schema(schema)

        def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> dict[str, Any]:
            notes.append(f"any value is taken where pydantic has no schema: {error_info}")
            return {}

        def emit_warning(self, kind: Any, detail: str) -> None:
            notes.append(detail)

    return Generator
