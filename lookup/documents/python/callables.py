"""Read live Python functions and pydantic models from their type hints, not from their source."""

import copy
import functools
import inspect
import typing
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Final

from lookup.dictionary import ParameterSpec, ToolSpec
from lookup.documents.parameters.plain_values import plain_value
from lookup.documents.parameters.property_reader import PropertyReader
from lookup.documents.python.docstring import document, read_docstring
from lookup.documents.python.signature import no_key, no_literal, read_annotation, unsaid
from lookup.errors import DocumentationError, shown

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo
    from pydantic.json_schema import GenerateJsonSchema

_EMPTY: Final = inspect.Parameter.empty
_STARS: Final = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def read_callable(function: Callable[..., Any]) -> ToolSpec:
    """Read a function, method, ``functools.partial`` or callable object as a tool.

    Types and limits (``Field(ge=1)``) come from the type hints as pydantic understands them; the rest comes from the
    docstring. The source text of the function gives the same tool without the limits. A hint that pydantic does not
    accept is ``any``, with a note.

    DocumentationError if it is not callable, is a class, has no name, or is a builtin without a signature.
    """
    if isinstance(function, type) or not callable(function):
        found = f"the class {function.__name__}" if isinstance(function, type) else shown(function)
        raise DocumentationError(f"expected a function, a method or a callable object, found {found}")
    called: Any = function
    while isinstance(called, functools.partial):
        called = called.func
    name, docstring = getattr(called, "__name__", ""), getattr(called, "__doc__", None)
    if not name:
        name, called = type(called).__name__, called.__call__
        docstring = getattr(called, "__doc__", None) or docstring
    if not name.isidentifier():
        raise DocumentationError(f"a tool needs a name: expected a function with one, found {name}")
    notes: list[str] = []
    parameters: list[ParameterSpec] = []
    for parameter in _signature(function, name):
        if parameter.kind in _STARS:
            notes.append(no_key(f"{_STARS[parameter.kind]}{parameter.name}"))
        else:
            namespace = getattr(inspect.unwrap(called), "__globals__", {})
            parameters.append(_parameter(parameter, name, namespace, notes))
    return document(name, parameters, notes, docstring if isinstance(docstring, str) else "")


def _signature(function: Callable[..., Any], name: str) -> list[inspect.Parameter]:
    if isinstance(function, functools.partial):
        # A new partial, because update_wrapper() hides the bound arguments from inspect.
        function = functools.partial(function.func, *function.args, **function.keywords)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise DocumentationError(f"tool {name!r}: its parameters are not known to Python: {error}") from None
    return parameters[1:] if parameters and parameters[0].name in ("self", "cls") else parameters


def _parameter(parameter: inspect.Parameter, tool: str, namespace: dict[str, Any], notes: list[str]) -> ParameterSpec:
    from pydantic.fields import FieldInfo

    annotation, default = parameter.annotation, parameter.default
    found = unsaid(parameter.name)
    hint: Any = _EMPTY
    if annotation is not _EMPTY:
        hint = _hint(annotation, namespace)
        if isinstance(default, FieldInfo) and hint is not _EMPTY:
            hint = Annotated[hint, default]
        found = _typed(found, annotation, hint, tool, notes)
    if isinstance(default, FieldInfo):
        return _described(found, default, notes) if hint is _EMPTY else found
    return found if default is _EMPTY else _with_default(found, default, notes)


def _hint(annotation: object, namespace: dict[str, Any]) -> Any:
    """The annotation with forward references resolved; ``_EMPTY`` if that fails."""
    holder = SimpleNamespace(__annotations__={"hint": annotation})
    try:
        return typing.get_type_hints(holder, namespace, include_extras=True)["hint"]
    except Exception:  # noqa: BLE001 - a forward reference is an expression that can fail in any way
        return _EMPTY


def _typed(found: ParameterSpec, annotation: object, hint: Any, tool: str, notes: list[str]) -> ParameterSpec:
    """The parameter with its type and the extras of ``Annotated``."""
    from pydantic import TypeAdapter
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
    if hint is _EMPTY:
        notes.append(f"the type of {found.name!r} cannot be resolved: {raw_type}")
        return found
    try:
        schema = TypeAdapter(hint).json_schema(schema_generator=_generator(notes))
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
    """Read a pydantic model as a tool. Its keys are the fields, by their aliases if they have any.

    Name and description are those of the class.

    DocumentationError if it is not a pydantic model with fields, or pydantic cannot make a schema of it.
    """
    from pydantic import BaseModel, RootModel

    if not (isinstance(model, type) and issubclass(model, BaseModel)) or issubclass(model, RootModel):
        raise DocumentationError(f"expected a pydantic model with fields, found {shown(model)}")
    name = model.__name__
    notes: list[str] = []
    try:
        schema = model.model_json_schema(schema_generator=_generator(notes))
    except Exception as error:  # noqa: BLE001 - pydantic runs the code of foreign classes
        raise DocumentationError(f"tool {name!r}: pydantic has no schema of this model: {error}") from None
    reader = PropertyReader(f"tool {name!r}", schema)
    docstring = read_docstring(schema.get("description") or model.__doc__ or "")
    fields = {
        field.validation_alias if isinstance(field.validation_alias, str) else key: field
        for key, field in model.model_fields.items()
    }
    parameters = []
    for parameter in reader.parameters(schema):
        said = docstring.keys.get(parameter.name)
        if info := fields.get(parameter.name):
            # Otherwise pydantic's description is the docstring of the field's class.
            description = info.description or (said.description if said else "") or parameter.description
            parameter = replace(parameter, raw_type=_shown_type(info.annotation), description=description)
        parameters.append(parameter)
    notes += reader.notes
    return ToolSpec(name, docstring.description, tuple(parameters), notes=tuple(notes), conditions=reader.conditions)


def _generator(notes: list[str]) -> "type[GenerateJsonSchema]":
    """A schema generator with tuples. What JSON Schema cannot describe is any value, with a note."""
    from pydantic.json_schema import GenerateJsonSchema

    class Generator(GenerateJsonSchema):
        def tuple_schema(self, schema: Any) -> dict[str, Any]:
            return {**super().tuple_schema(schema), "type": "tuple"}

        def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> dict[str, Any]:
            notes.append(f"any value is taken where pydantic has no schema: {error_info}")
            return {}

        def emit_warning(self, kind: Any, detail: str) -> None:
            notes.append(detail)

    return Generator
