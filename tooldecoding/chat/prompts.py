"""The texts of prompts: in the layouts of API-Bank and BFCL, with our own wording, and from chat templates."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tooldecoding.chat.dialogue import LineLabels
from tooldecoding.chat.probe_call import REFUSALS
from tooldecoding.errors import ModelError, PromptError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_PROBE_NAME = "probe_of_tools"
_PROBE = {
    "type": "function",
    "function": {
        "name": _PROBE_NAME,
        "description": "A probe.",
        "parameters": {
            "type": "object",
            "properties": {"key": {"type": "string", "description": "A key."}},
            "required": ["key"],
        },
    },
}

API_BANK_INSTRUCTION = "Write the API call that comes next in the form [ApiName(key1='value1', key2='value2')]."
API_BANK_ENDING = "API-Request: "

BFCL_INSTRUCTION = (
    "You can call the functions below. Answer the question with one or more calls in the form "
    "[func_name1(param1=value1, param2=value2), func_name2(param1=value1)] and nothing else. "
    "Write each value as a Python literal of the parameter's type."
)
BFCL_ENDING = "Calls: "
BFCL_LABELS = LineLabels(request="Calls", response="Results")


def api_bank_prompt(
    documentation: str, turns: Sequence[str], instruction: str = API_BANK_INSTRUCTION, ending: str = API_BANK_ENDING
) -> str:
    """Return a prompt in API-Bank's layout: descriptions, instruction, dialogue, and the line that the call completes.

    Parameters
    ----------
    documentation : str
        Tool descriptions as API-Bank prints them, one JSON object a line.
    turns : sequence of str
        Lines of the dialogue as ``dialogue_lines`` writes them, for example ``User: …``, ``AI: …``,
        ``API-Request: [Name(key='value')]``, ``API-Response: {…}``.
    instruction, ending : str
        What to write, and the beginning of its line.
    """
    dialogue = "\n".join(turns)
    return f"API descriptions:\n{documentation.strip()}\n\n{instruction}\n\n{dialogue}\n{ending}"


def bfcl_prompt(
    functions: str, turns: Sequence[str], instruction: str = BFCL_INSTRUCTION, ending: str = BFCL_ENDING
) -> str:
    """Return a prompt in BFCL's layout: instruction, functions as indented JSON, conversation, the line to complete.

    Parameters
    ----------
    functions : str
        The functions as a JSON list with four spaces of indentation.
    turns : sequence of str
        Lines of the conversation, for example ``User: …``; earlier calls are ``Calls: [f(a=1)]``.
    instruction, ending : str
        What to write, and the beginning of its line.
    """
    conversation = "\n".join(turns)
    return f"{instruction}\n\nFunctions:\n{functions}\n\n{conversation}\n{ending}"


def shows_tools(tokenizer: "PreTrainedTokenizerBase") -> bool:
    """Return whether the tokenizer has a chat template that prints ``tools``."""
    return _PROBE_NAME in _rendered(tokenizer, [_PROBE])


def leaves_out_tools(tokenizer: "PreTrainedTokenizerBase") -> bool:
    """Return whether the tokenizer has a chat template that takes messages, but prints no ``tools``, as many do."""
    return takes_messages(tokenizer) and not shows_tools(tokenizer)


def takes_messages(tokenizer: "PreTrainedTokenizerBase") -> bool:
    """Return whether the tokenizer has a chat template that takes a message of the user."""
    return bool(_rendered(tokenizer, []) or _rendered(tokenizer, [_PROBE]))


def _rendered(tokenizer: "PreTrainedTokenizerBase", tools: Sequence[Mapping[str, Any]]) -> str:
    try:
        return chat_prompt(tokenizer, [{"role": "user", "content": "x"}], tools)
    except (ModelError, PromptError):
        return ""


def chat_prompt(
    tokenizer: "PreTrainedTokenizerBase", messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
) -> str:
    """Return the text of the tokenizer's chat template, with ``tools``, up to the assistant's turn.

    The template writes special tokens, so the text must be tokenized without adding any.

    Raises
    ------
    ModelError
        If the tokenizer has no chat template.
    PromptError
        If the template refuses the messages.
    """
    if not tokenizer.chat_template:
        raise ModelError(
            "the model's tokenizer has no chat template; give a text (--template raw, api-bank or bfcl), "
            "or use a chat model"
        )
    try:
        text = tokenizer.apply_chat_template(
            list(messages), tools=list(tools) or None, add_generation_prompt=True, tokenize=False
        )
    except REFUSALS as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise PromptError(f"the model's chat template refuses the dialogue: {reason}") from error
    return str(text)
