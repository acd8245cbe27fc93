"""Rules of the tools for banks, stocks, hotels, sums, mail and music."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from eval.benchmarks.api_bank.tools.accounts import owner
from eval.benchmarks.api_bank.tools.database import Database, Dialogue, Replay
from eval.benchmarks.api_bank.tools.sums import calculate
from eval.benchmarks.api_bank.tools.tool import (
    DATE,
    UNRECORDED,
    Arguments,
    Response,
    Tool,
    ToolFailure,
    compare,
    lowered,
    normal_day,
    padded_time,
    read_time,
    same_call,
    stripped,
    uppered,
)

TEST_ACCOUNT: Final = "test"
"""The only bank account that a fresh tool knows."""

_ADDRESS: Final = re.compile(r"[a-z0-9]++(?:[._][a-z0-9]++)?@\w++\.\w{2,3}")
_ORDER: Final = "hotel order"


def learn(dialogues: Sequence[Dialogue], database: Database) -> None:
    """Balances, stock prices, and the number of a first hotel order."""
    orders: Counter[str] = Counter()
    for dialogue in dialogues:
        booked = False
        for call in dialogue:
            if call.name == "QueryBalance":
                token = call.text("token").strip()
                database.note(call.name, database.tokens.get(token, token), call.output)
            elif call.name == "QueryStock":
                database.note(call.name, (uppered(call.text("stock_code")), normal_day(call.text("date"))), call.output)
            elif call.name == "BookHotel":
                orders.update([str(call.output)] * (not booked))
                booked = True
    if orders:
        database.note(_ORDER, _ORDER, orders.most_common(1)[0][0])


def _query_balance(arguments: Arguments, replay: Replay) -> Any:
    user = owner(arguments["token"], replay)
    if user not in replay.database.known("QueryBalance"):
        raise ToolFailure("the user has no account")
    return replay.database.outputs["QueryBalance"][user]


def _query_stock(arguments: Arguments, replay: Replay) -> Any:
    """A price that no recording shows counts as not maintained."""
    key = (uppered(arguments["stock_code"]), padded_time(arguments["date"], DATE))
    if key not in replay.database.known("QueryStock"):
        raise ToolFailure("there is no such stock, or no price of this day")
    return replay.database.outputs["QueryStock"][key]


def _open_account(arguments: Arguments, replay: Replay) -> str:
    return "failed" if arguments["account"] == TEST_ACCOUNT else "success"


def _book_hotel(arguments: Arguments, replay: Replay) -> Any:
    """Rooms count as free: which are booked is not recorded."""
    for key in ("check_in_time", "check_out_time"):
        read_time(arguments[key], DATE)
    if arguments["adult_count"] > 2 and arguments["room_count"] == 1:
        raise ToolFailure("more than two adults need two rooms")
    return replay.database.outputs.get(_ORDER, {}).get(_ORDER, UNRECORDED)


def _calculate(arguments: Arguments, replay: Replay) -> float:
    return calculate(arguments["formula"])


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


def _get_today(arguments: Arguments, replay: Replay) -> str:
    return "2023-03-31"


def _any_day(response: Response, truth: Response) -> bool:
    return response.exception is None


def _same_output(response: Response, truth: Response) -> bool:
    return bool(response.output == truth.output)


def _spaceless(value: str) -> str:
    return value.replace(" ", "")


_HOTEL_COUNTS: Final = ("room_count", "adult_count", "child_count")

TOOLS: Final = (
    Tool("QueryBalance", ("token",), _query_balance, compare(token=stripped)),
    Tool("QueryStock", ("stock_code", "date"), _query_stock, compare(stock_code=uppered, date=normal_day)),
    Tool("OpenBankAccount", ("account", "password", "name"), _open_account, same_call),
    Tool(
        "BookHotel",
        ("hotel_name", "check_in_time", "check_out_time", *_HOTEL_COUNTS),
        _book_hotel,
        same_call,
        integers=_HOTEL_COUNTS,
    ),
    Tool("Calculator", ("formula",), _calculate, compare(formula=_spaceless)),
    Tool(
        "SendEmail",
        ("receiver", "subject", "content"),
        _send_email,
        compare(receiver=lowered, subject=stripped, content=stripped),
    ),
    Tool("PlayMusic", ("music_name",), _play_music, _same_output),
    Tool("GetToday", (), _get_today, _any_day),
)
