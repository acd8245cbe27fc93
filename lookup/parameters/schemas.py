"""JSON Schemas of one tool with their references followed and their branches merged."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from lookup.messages import quoted
from lookup.parameters.references import Expansion, References
from lookup.parameters.schema_branches import UNIONS, Schema, branches_of, is_null, listed_keys, merge
from lookup.schema.schema import Written
from lookup.schema.value_schema import ValueSchema

MAX_NESTING: Final = 16
TOO_MUCH: Final = "nested too deep or in too many ways: some keys and elements are not taken over"
_MAX_NOTES: Final = 20


class Scope(NamedTuple):
    """Where a schema is read.

    Attributes
    ----------
    where : str
        The tool and parameter for messages.
    nesting : int
        The number of objects, lists and branches around the schema.
    active : frozenset of str
        The references that are being followed.
    whole : ValueSchema, optional
        What the schemas of all keys say together, if they stand in several branches.
    """

    where: str
    nesting: int = 0
    active: frozenset[str] = frozenset()
    whole: ValueSchema | None = None

    def of_key(self, key: str) -> "Scope":
        """The scope of a key."""
        return self._replace(where=f"{self.where}, parameter {quoted(key)}")

    def inside(self) -> "Scope":
        """The scope one level deeper."""
        return self._replace(nesting=self.nesting + 1)


class Schemas:
    """Reads the schemas of one tool without exceeding its share of the document.

    Parameters
    ----------
    owner : str
        The tool for notes.
    root : Mapping or References
        The document that local references point into; or its references, if several tools share them.

    Attributes
    ----------
    notes : list of str
        What was ignored.
    document : Document
    shared : bool
        Whether several tools share the document.
    """

    def __init__(self, owner: str, root: Schema | References, habit: bool | None = False) -> None:
        self.notes: list[str] = []
        self.shared = isinstance(root, References)
        self._owner = owner
        self._references = root if isinstance(root, References) else References(root, habit)
        self.document = self._references.document
        self._expansion = Expansion(self._references)
        self._read: dict[Written, Any] = {}

    def resolve(
        self, spec: Schema, active: frozenset[str] = frozenset(), notes: list[str] | None = None
    ) -> tuple[Schema, frozenset[str]]:
        """The schema that a reference names, or ``spec`` itself; and the references that are then active."""
        return self._references.resolve(spec, active, self.notes if notes is None else notes, self._expansion.take)

    def merged(self, schema: Schema, active: frozenset[str], depth: int = 0) -> tuple[Schema, frozenset[str]]:
        """The schema of an object with its reference, ``allOf`` and other branches merged into one.

        It has the keys of all branches of ``anyOf`` and ``oneOf``. A key is required if all of them require it.
        """
        schema, active = self.resolve(schema, active)
        merged = dict(schema)
        if depth > MAX_NESTING:
            self.note(f"{self._owner}: {TOO_MUCH}")
            return merged, active
        for branch in branches_of(schema, "allOf"):
            part, active = self.merged(branch, active, depth + 1)
            if self.may_read_keys(part):
                merge(merged, part, required=listed_keys(merged) + listed_keys(part))
        for union in UNIONS:
            named = [branch for branch in branches_of(schema, union) if not is_null(branch)]
            parts = [self.merged(branch, active, depth + 1)[0] for branch in named]
            parts = [part for part in parts if self.may_read_keys(part)]
            lists = [frozenset(listed_keys(part)) for part in parts]
            for part in parts:
                merge(merged, part, required=listed_keys(merged))
            if shared := frozenset.intersection(*lists) if lists else None:
                merged["required"] = [*listed_keys(merged), *shared]
        return merged, active

    def enters(self, scope: Scope) -> bool:
        """Whether the schema of a scope may be read. Adds a note if not."""
        if scope.nesting <= MAX_NESTING and (not scope.nesting or self._expansion.take()):
            return True
        self.note(f"{scope.where}: {TOO_MUCH}")
        return False

    def may_read_keys(self, schema: Schema) -> bool:
        """Whether the keys of an object may be read (again). Adds a note if not."""
        properties = schema.get("properties")
        return self.may_read(1 + len(listed_keys(schema)) + (len(properties) if isinstance(properties, Mapping) else 0))

    def may_read(self, members: int) -> bool:
        """Whether this number of members of a shared document may be read (again). Adds a note if not."""
        if self._expansion.take(members):
            return True
        self.note(f"{self._owner}: {TOO_MUCH}")
        return False

    def once(self, value: Any, read: Callable[[Any], Any]) -> Any:
        """``read(value)``, made once, because many references may lead to it."""
        key = Written(value)
        if key not in self._read:
            self._read[key] = read(value)
        return self._read[key]

    def note(self, note: str) -> None:
        """Add a note unless it is a repetition or there are too many."""
        if note not in self.notes and len(self.notes) < _MAX_NOTES:
            self.notes.append(note)
