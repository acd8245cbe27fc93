"""Rules of the account tools: users, passwords, tokens."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from eval.benchmarks.api_bank.tools.database import Database, Dialogue, RecordedCall, Replay
from eval.benchmarks.api_bank.tools.tool import UNRECORDED, Arguments, Response, Tool, ToolFailure, same_call

VERIFICATION_CODE: Final = 970420
"""The one that the tool always sends."""


def owner(token: str, replay: Replay) -> str:
    """The user of a token; ToolFailure for one that no recording shows as valid in the fresh database."""
    if token not in replay.database.tokens:
        raise ToolFailure("the token is invalid")
    return replay.database.tokens[token]


def learn(dialogues: Sequence[Dialogue], database: Database) -> None:
    """Users, passwords, addresses and tokens that were there before the dialogue."""
    for dialogue in dialogues:
        for call in _before_registration(dialogue):
            token = call.text("token")
            if call.name == "GetUserToken" and isinstance(call.output, dict):
                database.tokens[str(call.output.get("token"))] = call.text("username")
            elif call.name == "CheckToken" and isinstance(call.output, dict):
                database.tokens[token] = str(call.output.get("username"))
    for dialogue in dialogues:
        _learn_passwords(_before_registration(dialogue), database)


def _before_registration(dialogue: Dialogue) -> list[RecordedCall]:
    """The calls that are not about a user or token that the dialogue itself had made."""
    made: set[str] = set()
    kept = []
    for call in dialogue:
        if call.name == "RegisterUser" and isinstance(call.output, dict):
            made |= {call.text("username"), str(call.output.get("token"))}
        elif call.text("username") not in made and call.text("token") not in made:
            kept.append(call)
    return kept


def _learn_passwords(calls: Iterable[RecordedCall], database: Database) -> None:
    changed: set[str] = set()
    asking = ""
    for call in calls:
        token = call.text("token")
        if token:
            database.tokens.setdefault(token, token)
            database.passwords.setdefault(database.tokens[token], None)
        user = call.text("username") or database.tokens.get(token, "")
        if call.name == "GetUserToken" and user not in changed:
            _set_password(user, call.text("password"), database)
        elif call.name == "ModifyPassword":
            if user not in changed:
                _set_password(user, call.text("old_password"), database)
            changed.add(user)
        elif call.name == "ForgotPassword" and call.text("status") == "Forgot Password":
            asking = user
            database.passwords.setdefault(user, None)
            database.emails.setdefault(user, call.text("email"))
        elif call.name == "ForgotPassword":
            changed.add(asking)


def _set_password(user: str, password: str, database: Database) -> None:
    if database.passwords.get(user) is None:
        database.passwords[user] = password


def _get_user_token(arguments: Arguments, replay: Replay) -> Any:
    user = arguments["username"]
    if replay.database.passwords.get(user) != arguments["password"]:
        raise ToolFailure("there is no such user, or the password is another")
    return {"token": next((t for t, u in replay.database.tokens.items() if u == user), UNRECORDED)}


def _register_user(arguments: Arguments, replay: Replay) -> Any:
    if arguments["username"] in replay.database.passwords:
        raise ToolFailure("the user exists already")
    return {"token": UNRECORDED}  # a random one


def _delete_account(arguments: Arguments, replay: Replay) -> Any:
    owner(arguments["token"], replay)
    return {"status": "success"}


def _check_token(arguments: Arguments, replay: Replay) -> Any:
    return {"username": owner(arguments["token"], replay)}


def _modify_password(arguments: Arguments, replay: Replay) -> Any:
    if replay.database.passwords.get(owner(arguments["token"], replay)) != arguments["old_password"]:
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


def _same_registration(response: Response, truth: Response) -> bool:
    if truth.output is None and response.output is not None:
        return False
    return response.input == truth.input and response.exception == truth.exception


TOOLS: Final = (
    Tool("GetUserToken", ("username", "password"), _get_user_token, same_call),
    Tool("RegisterUser", ("username", "password", "email"), _register_user, _same_registration),
    Tool("DeleteAccount", ("token",), _delete_account, same_call),
    Tool("CheckToken", ("token",), _check_token, same_call),
    Tool("ModifyPassword", ("token", "old_password", "new_password"), _modify_password, same_call),
    Tool(
        "ForgotPassword",
        ("status",),
        _forgot_password,
        same_call,
        optional=("username", "email", "verification_code", "new_password"),
        integers=("verification_code",),
    ),
)
