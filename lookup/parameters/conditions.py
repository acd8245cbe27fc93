"""What a tool's schema says of several arguments together."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lookup.schema.document import Document
from lookup.schema.schema import EVERYTHING, NOTHING, Schema
from lookup.schema.value_schema import ValueSchema

_MAX_WALKED: Final = 500
_ACROSS: Final = (
    "if", "not", "dependentRequired", "dependentSchemas", "minProperties", "maxProperties", "anyOf", "oneOf"
)  # fmt: skip
"""Words that limit several arguments of a call together."""

_LEADING_THERE: Final = frozenset({*_ACROSS, "dependencies", "allOf", "$ref", "$dynamicRef"})


@dataclass(frozen=True)
class Conditions:
    """What a schema says of several arguments, in which words; checked when a call is finished."""

    words: tuple[str, ...]
    schema: ValueSchema

    @property
    def unsatisfiable(self) -> bool:
        """Whether no call obeys it, whatever its values are."""
        return self.schema.unsatisfiable

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not enforced while the arguments are decoded."""
        end = "; no call can obey it, so the tool is refused" if self.unsatisfiable else ""
        return (f"several parameters together: {', '.join(self.words)}{end}",)

    def check(self, value: Any) -> Any:
        """The arguments if they obey the schema; otherwise SchemaError."""
        return self.schema.check(value)


def conditions(
    written: Mapping[str, Any], document: Document, keys: Collection[str], required: Collection[str]
) -> Conditions | None:
    """The conditions of a tool, if there are some.

    Parameters
    ----------
    written : Mapping
        The schema of all arguments.
    document : Document
        What references point into.
    keys, required : collection of str
        The tool's keys, and those that every call has.
    """
    if _LEADING_THERE.isdisjoint(written):
        return None
    always = [document.schema(written)]
    across: list[Schema] = []
    for schema in always:  # it grows
        said = {word: schema.words[word] for word in _ACROSS if word in schema.words}
        if said.get("minProperties", 0) <= len(required):
            said.pop("minProperties", None)
        if said.get("maxProperties", len(keys)) >= len(keys):
            said.pop("maxProperties", None)
        if "if" in said:
            said |= {word: schema.words[word] for word in ("then", "else") if word in schema.words}
        across += [Schema(said)] if said else []
        always += [inner for inner in schema.words.get("allOf", ()) if inner not in always][: _MAX_WALKED - len(always)]
    if not across:
        return None
    known = {"properties": dict.fromkeys(keys, EVERYTHING), "required": (*required,), "additionalProperties": NOTHING}
    words = dict.fromkeys(word for schema in across for word in schema.words if word in _ACROSS)
    return Conditions(tuple(words), ValueSchema((Schema(known), *across), document.documentation))
