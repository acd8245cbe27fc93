"""Judges what an agent did and said for a task."""

from collections.abc import Sequence
from typing import Any, Final

import regex

from eval.agents.tasks import Task, Wanted
from eval.agents.world import Action

_ASKS: Final = regex.compile(r"\?|\bplease (?:tell|provide|specify|give|let|share|enter|confirm)", regex.IGNORECASE)
_NO_WORDS: Final = regex.compile(
    r'[{\[]\s*"|"(?:name|arguments|parameters|function)"\s*:|</?\w+>|<\|\w+|\|>|```(?:json|xml)|"type":|'
    r"\b(?:function_call|tool_call|tool_response)\b"
)
"""JSON, marks of templates, documentation."""


def judge(task: Task, answers: Sequence[str], actions: Sequence[Sequence[Action]]) -> dict[str, Any]:
    """Return the verdict on a task.

    Returns ``right``; ``wrong_actions``, the calls that changed something and were not to be made; ``asked``, whether a
    question was asked though nothing was missing; ``no_words``, whether an answer holds JSON, marks or documentation;
    ``reasons``, why it is not right.

    Parameters
    ----------
    answers, actions
        For each turn of the user the last text, and the calls that ran.
    """
    ran = [action for turn in actions for action in turn]
    left, wrong = list(task.calls), []
    for action in ran:
        found = next((wanted for wanted in left if _fits(action, wanted)), None)
        if found is not None:
            left.remove(found)
        elif action.changes:
            wrong.append(action)
    reasons = [f"not called: {wanted.name} {wanted.arguments}" for wanted in left]
    reasons += [f"called: {action.name} {dict(action.arguments)}" for action in wrong]
    last = answers[-1] if answers else ""
    if not last.strip():
        reasons.append("no answer")
    elif task.says and not regex.search(task.says, last, regex.IGNORECASE):
        reasons.append(f"the answer does not say {task.says}")
    if task.asks:
        early = [action for action in actions[0] if action.changes] if actions else []
        if early or not answers or not _ASKS.search(answers[0]):
            reasons.append("did not ask")
    no_words = any(_NO_WORDS.search(answer) for answer in answers)
    if no_words:
        reasons.append("an answer is no words")
    asked = not task.asks and bool(left) and any(_ASKS.search(answer) for answer in answers)
    return {
        "right": not reasons,
        "wrong_actions": [[action.name, dict(action.arguments)] for action in wrong],
        "asked": asked,
        "no_words": no_words,
        "reasons": reasons,
    }


def _fits(action: Action, wanted: Wanted) -> bool:
    return action.name == wanted.name and all(
        any(_equal(action.arguments.get(key), value) for value in values) for key, values in wanted.arguments.items()
    )


def _equal(given: Any, value: Any) -> bool:
    if isinstance(value, str):
        return (
            isinstance(given, str)
            and regex.fullmatch(value, given.strip(), regex.IGNORECASE | regex.DOTALL) is not None
        )
    return not isinstance(given, bool | str) and given == value
