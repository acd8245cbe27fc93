"""The shape of a whole value that obeys a law, in each notation."""

from dataclasses import dataclass

from lookup.dictionary import ANY
from lookup.errors import DocumentationError
from lookup.schema.law import Law
from lookup.schema.nodes import Branch, Constants, Lists, Objects, Texts
from lookup.values.enclosed_shapes import Enclosed
from lookup.values.literal_values import is_literal
from lookup.values.node_shapes import NO_VALUE, NodeShapes
from lookup.values.notations import QUOTED_TEXT, Notation, RawText, inside, raw_text, renderer
from lookup.values.plain_shapes import Literals, Union
from lookup.values.raw_shapes import raw_shape
from lookup.values.shapes import Shape
from lookup.values.texts import any_text, text_shape


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
    opener: str
    literals: tuple[str, ...] | None


def law_shape(law: Law, notation: Notation) -> WholeValue:
    """The shape of the values that a law allows.

    Raises
    ------
    DocumentationError
        If the law allows no value, or the notation can write none.
    """
    node = law.conjunction.node
    if node.anything:
        return WholeValue(_anything(law, notation), "", None)
    if isinstance(notation, RawText):
        return _Raw(notation).whole(tuple(law.conjunction.inhabited))
    return _Marked(notation).whole(tuple(law.conjunction.inhabited))


def _anything(law: Law, notation: Notation) -> Shape:
    if isinstance(notation, RawText):
        return raw_shape(ANY, notation)
    return any_text(QUOTED_TEXT) if notation == "quoted" else NodeShapes(notation).of(law.conjunction)


class _Marked:
    """Whole values in all notations but raw text."""

    def __init__(self, notation: Notation) -> None:
        self._notation = notation
        self._shapes = NodeShapes(notation)

    def whole(self, branches: tuple[Branch, ...]) -> WholeValue:
        made = [self._branch(branch) for branch in branches]
        shapes = [shape for shape, _ in made if shape is not None]
        openers = {opener for shape, opener in made if shape is not None}
        if not shapes:
            raise DocumentationError(NO_VALUE)
        literals = _listed(shapes)
        opener = openers.pop() if len(openers) == 1 and literals is None else ""
        return WholeValue(shapes[0] if len(shapes) == 1 else Union(shapes), opener, literals)

    def _branch(self, branch: Branch) -> tuple[Shape | None, str]:
        """The shape of a branch and its opener."""
        match branch:
            case Constants(values):
                return _literals(values, self._notation), ""
            case Texts():
                syntax = QUOTED_TEXT if self._notation == "quoted" else inside(self._notation).plain_text
                return text_shape(syntax, branch.language), syntax.opening
        shapes = self._shapes
        if self._notation == "python-json" and isinstance(branch, Objects):
            shapes = NodeShapes("json")
        shape = shapes.branch(branch)[0]
        if self._notation == "quoted":
            return Enclosed("'", shape, "'"), f"'{shape.bracket}"
        return shape, shape.bracket


class _Raw:
    """Whole values before a mark."""

    def __init__(self, notation: RawText) -> None:
        self._notation = notation
        self._shapes = NodeShapes(notation)

    def whole(self, branches: tuple[Branch, ...]) -> WholeValue:
        notation = self._notation
        brackets = any(isinstance(branch, Lists | Objects) for branch in branches)
        not_first = "[{" if brackets and notation.text_lead == notation.other_lead else ""
        shapes: list[Shape] = []
        inner: list[Shape] = []
        for branch in branches:
            match branch:
                case Constants(values):
                    literals = _literals(values, notation)
                    shapes += [] if literals is None else [literals]
                case Texts():
                    text = text_shape(raw_text(notation, not_first), branch.language)
                    shapes += [] if text is None else [text]
                case _:
                    inner += self._shapes.branch(branch)
        if inner:
            shapes.append(Enclosed(notation.other_lead, Union(inner), notation.mark))
        if not shapes:
            raise DocumentationError(NO_VALUE)
        return WholeValue(shapes[0] if len(shapes) == 1 else Union(shapes), self._opener(branches), _listed(shapes))

    def _opener(self, branches: tuple[Branch, ...]) -> str:
        kinds = {isinstance(branch, Texts) for branch in branches if not isinstance(branch, Constants)}
        if len(kinds) != 1 or any(isinstance(branch, Constants) for branch in branches):
            return ""
        return self._notation.text_lead if kinds == {True} else self._notation.other_lead


def _literals(values: tuple[object, ...], notation: Notation) -> Literals | None:
    """The values of an enum that the notation can write. A quoted value is never empty."""
    rendered = dict.fromkeys(map(renderer(notation), values))
    texts = [text for text in rendered if is_literal(text, notation) and (notation != "quoted" or text != "''")]
    return Literals(texts) if texts else None


def _listed(shapes: list[Shape]) -> tuple[str, ...] | None:
    """All literals, if all shapes list theirs."""
    if not all(isinstance(shape, Literals) for shape in shapes):
        return None
    return tuple(dict.fromkeys(text for shape in shapes if isinstance(shape, Literals) for text in shape.given))
