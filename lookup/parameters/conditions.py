"""What a tool's schema says of several arguments together."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lookup.parameters.references import UNIONS, branches_of
from lookup.schema.document import Document
from lookup.schema.value_schema import ValueSchema, value_schema

_MAX_DEPTH: Final = 8
_MAX_BRANCHES: Final = 64
_ACROSS: Final = (
    "if", "not", "dependentRequired", "dependentSchemas", "dependencies", "minProperties", "maxProperties", *UNIONS
)  # fmt: skip
"""Words that limit several arguments of a call together."""


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
    schema: Mapping[str, Any], document: Document, keys: Collection[str], required: Collection[str]
) -> Conditions | None:
    """The conditions of a tool, if there are some.

    Parameters
    ----------
    schema : Mapping
        The schema of all arguments, whose reference is followed.
    document : Document
        What references point into.
    keys, required : collection of str
        The tool's keys, and those that every call has.
    """
    words: dict[str, None] = {}
    said = _across(schema, document, (len(required), len(keys)), words, 0)
    if not words:
        return None
    known = {"properties": dict.fromkeys(keys, True), "required": [*required], "additionalProperties": False}
    return Conditions(tuple(words), value_schema({"allOf": [known, said]}, document))


def _across(
    schema: Mapping[str, Any], document: Document, sizes: tuple[int, int], words: dict[str, None], depth: int
) -> dict[str, Any]:
    """The part of a schema that is about several arguments, also of its branches that always hold."""
    always = [*branches_of(schema, "allOf")]
    said: dict[str, Any] = {}
    for word in _ACROSS:
        if word not in schema or (word in UNIONS and not branches_of(schema, word)):
            continue
        if word in UNIONS and len(branches_of(schema, word)) == 1:
            always += branches_of(schema, word)
        elif not _is_idle(word, schema[word], *sizes):
            words[word] = None
            said[word] = schema[word]
    if "if" in said:
        said |= {word: schema[word] for word in ("then", "else") if word in schema}
    if isinstance(reference := schema.get("$ref"), str):
        target = document.named(reference)
        always += [target] if isinstance(target, Mapping) else []
    if depth < _MAX_DEPTH:
        inner = [_across(branch, document, sizes, words, depth + 1) for branch in always[:_MAX_BRANCHES]]
        if found := [each for each in inner if each]:
            said["allOf"] = found
    return said


def _is_idle(word: str, value: object, required: int, keys: int) -> bool:
    """Whether the number of keys is right in every call."""
    if not isinstance(value, int):
        return False
    return value <= required if word == "minProperties" else word == "maxProperties" and value >= keys
