"""Texts of prompts in the layouts of API-Bank and BFCL, with our own wording."""

from collections.abc import Sequence

API_BANK_INSTRUCTION = "Write the API call that comes next in the form [ApiName(key1='value1', key2='value2')]."
API_BANK_ENDING = "API-Request: "

BFCL_INSTRUCTION = (
    "You can call the functions below. Answer the question with one or more calls in the form "
    "[func_name1(param1=value1, param2=value2), func_name2(param1=value1)] and nothing else. "
    "Write each value as a Python literal of the parameter's type."
)
BFCL_ENDING = "Calls: "


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
