"""The shape of a whole value that obeys a schema, in each notation."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from lookup.errors import DocumentationError
from lookup.schema.nodes import Branch, Conjunction, Constants, Lists, Objects, Texts
from lookup.values.any_shapes import any_shape, nested_shapes
from lookup.values.literal_values import is_literal
from lookup.values.node_shapes import NO_VALUE, NodeShapes, written_members
from lookup.values.notations import QUOTED_TEXT, Notation, RawText, inside, raw_text, renderer
from lookup.values.plain_shapes import Literals
from lookup.values.shapes import Enclosed, Shape, Union
from lookup.values.texts import any_text, text_shape

_BRACKETS = "[{"


@dataclass(frozen=True)
class WholeValue:
    """The shape of a whole value.

    Attributes
    ----------
    shape : Shape
    opener : str
        The text that every literal begins with.
    literals : tuple of str or None
        All literals, if they are listed.
    """

    shape: Shape
    opener: str = ""
    literals: tuple[str, ...] | None = None


def whole_shape(conjunction: Conjunction, notation: Notation) -> WholeValue:
    """The shape of the values that some schemas allow together.

    Raises
    ------
    DocumentationError
        If they allow no value, or the notation cannot write one that is listed, or none at all.
    """
    raw = notation if isinstance(notation, RawText) else None
    if conjunction.node.anything:
        return _raw_anything(raw) if raw else _anything(notation)
    branches = conjunction.inhabited
    made = _raw(branches, raw) if raw else [_alone(branch, notation) for branch in _needed(branches, notation)]
    if not made:
        raise DocumentationError(NO_VALUE)
    shapes = [one.shape for one in made]
    listed = [one.literals for one in made if one.literals is not None]
    openers = {one.opener for one in made}
    return WholeValue(
        shapes[0] if len(shapes) == 1 else Union(shapes),
        openers.pop() if len(openers) == 1 else "",
        tuple(dict.fromkeys(text for texts in listed for text in texts)) if len(listed) == len(made) else None,
    )


def _anything(notation: Notation) -> WholeValue:
    if notation == "quoted":
        return WholeValue(any_text(QUOTED_TEXT), QUOTED_TEXT.opening)
    return WholeValue(any_shape(notation))


def _raw_anything(notation: RawText) -> WholeValue:
    if notation.text_lead == notation.other_lead:
        nested = Enclosed(notation.other_lead, Union(nested_shapes(notation)), notation.mark)
        return WholeValue(Union([any_text(raw_text(notation, _BRACKETS)), nested]), notation.text_lead)
    others = Enclosed(notation.other_lead, any_shape(notation), notation.mark)
    return WholeValue(Union([any_text(raw_text(notation)), others]))


def _needed(branches: Sequence[Branch], notation: Notation) -> Sequence[Branch]:
    """The branches without those whose literals another one has: a quoted text may be anything."""
    texts = [branch for branch in branches if isinstance(branch, Texts) and branch.language is None]
    return texts[:1] if notation == "quoted" and texts else branches


def _alone(branch: Branch, notation: Notation) -> WholeValue:
    """The shape of one branch, in all notations but raw text."""
    match branch:
        case Constants(values):
            return _listed(values, notation)
        case Texts():
            syntax = QUOTED_TEXT if notation == "quoted" else inside(notation).plain_text
            text = text_shape(syntax, branch.language)
            if text is None:
                raise DocumentationError(NO_VALUE)
            return WholeValue(text, syntax.opening)
    if notation == "python-json" and isinstance(branch, Objects):
        notation = "json"
    shape = NodeShapes(notation).branch(branch)[0]
    if notation == "quoted":
        return WholeValue(Enclosed("'", shape, "'"), f"'{shape.bracket}")
    return WholeValue(shape, shape.bracket)


def _raw(branches: Sequence[Branch], notation: RawText) -> list[WholeValue]:
    """The shapes of all branches before a mark.

    Where one lead stands before texts and before others, a text may be a scalar of any type; but it may not begin with
    a bracket if there are lists or objects, so that these are well formed.
    """
    same = notation.text_lead == notation.other_lead
    brackets = any(isinstance(branch, Lists | Objects) for branch in branches)
    free = any(isinstance(branch, Texts) and branch.language is None for branch in branches)
    shapes = NodeShapes(notation)
    found: list[WholeValue] = []
    inner: list[Shape] = []
    for branch in branches:
        match branch:
            case Constants(values):
                found.append(_listed(values, notation))
            case Texts():
                text = text_shape(raw_text(notation, _BRACKETS if brackets and same else ""), branch.language)
                found += [] if text is None else [WholeValue(text, notation.text_lead)]
            case Lists() | Objects():
                inner += shapes.branch(branch)
            case _:
                inner += [] if free and same else shapes.branch(branch)
    if inner:
        found.append(WholeValue(Enclosed(notation.other_lead, Union(inner), notation.mark), notation.other_lead))
    return found


def _listed(values: Sequence[object], notation: Notation) -> WholeValue:
    """The given values."""
    literals = written_members(values, renderer(notation), partial(is_literal, notation=notation))
    return WholeValue(Literals(literals), "", tuple(literals))
