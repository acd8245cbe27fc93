"""A voted call beside the conversation: what nobody said is left out where it may be, and marked where it may not."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

import regex

from lookup.dictionary import ParameterSpec, ToolSpec
from lookup.grammar.literal_values import read_value
from tooldecoding.chat.messages import Message
from tooldecoding.decoding.calibration import Calibration
from tooldecoding.decoding.compiled_tools import CompiledTool
from tooldecoding.decoding.decoded_call import DecodedCall
from tooldecoding.grounding.grounding import ground, is_named, telling_words
from tooldecoding.grounding.index import ConversationIndex, words_as_written, words_of
from tooldecoding.options import DecodeOptions
from voting import CandidateCall, TypeCheckError, VotedParameter, check_value, merge

NOT_SAID: Final = "the conversation does not say it"
_MOST_CHOICES: Final = 5000
"""Characters of the members of an enum that are looked for one by one."""
_MOST_DESCRIPTION: Final = 200
"""Characters of a description, or of a value, in a question."""
RATHER_RIGHT: Final = 0.5
"""The confidence of a call that is rather right than wrong."""
_FIRST_QUESTION: Final = regex.compile(r"([^?？؟\n{}<>]*[^\s?？؟\n{}<>])\s*([?？؟])")
_QUESTION: Final = regex.compile(r"[?？؟][\s\"'»”*_]*$")


def grounded_vote(
    candidates: Sequence[CandidateCall], tool: ToolSpec, options: DecodeOptions, index: ConversationIndex | None
) -> DecodedCall:
    """Return the call that candidates vote for, without those optional arguments that nobody said.

    An optional argument stays, too, if its key is named, if it may be worked out (``x-ask: never`` in the
    documentation, or ``never_ask``), or if ``optional_arguments`` is ``all``. One that stays because the documentation
    allows no call without it is ungrounded, as a required one is.

    Parameters
    ----------
    index : ConversationIndex or None
        None if nobody knows who said what; then all arguments stay.
    """
    voted = merge(candidates, tool, options.optional_share)
    calibration = Calibration(options.confidence_offset, options.confidence_slope)
    call = DecodedCall(voted, tuple(candidates), options.min_confidence, calibration=calibration)
    if index is None:
        return call
    specs = {spec.name: spec for spec in tool.parameters}
    shortens = options.optional_arguments == "grounded"
    found, said = {}, {}
    for p in voted.parameters:
        may_leave_out = partial(_may_be_asked, specs[p.key], tool.name, options)
        found[p.key], said[p.key] = ground(specs[p.key], p.value, index, may_leave_out)
    unsaid = [
        p
        for p in voted.parameters
        if shortens
        and not specs[p.key].required
        and not found[p.key].spans
        and not is_named(p.key, index)
        and _may_be_asked(specs[p.key], tool.name, options)
    ]
    kept = _without(list(voted.parameters), unsaid, tool)
    whole = {p.key: p.value for p in kept}
    kept = _shortened(kept, said, tool) if shortens else kept
    paths = [
        f"{p.key}.{part}".removesuffix(".")
        for p in kept
        if specs[p.key].required or p in unsaid
        for part in found[p.key].missing
        if _may_be_asked(specs[p.key], tool.name, options, part)
    ]
    groundings = tuple(found[p.key] for p in kept)
    left_out = [p for p in unsaid if p.key not in whole]
    left_out += [replace(p, key=path, value=part) for p in kept for path, part in _lost(whole[p.key], p.value, p.key)]
    gone = {p.key for p in unsaid if p.key not in whole}
    if not gone.isdisjoint(voted.cut):  # what is left out is not cut
        rest = [replace(c, values=tuple(v for v in c.values if v.key not in gone)) for c in candidates]
        voted = merge(rest, tool, options.optional_share)
    voted = replace(voted, parameters=tuple(kept))
    return replace(call, voted=voted, groundings=groundings, ungrounded=tuple(paths), left_out=tuple(left_out))


def _shortened(parameters: list[VotedParameter], said: Mapping[str, Any], tool: ToolSpec) -> list[VotedParameter]:
    """Return parameters with what was said of their values, as the types allow."""
    shorter = []
    for parameter in parameters:
        with suppress(TypeCheckError):
            parameter = replace(parameter, value=check_value(said[parameter.key], tool.parameter(parameter.key)))
        shorter.append(parameter)
    return shorter if _obeys(shorter, tool) else parameters


def _lost(whole: Any, rest: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield what a value lost, by its path, such as ``profile.bio``."""
    if isinstance(whole, dict) and isinstance(rest, dict):
        for key, member in whole.items():
            if key in rest:
                yield from _lost(member, rest[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}", member
    elif isinstance(whole, list) and isinstance(rest, list):
        for number, (member, kept) in enumerate(zip(whole, rest, strict=True)):
            yield from _lost(member, kept, f"{path}.{number}")


def _without(parameters: list[VotedParameter], unsaid: list[VotedParameter], tool: ToolSpec) -> list[VotedParameter]:
    """Return parameters without as many unsaid ones as the documentation allows: all, or else one by one."""
    said = [p for p in parameters if p not in unsaid]
    if _obeys(said, tool) or not _obeys(parameters, tool):
        return said
    kept = parameters
    for _ in unsaid:  # one may go only behind another
        shorter = ([p for p in kept if p is not one] for one in unsaid if one in kept)
        kept = next((rest for rest in shorter if _obeys(rest, tool)), kept)
    return kept


def optional_to_offer(
    tool: CompiledTool, index: ConversationIndex | None, options: DecodeOptions
) -> list[ParameterSpec]:
    """Return the optional keys that a call may have: without those of which ``grounded`` would leave out any value.

    That can be told of a boolean and of an enum, so that no value of them is decoded in vain.
    """
    spec = tool.spec
    if index is None or options.optional_arguments == "all" or spec.conditions is not None:
        return list(spec.optional)

    def sayable(key: ParameterSpec) -> bool:
        choices = tool.grammar(key).choices
        if choices is None or sum(map(len, choices)) > _MOST_CHOICES or is_named(key.name, index):
            return True
        if not _may_be_asked(key, spec.name, options):
            return True
        values = (read_value(literal, key, tool.call_format.notation) for literal in choices)
        return any(ground(key, value, index)[0].spans for value in values)

    return [key for key in spec.optional if sayable(key)]


def _may_be_asked(spec: ParameterSpec, tool: str, options: DecodeOptions, part: str = "") -> bool:
    path = f"{spec.name}.{part}".removesuffix(".")
    names = {spec.name, path, f"{tool}.{spec.name}", f"{tool}.{path}"}
    return spec.ask and names.isdisjoint(options.never_ask)


def _obeys(parameters: list[VotedParameter], tool: ToolSpec) -> bool:
    """Whether arguments obey what the documentation says of several together."""
    if tool.conditions is None:
        return True
    try:
        tool.conditions.check({p.key: p.value for p in parameters})
    except ValueError:
        return False
    return True


class Question(NamedTuple):
    """What is asked in place of a call.

    Attributes
    ----------
    missing : tuple of (str, str)
        What nobody said: its path, such as ``period.start``, and what the documentation says of its key.
    text : str
        The question in plain words. Where nothing but ``missing`` is asked, the model may put it better.
    is_unsure : bool
        Whether it asks for more than ``missing``.
    """

    missing: tuple[tuple[str, str], ...]
    text: str
    is_unsure: bool

    def naming(self, written: str) -> str | None:
        """Return what a model wrote as a question that names the keys; None if it is none.

        A key that it does not name stands in parentheses, so that the user knows what is asked for in which unit, and
        it is known in the next turn what was asked.

        >>> Question((("minutes", "Length"),), "", False).naming("How long should the timer be? Tell me.")
        'How long should the timer be (minutes)?'
        """
        found = _FIRST_QUESTION.match(written.strip())
        if found is None:
            return None
        unnamed = [in_words(path) for path, _ in self.missing if not _is_asked(path, found[0])]
        question, mark = found.groups()
        return f"{question} ({', '.join(unnamed)}){mark}" if unnamed else f"{question}{mark}"


def in_words(path: str) -> str:
    """Return a key or the name of a tool in words: ``event_id`` is *event id*."""
    return " ".join(words_as_written(path))


def _is_asked(path: str, question: str) -> bool:
    """Whether a question names a key: with all of its words."""
    return set(telling_words(path)) <= set(words_of(question))


def to_ask(call: DecodedCall, messages: Sequence[Message], tool: ToolSpec, options: DecodeOptions) -> Question | None:
    """Return what is asked in place of a call: what nobody said, and what is unsure; None if the call is made.

    What the assistant has just asked for is not asked again: no answer is one, too. So is any, for what is unsure. A
    call that is unsure in nothing that may be asked for is asked for as a whole. A tool that only reads may be called
    with a part of what it takes, one that destroys something only if the call is rather right than wrong.

    >>> to_ask(call, messages, tool, replace(options, ask="both")).text  # doctest: +SKIP
    'What should the city be (Name of the city)? Should days be 3, or 13?'
    """
    last = next((m.content for m in reversed(messages) if m.role == "assistant"), "")
    asked = last if _QUESTION.search(last) else ""
    missing: dict[str, str] = {}
    is_sure = call.confidence() >= RATHER_RIGHT
    if options.asks_unsaid and not (tool.reads and is_sure and not call.is_ungrounded):
        missing = {path: _about(path, tool) for path in call.ungrounded if not _is_asked(path, asked)}
    unsure = []
    is_risky = options.asks_unsaid and tool.destroys and not is_sure
    if (is_risky or (options.asks_unsure and call.is_unsure)) and not _is_of(asked, call, tool):
        pairs = zip(call.voted.parameters, call.needs_confirmation, strict=True)
        doubted = [p for p, unsure in pairs if unsure and _may_be_asked(tool.parameter(p.key), tool.name, options)]
        if doubted and not call.doubts_tool:
            unsure = [_which(p) for p in doubted if p.key not in missing]
        else:
            unsure = [f"Do you want me to call {in_words(tool.name)}{_shown_arguments(call)}?"]
    if not missing and not unsure:
        return None
    texts = [*([_what(missing)] if missing else []), *unsure]
    return Question(tuple(missing.items()), " ".join(texts), bool(unsure))


def _is_of(question: str, call: DecodedCall, tool: ToolSpec) -> bool:
    """Whether a question is about a call: it names the tool, or a key of it."""
    return bool(question) and any(_is_asked(name, question) for name in (tool.name, *call.arguments))


def _about(path: str, tool: ToolSpec) -> str:
    spec = next(spec for spec in tool.parameters if f"{path}.".startswith(f"{spec.name}."))
    return " ".join(spec.description.split())[:_MOST_DESCRIPTION]


def _what(missing: Mapping[str, str]) -> str:
    """Return the question for what nobody said."""
    *most, last = (f"the {in_words(path)}" + f" ({about.rstrip('.')})" * bool(about) for path, about in missing.items())
    return f"What should {', '.join(most)}{' and ' if most else ''}{last} be?"


def _which(parameter: VotedParameter) -> str:
    """Return the question between a value and its runner-up."""
    values = [p.value for p in (parameter, parameter.runner_up) if p is not None]
    return f"Should {in_words(parameter.key)} be {', or '.join(map(_shown, values))}?"


def _shown_arguments(call: DecodedCall) -> str:
    return f", with {_shown(call.arguments)}" if call.arguments else ""


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:_MOST_DESCRIPTION]
