"""Tool Decoding for ``model.generate(custom_generate=FOLDER, trust_remote_code=True)``; the work is the package's."""

from typing import Any

from tooldecoding import DecodeOptions, tool_decoding
from tooldecoding.errors import ConfigError


def generate(model: Any, tokenizer: Any = None, tools: Any = None, decoding: Any = None, **arguments: Any) -> Any:
    """Decode tool calls; see ``tooldecoding.tool_decoding``.

    ConfigError without a tokenizer or tools, and for arguments that a decode cannot honour.

    Parameters
    ----------
    tokenizer : PreTrainedTokenizerBase
    tools : documentation text, parsed documentation, functions, pydantic models, or LookupDictionary
    decoding : DecodeOptions or mapping, optional
        Options, or some of their fields, such as ``{"order_limit": 12}``.
    **arguments
        Of ``generate``.
    """
    for name, value in (("tokenizer", tokenizer), ("tools", tools)):
        if value is None:
            raise ConfigError(f"generate(…, {name}=…) is missing: Tool Decoding needs the tokenizer and the tools")
    given = {name: value for name, value in arguments.items() if value is not None}
    fields = {"options": decoding} if isinstance(decoding, DecodeOptions) else decoding or {}
    return model.generate(**given, custom_generate=tool_decoding(tokenizer, tools, **fields))
