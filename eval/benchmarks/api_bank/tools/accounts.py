"""Rules of the account tools: users, passwords, tokens."""

from collections.abc import Sequence
from typing import Any, Final

from eval.benchmarks.api_bank.tools.rule import (
    UNRECORDED,
    ApiCall,
    Arguments,
    Database,
    Dialogue,
    Replay,
    Tool,
    ToolFailure,
    same_call,
)

VERIFICATION_CODE: Final = 970420
"""The one that the tool always sends."""


def learn(dialogues: Sequence[Dialogue], database: Database) -> None:
    """Users, passwords, addresses and tokens that were there before the dialogue."""
    before = [_before_registration(dialogue) for dialogue in dialogues]
    for call in (call for calls in before for call in calls if isinstance(call.output, dict)):
        if call.name == "GetUserToken":
            database.tokens[str(call.output.get("token"))] = call.text("username")
        elif call.name == "CheckToken":
            database.tokens[call.text("token")] = str(call.output.get("username"))
    for calls in before:
        _learn_users(calls, database)


def _before_registration(dialogue: Dialogue) -> list[ApiCall]:
    """The calls that are not about a user or token that the dialogue itself had made."""
    made: set[str] = set()
    kept = []
    for call in dialogue:
        if call.name == "RegisterUser" and isinstance(call.output, dict):
            made |= {call.text("username"), str(call.output.get("token"))}
        elif call.text("username") not in made and call.text("token") not in made:
            kept.append(call)
    return kept


def _learn_users(calls: Sequence[ApiCall], database: Database) -> None:
    """The first password that a dialogue shows was there before, unless one was set by code."""
    asked: set[str] = set()
    for call in calls:
        token, user = call.text("token"), call.text("username")
        if token:
            user = user or database.tokens.setdefault(token, token)
        if not user:
            continue
        database.users.add(user)
        if call.name == "ForgotPassword":
            asked.add(user)
            database.emails.setdefault(user, call.text("email"))
        elif call.name in ("GetUserToken", "ModifyPassword") and user not in asked:
            database.passwords.setdefault(user, call.text("password") or call.text("old_password"))


def _get_user_token(arguments: Arguments, replay: Replay) -> Any:
    user = arguments["username"]
    if replay.database.passwords.get(user) != arguments["password"]:
        raise ToolFailure("there is no such user, or the password is another")
    return {"token": next((t for t, u in replay.database.tokens.items() if u == user), UNRECORDED)}


def _register_user(arguments: Arguments, replay: Replay) -> Any:
    if arguments["username"] in replay.database.users:
        raise ToolFailure("the user exists already")
    return {"token": UNRECORDED}  # a random one


def _delete_account(arguments: Arguments, replay: Replay) -> Any:
    replay.database.owner(arguments["token"])
    return {"status": "success"}


def _check_token(arguments: Arguments, replay: Replay) -> Any:
    return {"username": replay.database.owner(arguments["token"])}


def _modify_password(arguments: Arguments, replay: Replay) -> Any:
    if replay.database.passwords.get(replay.database.owner(arguments["token"])) != arguments["old_password"]:
        raise ToolFailure("the old password is another")
    return {"status": "success"}


def _forgot_password(arguments: Arguments, replay: Replay) -> Any:
    """The second call always fails: a fresh tool has sent no code."""
    if arguments["status"] != "Forgot Password":
        raise ToolFailure("the status is not 'Forgot Password', and no code was sent before")
    if "username" not in arguments or "email" not in arguments:
        raise ToolFailure("the first call needs username and email")
    if replay.database.emails.get(arguments["username"]) != arguments["email"]:
        raise ToolFailure("there is no such user, or the address is another")
    return VERIFICATION_CODE


def _same_registration(tool: Tool, call: ApiCall, truth: ApiCall) -> bool:
    """The token is random."""
    if truth.output is None and call.output is not None:
        return False
    return call.input == truth.input and call.exception == truth.exception


TOOLS: Final = (
    Tool("GetUserToken", dict.fromkeys(("username", "password")), _get_user_token, same_call),
    Tool("RegisterUser", dict.fromkeys(("username", "password", "email")), _register_user, _same_registration),
    Tool("DeleteAccount", {"token": None}, _delete_account, same_call),
    Tool("CheckToken", {"token": None}, _check_token, same_call),
    Tool("ModifyPassword", dict.fromkeys(("token", "old_password", "new_password")), _modify_password, same_call),
    Tool(
        "ForgotPassword",
        {"status": None},
        _forgot_password,
        same_call,
        optional=dict.fromkeys(("username", "email", "verification_code", "new_password")),
        integers=("verification_code",),
    ),
)
