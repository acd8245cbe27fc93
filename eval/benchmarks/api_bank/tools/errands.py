"""Rules of the tools that need little or nothing of the database: hotels, sums, mail, music, documentation of tools."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from eval.benchmarks.api_bank.tools.rule import (
    DATE,
    UNRECORDED,
    ApiCall,
    Arguments,
    Database,
    Dialogue,
    Replay,
    Tool,
    ToolFailure,
    always,
    lowered,
    read_time,
    same_call,
    same_result,
    stripped,
)
from eval.benchmarks.python_calls import CallDecodeError, evaluate
from tooldecoding.chat.dialogue import TOOL_SEARCH

TEST_ACCOUNT: Final = "test"
"""The only bank account that a fresh tool knows."""

TOKEN_TOOL: Final = "GetUserToken"
"""Found along with every tool that takes a token."""

_ADDRESS: Final = re.compile(r"[a-z0-9]++(?:[._][a-z0-9]++)?@\w++\.\w{2,3}")
_SUM: Final = r"[0-9]++(?:[-+*/][0-9]++)*+"
_PART: Final = rf"(?:[0-9]++|\({_SUM}\))"
_FORMULA: Final = re.compile(rf"{_PART}(?:[-+*/]{_PART})*+")
_WORD: Final = re.compile(r"[a-z0-9]++")


def learn(dialogues: Sequence[Dialogue], database: Database) -> None:
    """The number of a first hotel order."""
    for dialogue in dialogues:
        orders = [call.output for call in dialogue if call.name == "BookHotel"]
        database.orders += orders[:1]


def _open_account(arguments: Arguments, replay: Replay) -> str:
    return "failed" if arguments["account"] == TEST_ACCOUNT else "success"


def _book_hotel(arguments: Arguments, replay: Replay) -> Any:
    """Rooms count as free: which are booked is not recorded."""
    for key in ("check_in_time", "check_out_time"):
        read_time(arguments[key], DATE)
    if arguments["adult_count"] > 2 and arguments["room_count"] == 1:
        raise ToolFailure("more than two adults need two rooms")
    return next(iter(replay.database.orders), UNRECORDED)


def calculate(formula: str) -> float:
    """The value of a formula: whole numbers, ``+ - * /``, and brackets that do not nest.

    Raises
    ------
    ToolFailure
        For anything that is no such formula. The official tool never ends on some of these (a leading minus).
    """
    formula = formula.replace(" ", "")
    if not set("+-*/") & set(formula) or not _FORMULA.fullmatch(formula):
        raise ToolFailure("a formula has whole numbers, + - * / and brackets that do not nest")
    try:
        return float(evaluate(re.sub(r"(?<![0-9])0++(?=[0-9])", "", formula)))
    except (CallDecodeError, OverflowError) as error:
        raise ToolFailure(str(error)) from error


def _calculate(arguments: Arguments, replay: Replay) -> float:
    return calculate(arguments["formula"])


def _spaceless(value: str) -> str:
    return value.replace(" ", "")


def _send_email(arguments: Arguments, replay: Replay) -> str:
    receiver = arguments["receiver"].strip()
    if not _ADDRESS.fullmatch(receiver) or receiver[1] == "@":
        raise ToolFailure("the receiver is no address in lower case")
    if not arguments["subject"].strip() or not arguments["content"].strip():
        raise ToolFailure("the subject or content is empty")
    return "success"


def _play_music(arguments: Arguments, replay: Replay) -> str:
    name = lowered(arguments["music_name"])
    if not name:
        raise ToolFailure("the name is empty")
    return f"music://{name}"


def _same_output(tool: Tool, call: ApiCall, truth: ApiCall) -> bool:
    return bool(call.output == truth.output)


def _get_today(arguments: Arguments, replay: Replay) -> str:
    return "2023-03-31"


def _any_day(tool: Tool, call: ApiCall, truth: ApiCall) -> bool:
    return call.exception is None


def _search(arguments: Arguments, replay: Replay) -> Any:
    """The documentation that keywords find.

    The official tool ranks with a sentence-transformers model, which is not run here: recorded keywords find what they
    found, others what shares the rarest words with a tool's name and description, an approximation.
    """
    descriptions = replay.database.descriptions
    found = always(arguments, replay)
    names = [t["name"] for t in (found if isinstance(found, list) else [found]) if isinstance(t, dict) and "name" in t]
    name = names[-1] if names else _nearest(arguments["keywords"], replay.database)
    if name not in descriptions:
        return UNRECORDED
    if "token" not in descriptions[name].get("input_parameters", {}):
        return dict(descriptions[name])
    account = dict(descriptions.get(TOKEN_TOOL, {}))
    # the official tool hands out its own entry here, with the text that it searches
    return [account | {"desc_for_search": f"get user token{account.get('description')}"}, dict(descriptions[name])]


def _nearest(keywords: str, database: Database) -> str:
    """The tool whose words are most similar by TF-IDF; empty where no word is shared."""
    documents = {
        name: Counter(_WORD.findall(f"{re.sub('(?=[A-Z])', ' ', name)} {entry.get('description')}".lower()))
        for name, entry in database.descriptions.items()
        if name != TOOL_SEARCH
    }
    frequency = Counter(word for words in documents.values() for word in words)
    rarity = {word: math.log(len(documents) / count) + 1 for word, count in frequency.items()}
    asked = Counter(word for word in _WORD.findall(keywords.lower()) if word in rarity)

    def similarity(name: str) -> float:
        words = documents[name]
        length = math.sqrt(sum((count * rarity[word]) ** 2 for word, count in words.items()))
        return sum(count * words[word] * rarity[word] ** 2 for word, count in asked.items()) / length

    best = max(documents, key=similarity, default="")
    return best if best and similarity(best) else ""


_STAY: Final = ("hotel_name", "check_in_time", "check_out_time")
_COUNTS: Final = ("room_count", "adult_count", "child_count")

TOOLS: Final = (
    Tool("OpenBankAccount", dict.fromkeys(("account", "password", "name")), _open_account, same_call),
    Tool("BookHotel", dict.fromkeys((*_STAY, *_COUNTS)), _book_hotel, same_call, integers=_COUNTS),
    Tool("Calculator", {"formula": _spaceless}, _calculate),
    Tool("SendEmail", {"receiver": lowered, "subject": stripped, "content": stripped}, _send_email),
    Tool("PlayMusic", {"music_name": None}, _play_music, _same_output),
    Tool("GetToday", {}, _get_today, _any_day),
    Tool(TOOL_SEARCH, {"keywords": None}, _search, same_result, find=lambda given, _: lowered(given["keywords"])),
)
