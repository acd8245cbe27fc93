"""Prompts of our own wording, in the shapes of the benchmarks."""

from collections.abc import Sequence

API_BANK_INSTRUCTION = "Write the API call that comes next in the form [ApiName(key1='value1', key2='value2')]."


def api_bank_prompt(documentation: str, turns: Sequence[str]) -> str:
    """API-Bank's shape: descriptions, instruction, dialogue, and the line that the call completes.

    Parameters
    ----------
    documentation : str
        Tool descriptions as API-Bank prints them, one JSON object a line.
    turns : sequence of str
        Lines of the dialogue as ``tooldecoding.dialogue`` renders them, for example
        ``User: …``, ``AI: …``, ``API-Request: [Name(key='value')]``, ``API-Response: {…}``.
    """
    dialogue = "\n".join(turns)
    return f"API descriptions:\n{documentation.strip()}\n\n{API_BANK_INSTRUCTION}\n\n{dialogue}\nAPI-Request: "
