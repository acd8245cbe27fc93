"""Which types of values a sample asks for: slices that show where typed constraints and votes help."""

from typing import Final

from eval.benchmarks.samples import Sample
from lookup.dictionary import ValueType

VALUE_TYPES: Final = ("bool", "enum", "number", "text", "list", "object", "deep object", "other")
"""The slices, in the order of reports."""

_PLAIN: Final = {"bool": "bool", "int": "number", "float": "number", "str": "text"}


def value_types(sample: Sample) -> tuple[str, ...]:
    """Return the documented types of the values in the reference calls, in the order of ``VALUE_TYPES``.

    ``enum`` goes before the type of its members. A ``list`` holds plain values, or objects of plain values; an
    ``object`` holds plain values and lists of such. What holds objects within objects is a ``deep object``. A union is
    of its branches' type if they share one; it is ``other`` if not, as is a value of any type. Keys and tools without
    documentation have no type.
    """
    tools = sample.documentation.lookup
    found = {
        _name(spec.value_type)
        for call in sample.calls
        if call.name in tools
        for spec in tools[call.name].parameters
        if spec.name in call.arguments
    }
    return tuple(name for name in VALUE_TYPES if name in found)


def _name(value_type: ValueType) -> str:
    if value_type.any_of:
        branches = {_name(branch) for branch in value_type.any_of}
        return branches.pop() if len(branches) == 1 else "other"
    if value_type.kind in ("list", "tuple"):
        return "deep object" if _objects(value_type) > 1 else "list"
    if value_type.kind == "dict":
        return "deep object" if _objects(value_type) > 1 else "object"
    if value_type.kind == "bool":
        return "bool"
    return "enum" if value_type.enum else _PLAIN.get(value_type.kind, "other")


def _objects(value_type: ValueType) -> int:
    """Return how many objects are nested in one another."""
    inside = [*value_type.any_of, *(spec.value_type for spec in value_type.properties or ())]
    if value_type.items:
        inside.append(value_type.items)
    return (value_type.kind == "dict") + max(map(_objects, inside), default=0)
