"""Rules of the tools that answer from documents, pictures, dictionaries and translations, replayed from recordings.

What no recording shows: a document, picture, sound, keyword of Wiki or Dictionary fails; a day's history, a search and
a translation give an output that is not the recorded one.
"""

import re
from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from typing import Any, Final

from eval.benchmarks.api_bank.tools.database import Database, Dialogue, RecordedCall, Replay
from eval.benchmarks.api_bank.tools.languages import language_code
from eval.benchmarks.api_bank.tools.tool import (
    DATE,
    UNRECORDED,
    Arguments,
    Response,
    Tool,
    ToolFailure,
    compare,
    lowered,
    padded_time,
    read_time,
    same,
    same_call,
    same_result,
    stripped,
)

TOO_DIFFICULT: Final = "The question is too difficult to answer."
"""DocumentQA's answer to a question that its database lacks for a document that it has."""

_TERM: Final = re.compile(r"\w++|[^\w\s]")


def _document(arguments: Arguments) -> Hashable:
    return arguments["url"].strip(), arguments["question"].strip()


def _url(arguments: Arguments) -> Hashable:
    return stripped(arguments["url"])


def _keyword(arguments: Arguments) -> Hashable:
    return lowered(arguments["keyword"].replace("_", " "))


def _terms(arguments: Arguments) -> tuple[str, ...]:
    """BM25 knows neither case nor sequence of the words."""
    return tuple(sorted(_TERM.findall(arguments["keyword"].lower())))


def _day_of_year(text: str) -> str:
    """Month and day of ``%Y-%m-%d`` or ``%m-%d``; ToolFailure for anything else."""
    try:
        day: datetime = padded_time(text, DATE)
    except ToolFailure:
        day = read_time(text.strip(), "%m-%d")
    return day.strftime("%m-%d")


def _history(arguments: Arguments) -> Hashable:
    return _day_of_year(arguments["date"])


def _translation(arguments: Arguments) -> Hashable:
    """The text and the target language; the source language only has to exist."""
    if "src_lang" in arguments:
        language_code(arguments["src_lang"])
    return arguments["src"], language_code(arguments.get("tgt_lang"))


_KEYS: Final[dict[str, Callable[[Arguments], Hashable]]] = {
    "DocumentQA": _document,
    "ImageCaption": _url,
    "SpeechRecognition": _url,
    "Dictionary": _keyword,
    "Wiki": _keyword,
    "SearchEngine": _terms,
    "QueryHistoryToday": _history,
    "Translate": _translation,
}


def learn(dialogues: Sequence[Dialogue], database: Database) -> None:
    """Outputs for normalised arguments."""
    for dialogue in dialogues:
        for call in dialogue:
            key = _recorded_key(call)
            if key is not None:
                database.note(call.name, key, call.output)


def _recorded_key(call: RecordedCall) -> Hashable | None:
    """None for a tool that is not looked up here, and for arguments that its rule cannot read."""
    if call.name not in _KEYS:
        return None
    try:
        return _KEYS[call.name](call.input or {})
    except (ToolFailure, KeyError, AttributeError):
        return None


def _recorded(tool: str, arguments: Arguments, replay: Replay) -> Any:
    """The output recorded for these arguments; UNRECORDED where there is none."""
    return _output(tool, _KEYS[tool](arguments), replay)


def _output(tool: str, key: Hashable, replay: Replay) -> Any:
    """The sample's own recorded output first."""
    if replay.truth.name == tool and _recorded_key(replay.truth) == key:
        return replay.truth.output
    return replay.database.outputs.get(tool, {}).get(key, UNRECORDED)


def _answer(arguments: Arguments, replay: Replay) -> Any:
    url, question = arguments["url"].strip(), arguments["question"].strip()
    if not question or all(known != url for known, _ in _documents(replay.database)):
        raise ToolFailure("the question is empty, or there is no such document")
    answer = _recorded("DocumentQA", arguments, replay)
    return TOO_DIFFICULT if answer is UNRECORDED else answer


def _documents(database: Database) -> list[tuple[str, str]]:
    return [key for key in database.known("DocumentQA") if isinstance(key, tuple)]


def _look_up(tool: str, endings: tuple[str, ...] = ("",)) -> Callable[[Arguments, Replay], Any]:
    """A lookup that fails for what it does not know, and for an URL with another ending."""

    def run(arguments: Arguments, replay: Replay) -> Any:
        if not str(_KEYS[tool](arguments)).endswith(endings):
            raise ToolFailure(f"the URL must end with {' or '.join(endings)}")
        output = _recorded(tool, arguments, replay)
        if output is UNRECORDED:
            raise ToolFailure("this is not known")
        return output

    return run


def _search_engine(arguments: Arguments, replay: Replay) -> Any:
    """BM25 gives nothing for words that no document has: here, that no recorded keyword or document has."""
    known: set[str] = set()
    for terms, documents in replay.database.outputs.get("SearchEngine", {}).items():
        known.update(terms if isinstance(terms, tuple) else (), _TERM.findall(str(documents).lower()))
    return _output("SearchEngine", tuple(term for term in _terms(arguments) if term in known), replay)


def _find(tool: str) -> Callable[[Arguments, Replay], Any]:
    """A lookup that always finds something."""

    def run(arguments: Arguments, replay: Replay) -> Any:
        return _recorded(tool, arguments, replay)

    return run


def _same_documents(response: Response, truth: Response) -> bool:
    """Whatever their sequence."""
    if response.exception != truth.exception or not isinstance(response.output, list):
        return False
    one, other = (sorted(r.output, key=lambda d: d["title"] + d["abstract"]) for r in (response, truth))
    return one == other


def _normal_history(text: str) -> Hashable:
    try:
        return _day_of_year(text)
    except ToolFailure:
        return object()


TOOLS: Final = (
    Tool("DocumentQA", ("url", "question"), _answer, compare(url=stripped, question=stripped)),
    Tool("ImageCaption", ("url",), _look_up("ImageCaption", (".jpg", ".jpeg", ".png")), same_call),
    Tool("SpeechRecognition", ("url",), _look_up("SpeechRecognition", (".wav",)), same_call),
    Tool("Dictionary", ("keyword",), _look_up("Dictionary"), same_result),
    Tool("Wiki", ("keyword",), _look_up("Wiki"), same_result),
    Tool("SearchEngine", ("keyword",), _search_engine, _same_documents),
    Tool("QueryHistoryToday", ("date",), _find("QueryHistoryToday"), compare(date=_normal_history)),
    Tool("Translate", ("src",), _find("Translate"), compare(src=same), optional=("src_lang", "tgt_lang")),
)
