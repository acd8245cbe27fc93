"""Conversations for chat templates that print no tools: the tools, calls and results are written as text.

The wording is the best of those that docs/models.md compares.
"""

from dataclasses import replace
from itertools import zip_longest
from typing import Final

from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import Conversation, Message, Role
from tooldecoding.chat.template_habits import Habits
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.options.decode_options import Detail

_INSTRUCTION: Final = """You can call these tools:
{tools}

To call a tool, write {form}"""
_REQUEST: Final = "\n\nTell me the answer if this is enough."
"""Stands behind results to which the assistant answers: without it, small models make the call again."""

_FORM: Final = Call("tool_name", {"key": "value", "other_key": 5})


def with_tools(
    conversation: Conversation, documentation: Documentation, detail: Detail, call_format: CallFormat, habits: Habits
) -> Conversation:
    """Return a conversation that shows the tools and how to call them, for a chat template that prints none.

    They stand in the system message, behind what it says already; in the first message of the user where the template
    refuses system messages. Calls that the template does not write are text of the assistant, and their results text of
    the user. What the user says in several messages is one then: many templates want user and assistant to alternate.

    Parameters
    ----------
    detail : {"full", "signatures", "names"}
        What is printed of each tool.
    habits : Habits
        Those of the template.
    """
    messages = list(conversation.messages)
    if habits.shown_calls == "none":
        messages = _without_calls(messages, call_format)
    if len(documentation.lookup):
        _show(_instruction(documentation, detail, call_format), messages, habits.takes_system)
    return Conversation(tuple(messages))


def _instruction(documentation: Documentation, detail: Detail, call_format: CallFormat) -> str:
    return _INSTRUCTION.format(tools=documentation.as_signatures(detail), form=call_format.render([_FORM]))


def _show(instruction: str, messages: list[Message], takes_system: bool) -> None:
    """Write the instruction into the messages."""
    role: Role = "system" if takes_system else "user"
    place = next((n for n, message in enumerate(messages) if message.role == role), None)
    if place is None:
        messages.insert(0, Message(role, instruction))
        return
    said = messages[place].content
    both = (said, instruction) if takes_system else (instruction, said)
    messages[place] = replace(messages[place], content="\n\n".join(filter(None, both)))


def _without_calls(messages: list[Message], call_format: CallFormat) -> list[Message]:
    """Return the messages with calls and results as text."""
    shown: list[Message] = []
    for message, following in zip_longest(messages, messages[1:]):
        if message.calls:
            calls = call_format.render([Call(call.name, call.arguments) for call in message.calls])
            message = Message("assistant", "\n".join(filter(None, [message.content, calls])), (), message.thinking)
        elif message.result_of:
            text = f"The result of {message.result_of.name} is: {message.content}"
            answered = following is None or following.role == "assistant"
            message = Message("user", text + _REQUEST * answered)
        if shown and message.role == shown[-1].role == "user":
            shown[-1] = replace(shown[-1], content=f"{shown[-1].content}\n{message.content}")
        else:
            shown.append(message)
    return shown
