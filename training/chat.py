"""The chat shape of hermes: ChatML turns, calls as JSON between tags.

The turns are as Qwen's chat template prints them, the instruction is our own. ``hermes.jinja`` prints the same prompts:
it becomes the chat template of a trained model.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tooldecoding.formats.hermes import HERMES as HERMES_FORMAT
from tooldecoding.prompts.dialogue import ToolResponse, Utterance
from training.answer import SYNTAX, TEXT, Answer, Piece, call_pieces

START: Final = "<|im_start|>"
END: Final = "<|im_end|>"
TAGS: Final = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
"""Tokens of their own, but not special: they are part of the text."""
ASSISTANT: Final = f"{START}assistant\n"
"""The beginning of the turn that the model writes."""

CHAT_TEMPLATE: Final = Path(__file__).with_name("hermes.jinja")

_TOOLS = """# Tools

You can call the functions that are listed between <tools> and </tools>, one JSON object a line:
<tools>
{tools}
</tools>

Write each call as a JSON object with the function's name and its arguments between <tool_call> and </tool_call>:
<tool_call>
{{"name": <name>, "arguments": <arguments>}}
</tool_call>"""


@dataclass(frozen=True)
class ChatTemplate:
    """A prompt template as ``training.example.PromptTemplate`` describes it."""

    name: str
    parallel: bool = True
    typed: bool = True

    def turns(self, turns: Sequence[Any]) -> Iterator[Any]:
        """Make answers of what the assistant says: in a chat the model writes it, too, with the calls behind it."""
        said = ""
        for turn in turns:
            if isinstance(turn, Utterance) and turn.speaker == "assistant":
                said = f"{said} {turn.text}".strip()
                continue
            if isinstance(turn, Answer) and turn.calls:
                yield replace(turn, said=said)
            else:
                if said:
                    yield Answer(said=said)
                yield turn
            said = ""
        if said:
            yield Answer(said=said)

    def context(self, tools: Sequence[Mapping[str, Any]] | None, turns: Sequence[Any]) -> str:
        """Return the text between two answers; ``tools`` are given before the first one."""
        texts = ["\n"] if tools is None else []
        spoken = list(turns)
        system = spoken.pop(0).text if spoken and getattr(spoken[0], "speaker", "") == "system" else ""
        if tools:
            shown = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
            system = f"{system}\n\n{_TOOLS.format(tools=shown)}".lstrip("\n")
        if system:
            texts.append(f"{START}system\n{system}{END}\n")
        results: list[str] = []
        for turn in [*spoken, None]:
            if isinstance(turn, ToolResponse):
                results.append(f"<tool_response>\n{_result(turn.value)}\n</tool_response>")
                continue
            if results:
                texts.append(START + "user\n" + "\n".join(results) + END + "\n")
                results = []
            if turn is not None:
                texts.append(f"{START}{turn.speaker}\n{turn.text}{END}\n")
        return "".join(texts) + ASSISTANT

    def pieces(self, answer: Answer) -> Iterator[Piece]:
        """Yield the assistant's turn with its end."""
        said = answer.refusal or answer.said
        if said:
            yield said, SYNTAX if answer.refusal else TEXT
        if answer.calls:
            yield "\n" if said else "", SYNTAX
            yield from call_pieces(answer.calls, HERMES_FORMAT)
        yield END, SYNTAX


def _result(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


HERMES: Final = ChatTemplate("hermes")
