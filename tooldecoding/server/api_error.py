"""Errors in the shape of OpenAI's API."""

from collections.abc import Mapping
from typing import Any

from fastapi import Response

from lookup.errors import ToolDecodingError
from tooldecoding.files.json_lines import json_line


class ApiError(Exception):
    """An answer that says what is wrong.

    Attributes
    ----------
    status : int
        HTTP status.
    message : str
        In words, for the user.
    param : str or None
        The field of the request that is wrong.
    code : str or None
        OpenAI's or our short name of the error.
    headers : mapping
        Further headers of the answer.
    """

    def __init__(
        self,
        status: int,
        message: str,
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.code = code
        self.headers = dict(headers or {})

    @property
    def kind(self) -> str:
        """OpenAI's name of this kind of errors."""
        kinds = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
        return kinds.get(self.status, "server_error" if self.status >= 500 else "invalid_request_error")

    def to_json(self) -> dict[str, Any]:
        """Return OpenAI's error object."""
        return {"error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}}

    def answer(self) -> Response:
        """Return it as an HTTP answer."""
        return json_response(self.to_json(), self.status, self.headers)


def json_response(row: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer in JSON, which may have texts that UTF-8 cannot write."""
    return Response(json_line(row), status, headers, "application/json")


def wrong_input(error: ToolDecodingError, param: str | None = None) -> ApiError:
    """Return the answer to input that cannot be used."""
    return ApiError(400, str(error), param, "invalid_value")
