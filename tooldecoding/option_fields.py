"""The fields of ``DecodeOptions`` as keyword arguments, so that editors and type checkers know them."""

from typing import TypedDict

from lookup.dictionary import UnknownKeys
from lookup.values.grammar import Constraint
from tooldecoding.options.decode_options import Detail
from voting import OrderScheme, Stopping


class ChatOptionFields(TypedDict, total=False):
    """Any of the fields of ``DecodeOptions`` but ``tool_choice``, which chat takes in OpenAI's shape."""

    format: str
    documentation: Detail
    order_limit: int
    orders: OrderScheme
    value_constraint: Constraint
    unknown_keys: UnknownKeys
    seed: int
    max_value_tokens: int
    max_text_tokens: int
    max_tokens: int | None
    max_thinking_tokens: int
    temperature: float
    top_p: float
    top_k: int
    repetition_penalty: float
    stop: tuple[str, ...]
    max_calls: int
    draft_tokens: int
    optional_share: float
    stopping: Stopping
    stopping_level: float
    min_confidence: float | None


class DecodeOptionFields(ChatOptionFields, total=False):
    """Any of the fields of ``DecodeOptions``, which describes them."""

    tool_choice: str | None
