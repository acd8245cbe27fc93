"""Errors in the shape of OpenAI's API."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.exceptions import HTTPException

from lookup.errors import ToolDecodingError
from tooldecoding.server.json_log import log


@dataclass(eq=False)
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

    status: int
    message: str
    param: str | None = None
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """OpenAI's name of this kind of errors."""
        kinds = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
        return kinds.get(self.status, "server_error" if self.status >= 500 else "invalid_request_error")

    def to_json(self) -> dict[str, Any]:
        """Return OpenAI's error object."""
        return {"error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}}


def later(status: int, message: str, code: str | None = None) -> ApiError:
    """Return an error that may be gone when the client tries again."""
    return ApiError(status, message, code=code, headers={"Retry-After": "1"})


def wrong_input(error: ToolDecodingError, param: str | None = None) -> ApiError:
    """Return the answer to input that cannot be used."""
    return ApiError(400, str(error), param, "invalid_value")


def told(error: Exception, request_id: str) -> ApiError:
    """Return the answer to an error; what is not the client's fault stands in the log alone."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, ToolDecodingError):
        return wrong_input(error)
    if isinstance(error, HTTPException):
        return ApiError(error.status_code, error.detail.lower(), headers=error.headers or {})
    log("request failed", logging.ERROR, error, request_id=request_id)
    return ApiError(500, "internal error")
