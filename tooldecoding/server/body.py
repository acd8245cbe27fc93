"""The body of a request: bounded bytes, read as one JSON object."""

import asyncio
from typing import Any, Final

from fastapi import Request
from starlette.requests import ClientDisconnect

from tooldecoding.chat.json_values import read_object
from tooldecoding.server.api_error import ApiError

_JSON: Final = "application/json"
_SECONDS: Final = 30


async def read_body(request: Request, most: int) -> bytes:
    """Return the body.

    Only ``application/json`` is read: a web page of another origin cannot send it without being asked first.

    Raises
    ------
    ApiError
        415 for another content type, 413 for more than ``most`` bytes, 408 for a body that does not arrive.
    """
    given = request.headers.get("content-type", "")
    if given.partition(";")[0].strip().lower() != _JSON:
        raise ApiError(415, f"expected the content type {_JSON}, found {given!r:.80}", code="unsupported_media_type")
    too_large = ApiError(413, f"the body has more than {most:,} bytes", code="request_too_large")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > most:
        raise too_large
    try:
        async with asyncio.timeout(_SECONDS):
            return await _bounded(request, most, too_large)
    except TimeoutError:
        raise ApiError(408, f"the body did not arrive within {_SECONDS} seconds", code="timeout") from None
    except ClientDisconnect:
        raise ApiError(400, "the body is not complete", code="incomplete_body") from None


async def _bounded(request: Request, most: int, too_large: ApiError) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise too_large
        parts.append(part)
    return b"".join(parts)


def read_json(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a body.

    Raises
    ------
    ApiError
        400 for anything else, also for a key twice, numbers that JSON does not have, and too many levels of nesting.
    """
    try:
        return read_object(body.decode())
    except UnicodeDecodeError as error:
        raise ApiError(400, f"the body is no UTF-8: byte {error.start}", code="invalid_json") from None
    except ValueError as error:
        raise ApiError(400, f"the body is no JSON object: {error}", code="invalid_json") from None
