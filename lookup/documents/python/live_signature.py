"""What can be called as a tool: its name, its docstring and its parameters, as Python knows them."""

import dataclasses
import functools
import inspect
import keyword
import sys
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from lookup.documents.python.hints import is_typed_dict, resolved, typed_dict_fields
from lookup.errors import DocumentationError, shown

EMPTY: Final = inspect.Parameter.empty
"""No annotation, or no default."""

LEFT_OUT: Final = object()
"""In the place of a default: the key may be left out."""

_STARS: Final = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


class LiveKey(NamedTuple):
    """A parameter that a call may name, its annotation as written, and its default, perhaps pydantic's ``Field``."""

    name: str
    annotation: Any
    default: Any


class LiveSignature(NamedTuple):
    """A function, method, ``functools.partial``, callable object, dataclass, named tuple or ``TypedDict``, also
    a generic one with its types.

    Attributes
    ----------
    signature : inspect.Signature
        All parameters with which it is called; of a ``TypedDict`` its keys.
    keys : dict of str to LiveKey
        Those that are documented: all but ``self`` of a function, and what stars take.
    starred : tuple of str
        ``*args`` and ``**kwargs``.
    namespace : mapping
        In which forward references of its hints are looked up.
    """

    name: str
    docstring: str
    signature: inspect.Signature
    keys: dict[str, LiveKey]
    starred: tuple[str, ...]
    namespace: Mapping[str, Any]


def read_live(function: Callable[..., Any]) -> LiveSignature:
    """Return what is known of something that can be called.

    DocumentationError if it is not callable, is any other class, has no name, or is a builtin without a signature.
    """
    if isinstance(made := typing.get_origin(function), type):
        return _of_generic(made, typing.get_args(function))
    if is_typed_dict(function):
        return _of_typed_dict(function)
    if isinstance(function, type) and not (dataclasses.is_dataclass(function) or _is_named_tuple(function)):
        expected = "a function, a method, a callable object, or a dataclass, TypedDict or pydantic model"
        raise DocumentationError(f"expected {expected}, found the class {function.__name__}")
    if not callable(function):
        raise DocumentationError(f"expected a function, a method or a callable object, found {shown(function)}")
    called: Any = function
    while isinstance(called, functools.partial):
        called = called.func
    name, docstring = getattr(called, "__name__", ""), getattr(called, "__doc__", None)
    if not name:
        name, called = type(called).__name__, called.__call__
        docstring = getattr(called, "__doc__", None) or docstring
    if not name.isidentifier():
        raise DocumentationError(f"a tool needs a name: expected a function with one, found {name}")
    signature = _signature(function, name)
    parameters = list(signature.parameters.values())
    if isinstance(called, type):
        namespace = _module(called)
        docstring = "" if docstring in _made_docstrings(called, signature) else docstring
    else:
        namespace = getattr(inspect.unwrap(called), "__globals__", {})
        parameters = parameters[1:] if parameters and parameters[0].name in ("self", "cls") else parameters
    factories = _factories(called)
    keys = [LiveKey(p.name, p.annotation, factories.get(p.name, p.default)) for p in parameters if p.kind not in _STARS]
    starred = tuple(f"{_STARS[p.kind]}{p.name}" for p in parameters if p.kind in _STARS)
    docstring = docstring if isinstance(docstring, str) else ""
    return LiveSignature(name, docstring, signature, {key.name: key for key in keys}, starred, namespace)


def keyword_signature(names: Iterable[str]) -> inspect.Signature:
    """Return the signature of what takes these keywords; behind stars those that are no names of Python."""
    given = list(names)
    writable = [name for name in given if name.isidentifier() and not keyword.iskeyword(name)]
    parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in writable]
    if len(writable) < len(given):
        free = next(name for number in range(len(given) + 1) if (name := f"others{number or ''}") not in given)
        parameters.append(inspect.Parameter(free, inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def _signature(function: Callable[..., Any], name: str) -> inspect.Signature:
    if isinstance(function, functools.partial):
        # A new partial, because update_wrapper() hides the bound arguments from inspect.
        function = functools.partial(function.func, *function.args, **function.keywords)
    try:
        return inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise DocumentationError(f"tool {name!r}: its parameters are not known to Python: {error}") from None


def _of_generic(made: type, arguments: tuple[Any, ...]) -> LiveSignature:
    """A generic class with types in the places of its variables, such as ``Box[int]``."""
    live = read_live(made)
    chosen = dict(zip(getattr(made, "__parameters__", ()), arguments, strict=False))

    def substituted(annotation: Any) -> Any:
        hint = resolved(annotation, live.namespace)
        if isinstance(hint, typing.TypeVar):
            return chosen.get(hint, hint)
        variables = () if isinstance(hint, type) else getattr(hint, "__parameters__", ())
        return hint[tuple(chosen.get(each, each) for each in variables)] if variables else annotation

    keys = {name: key._replace(annotation=substituted(key.annotation)) for name, key in live.keys.items()}
    return live._replace(keys=keys)


def _of_typed_dict(function: Any) -> LiveSignature:
    fields = typed_dict_fields(function)
    keys = {name: LiveKey(name, hint, EMPTY if required else LEFT_OUT) for name, (hint, required) in fields.items()}
    docstring = function.__doc__ if isinstance(function.__doc__, str) else ""
    return LiveSignature(function.__name__, docstring, keyword_signature(keys), keys, (), _module(function))


def _module(called: type) -> Mapping[str, Any]:
    return vars(sys.modules[called.__module__]) if called.__module__ in sys.modules else {}


def _is_named_tuple(function: type) -> bool:
    return issubclass(function, tuple) and hasattr(function, "_fields")


def _made_docstrings(called: type, signature: inspect.Signature) -> tuple[str, ...]:
    """The docstrings that Python makes for a dataclass, and for a named tuple."""
    keys = ", ".join(signature.parameters)
    return f"{called.__name__}{signature}".replace(" -> None", ""), f"{called.__name__}({keys})"


def _factories(called: Any) -> dict[str, Any]:
    """The default factories of a dataclass, as pydantic's ``Field``."""
    if not (isinstance(called, type) and dataclasses.is_dataclass(called)):
        return {}
    from pydantic.fields import FieldInfo

    made = {field.name: field.default_factory for field in dataclasses.fields(called)}
    return {
        name: FieldInfo(default_factory=factory) for name, factory in made.items() if factory is not dataclasses.MISSING
    }
