"""The fields of ``POST /v1/chat/completions``, read from untrusted data; none is ignored."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tooldecoding.options import DecodeOptions
from tooldecoding.options.decode_options import Ask, Detail, OptionalArguments
from tooldecoding.options.serve_command import ServeCommand
from tooldecoding.server.exchange import ApiError
from voting import OrderScheme

_MOST_STOPS: Final = 4
_MOST_TOKENS: Final = 1 << 20
_MOST_KEYS: Final = 1000
_ASK: Final[Mapping[tuple[bool, bool], Ask]] = {
    (False, False): "never",
    (False, True): "ungrounded",
    (True, False): "unsure",
    (True, True): "both",
}
"""Whether to ask for what is unsure, and for what nobody said -> ``ask`` of ``DecodeOptions``."""

_UNSUPPORTED: Final = ("audio", "function_call", "functions", "moderation", "web_search_options")

NEUTRAL: Final[Mapping[str, tuple[Any, ...]]] = {
    "frequency_penalty": (0, None),
    "logit_bias": ({}, None),
    "logprobs": (False, None),
    "modalities": (["text"], None),
    "n": (1, None),
    "presence_penalty": (0, None),
    "top_logprobs": (0, None),
    **dict.fromkeys(_UNSUPPORTED, (None,)),
}
"""OpenAI's fields that are not supported -> the values that ask for nothing."""

_REASONS: Final[Mapping[str, str]] = {
    "n": "calls, and text without a temperature, are the same in each choice; send the request again with another seed",
    "logprobs": "calls are not written token by token; tooldecoding.calls has the log-probability of each argument",
}
"""Why a field is not supported, and what to do, where somebody may expect it."""


class Strict(BaseModel):
    """Fields that are not known are refused, and values are not converted."""

    model_config = ConfigDict(strict=True, extra="forbid")


class StreamOptions(Strict):
    """``stream_options``."""

    include_usage: bool = False
    include_obfuscation: Literal[False] = False


class Extension(Strict):
    """``tooldecoding``: what only this server knows; the names are those of ``DecodeOptions``.

    ``require_grounded`` is ``ask: ungrounded`` there, ``min_confidence`` is ``ask: unsure`` as well. ``tokens`` is of
    the answer.
    """

    documentation: Detail | None = None
    order_limit: Annotated[int, Field(ge=1, le=1000)] | None = None
    orders: OrderScheme | None = None
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    optional_arguments: OptionalArguments | None = None
    require_grounded: bool | None = None
    never_ask: Annotated[list[str], Field(max_length=_MOST_KEYS)] | None = None
    next_call_threshold: Annotated[float, Field(allow_inf_nan=False)] | None = None
    top_k: Annotated[int, Field(ge=0)] | None = None
    repetition_penalty: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    max_value_tokens: Annotated[int, Field(ge=1, le=_MOST_TOKENS)] | None = None
    max_thinking_tokens: Annotated[int, Field(ge=0, le=_MOST_TOKENS)] | None = None
    tokens: bool = False

    def options(self, served: DecodeOptions) -> dict[str, Any]:
        """Return the fields of ``DecodeOptions`` that are given, with ``ask`` over that of ``served``.

        ``served``: the options of the server, with the request's tool choice.
        """
        given = self.model_dump(exclude_none=True, exclude={"tokens", "require_grounded"})
        served = served.in_conversation()
        unsure = self.min_confidence is not None or served.asks_unsure
        unsaid = served.asks_unsaid if self.require_grounded is None else self.require_grounded
        return given | {"ask": _ASK[unsure, unsaid]}


class Hints(Strict):
    """Fields of OpenAI's that are taken, and change no answer here; but for ``reasoning_effort``, if it is ``none``."""

    metadata: Annotated[dict[str, Any], Field(max_length=_MOST_KEYS)] | None = None
    prediction: dict[str, Any] | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: dict[str, Any] | None = None
    prompt_cache_retention: str | None = None
    reasoning_effort: str | None = None
    safety_identifier: str | None = None
    service_tier: str | None = None
    store: bool | None = None
    user: str | None = None
    verbosity: str | None = None


class ChatBody(Hints):
    """A request; the fields are OpenAI's, and ``tooldecoding``."""

    model: str
    messages: list[Any]
    tools: list[Any] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    max_tokens: Annotated[int, Field(ge=1, le=_MOST_TOKENS)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1, le=_MOST_TOKENS)] | None = None
    stop: str | Annotated[list[str], Field(max_length=_MOST_STOPS)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    response_format: dict[str, Any] | None = None
    tooldecoding: Extension = Field(default_factory=Extension)

    @property
    def most_tokens(self) -> int | None:
        """The limit of tokens of the answer."""
        return self.max_completion_tokens or self.max_tokens


def read_chat_body(given: Mapping[str, Any]) -> ChatBody:
    """Return the request.

    Raises
    ------
    ApiError
        400 with the name of the field that is unknown, not supported, or has a wrong value.
    """
    fields = {}
    for name, value in given.items():
        if name in NEUTRAL:
            _demand_neutral(name, value)
        elif name not in ChatBody.model_fields:
            raise ApiError(400, f"unknown field {name!r:.60}", f"{name:.60}", "unknown_parameter")
        else:
            fields[name] = value
    try:
        body = ChatBody.model_validate(fields)
    except ValidationError as error:
        raise wrong_field(error) from None
    if body.stream_options is not None and not body.stream:
        raise ApiError(400, "stream_options takes effect only with stream: true", "stream_options", "invalid_value")
    return body


def demand_model(name: str, options: ServeCommand) -> None:
    """ApiError 404 for a model that is not served: requests name it as it is shown, or as ``--model`` does."""
    if name not in (*options.model_names, options.model):
        known = ", ".join(map(repr, options.model_names))
        message = f"the model {name!r:.80} does not exist; this server has {known}"
        raise ApiError(404, message, "model", "model_not_found")


def _demand_neutral(name: str, value: Any) -> None:
    if not any(value == neutral and type(value) is type(neutral) for neutral in NEUTRAL[name]) and not (
        value == 0 and NEUTRAL[name][0] == 0 and isinstance(value, float)
    ):
        shown = " or ".join(map(json.dumps, NEUTRAL[name]))
        reason = f": {_REASONS[name]}" if name in _REASONS else ""
        message = f"the field {name!r} is not supported{reason}; it may only be {shown}"
        raise ApiError(400, message, name, "unsupported_parameter")


def wrong_field(error: ValidationError) -> ApiError:
    """Return the answer to the first wrong field; if it may be a text or more, of what is wrong with the given type."""
    first, *others = error.errors(include_url=False, include_context=False, include_input=False)
    if first["loc"][-1] == "str":
        same = (one for one in others if one["loc"][0] == first["loc"][0])
        first = next((one for one in same if not one["type"].endswith("_type")), first)
    place = re.sub(r"\.(str|list|dict)(\[.*)?$", "", ".".join(map(str, first["loc"])))
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "missing":
        return ApiError(400, f"the field {place!r} is missing", place, "missing_required_parameter")
    if first["type"] == "extra_forbidden":
        return ApiError(400, f"unknown field {place!r:.120}", f"{place:.120}", "unknown_parameter")
    return ApiError(400, f"the field {place!r:.120} is wrong: {message}", f"{place:.120}", "invalid_value")
