"""The parser of a whole value that obeys a schema, in each notation."""

from collections.abc import Iterator, Sequence
from functools import partial

from lookup.errors import DocumentationError
from lookup.grammar.literal_values import is_literal, render_value
from lookup.grammar.node_parsers import NO_VALUE, NodeParsers, any_parser, nested_parsers, written_members
from lookup.grammar.notations import QUOTED_TEXT, Notation, RawText, inside, raw_text
from lookup.grammar.parsers import Enclosed, Union, ValueParser
from lookup.grammar.plain_parsers import Literals
from lookup.grammar.texts import any_text, text_parser
from lookup.languages.language import ANY_TEXT
from lookup.schema.leaves import Constants, Texts
from lookup.schema.normal import Alternative, LazySchema, Lists, Objects

_BRACKETS = "[{"


def whole_parser(lazy_schema: LazySchema, notation: Notation) -> ValueParser:
    """The parser of the values that some schemas allow together.

    DocumentationError if they allow no value, or the notation cannot write one that is listed, or none at all.
    """
    reasons = [NO_VALUE]
    anything = lazy_schema.node.anything
    made = list(_anything(notation) if anything else _alternatives(lazy_schema.inhabited, notation, reasons))
    if not made:
        raise DocumentationError(reasons[-1])
    return made[0] if len(made) == 1 else Union(made)


def _anything(notation: Notation) -> Iterator[ValueParser]:
    """Any value. A raw text before which nothing stands may be a scalar of any type."""
    if notation == "quoted":
        yield any_text(QUOTED_TEXT)
    elif isinstance(notation, RawText):
        same = notation.text_lead == notation.other_lead
        yield any_text(raw_text(notation, _BRACKETS if same else ""))
        others = Union(nested_parsers(notation)) if same else any_parser(notation, has_texts=False)
        yield Enclosed(notation.other_lead, others, notation.mark)
    else:
        yield any_parser(notation)


def _alternatives(alternatives: Sequence[Alternative], notation: Notation, reasons: list[str]) -> Iterator[ValueParser]:
    """The values of each alternative; ``reasons`` gets why the notation cannot write the lists or objects of one.

    Where nothing tells texts from others, a free text may be a scalar of any type, and between quotes anything. Raw, it
    may not begin with a bracket if there are lists or objects, so that these are well formed.
    """
    raw = notation if isinstance(notation, RawText) else None
    same = notation == "quoted" or (raw is not None and raw.text_lead == raw.other_lead)
    free = [one for one in alternatives if same and isinstance(one, Texts) and one.language is ANY_TEXT]
    nested = any(isinstance(alternative, Lists | Objects) for alternative in alternatives)
    parsers = NodeParsers(notation)
    of_objects = NodeParsers("json") if notation == "python-json" else parsers
    text = QUOTED_TEXT if notation == "quoted" else inside(notation).texts[0]
    inner: list[ValueParser] = []
    for alternative in alternatives if raw or not free else free[:1]:
        if isinstance(alternative, Texts):
            syntax = raw_text(raw, _BRACKETS if same and nested else "") if raw else text
            if (texts := text_parser(syntax, alternative.language)) is not None:
                yield texts
        elif isinstance(alternative, Constants):
            render, can_be_written = partial(render_value, notation=notation), partial(is_literal, notation=notation)
            yield Literals(written_members(alternative.values, render, can_be_written))
        elif isinstance(alternative, Lists | Objects) or not free:
            try:
                found = (of_objects if isinstance(alternative, Objects) else parsers).alternative(alternative)
            except DocumentationError as error:
                reasons.append(str(error))
                continue
            inner += found if raw else []
            if notation == "quoted":
                yield from (Enclosed("'", parser, "'") for parser in found)
            elif not raw:
                yield from found
    if raw and inner:
        yield Enclosed(raw.other_lead, Union(inner), raw.mark)
