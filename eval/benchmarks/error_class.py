"""Why a prediction is wrong: one of the paper's five classes (section 2, table 1)."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from eval.benchmarks.samples import ErrorClass, Judgement, Sample
from lookup.dictionary import ToolSpec
from tooldecoding.formats.call_format import Call

_BRACKETED = re.compile(r"\[\s*([^\W\d][\w.\-/]*)\s*[(='\"]")
_ACTION = re.compile(r"(?:^|\n)[ \t]{0,20}Action[ \t]{0,20}:[ \t]{0,20}([^\s(]{1,200})")
_FENCE = re.compile(r"\A[\s`]*(?:python|json|tool_code|\s)*")
_LEADING = re.compile(r"([^\W\d][\w.\-/]*)\s*\(")
_JSON_NAME = re.compile(r"\"(?:name|api_name|function|tool)\"\s{0,20}:\s{0,20}\"([^\"\n]{1,200})\"")
_READ_AT_MOST = 100_000


class Classified(NamedTuple):
    """The class of a wrong prediction, and whether the call is wrong by its structure alone.

    Attributes
    ----------
    error_class : str
    structural : bool
        The call names a tool that was not given, is malformed, or has a key error: what constrained decoding rules out.
    """

    error_class: ErrorClass
    structural: bool


def classify(sample: Sample, prediction: str, judgement: Judgement, satisfiable: bool) -> Classified:
    """The class of a prediction that was judged wrong: the judgement's own, or the first that applies here:

    ``unsatisfiable``
        The benchmark judges every prediction for this sample wrong, so the model is not to blame.
    ``awareness``
        No call where one is needed, or a call where none is. An attempt counts as a call, also one that cannot be read:
        ``[name`` before a bracket, an equals sign or a quote, a given tool's name before a bracket or as the key of an
        object, ``Action: name``, a JSON object with a name, or an answer that begins with ``name(``.
    ``selection``
        The tools called are not the reference's, as often as there. It is ``structural`` if one of them was not given.
    ``format``
        The benchmark's own reader finds no call in it.
    ``key``
        A call has a key that its documentation lacks, or lacks one that it requires.
    ``value``
        Anything else: a value that is not accepted, an optional key that the reference needs or does not have.
    """
    if not satisfiable:
        return Classified("unsatisfiable", False)
    if judgement.error_class is not None:
        return Classified(judgement.error_class, judgement.error_class in ("selection", "format", "key"))
    tools = sample.documentation.lookup
    calls = judgement.calls
    names = [c.name for c in calls] if calls else attempted_names(prediction, list(tools))
    if bool(names) != bool(sample.calls) or not names:
        return Classified("awareness", False)
    wanted = Counter(c.name for c in sample.calls)
    invented = any(name not in tools and name not in wanted for name in names)
    if invented or Counter(names) != wanted:
        return Classified("selection", invented)
    if not calls:
        return Classified("format", True)
    if any(_has_key_error(call, tools) for call in calls):
        return Classified("key", True)
    return Classified("value", False)


def attempted_names(text: str, known: Sequence[str]) -> list[str]:
    """Names that a text which could not be read tries to call, in its sequence; empty if it tries none."""
    text = text[:_READ_AT_MOST]
    found = [(m.start(1), m[1]) for pattern in (_BRACKETED, _ACTION, _JSON_NAME) for m in pattern.finditer(text)]
    for name in known:
        called = rf"(?<!\w){re.escape(name)}(?:\s{{0,8}}\(|[\"']\s{{0,8}}:\s{{0,8}}{{|\])"
        found += [(m.start(), name) for m in re.finditer(called, text)]
    begin = _LEADING.match(text, _FENCE.match(text).end())  # type: ignore[union-attr]  # it matches an empty text too
    if begin:
        found.append((begin.start(1), begin[1]))
    longest: dict[int, str] = {}
    for start, name in sorted(found):
        longest[start] = max(longest.get(start, ""), name, key=len)
    return list(longest.values())


def _has_key_error(call: Call, tools: Mapping[str, ToolSpec]) -> bool:
    if call.name not in tools:  # the reference calls a tool that was not offered, as API-Bank's level 2 does
        return False
    parameters = tools[call.name].parameters
    required = {p.name for p in parameters if p.required}
    return not required <= call.arguments.keys() <= {p.name for p in parameters}
