"""A conversation -> the text of the tokenizer's chat template.

Where the template prints no tools, the tools, calls and results are written as text. The wording is the best of those
that docs/models.md compares.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from lookup.dictionary import ToolSpec
from tooldecoding.chat.call_ids import template_ids
from tooldecoding.chat.guarding import ToolTexts, guarded
from tooldecoding.chat.messages import Conversation, Message, Role
from tooldecoding.chat.probe import chat_prompt
from tooldecoding.chat.template_profile import TemplateProfile
from tooldecoding.errors import ChatWarning, PromptError
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.tokens.guarded_text import PromptText

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Instruct = Callable[[Conversation, str], Conversation]
"""Adds instructions to a conversation, with documentation of tools as text."""

_INSTRUCTION: Final = """You can call these tools:
{tools}

To call a tool, write {form}"""
_ANSWER: Final = (
    "You can call functions. The results of your calls are in {place}. "
    "Tell the user in your own words what was done or found."
)
"""Stands in the place of the tools: without it, small models say that they cannot do what was done already.

The best of twelve wordings, by 14 dialogues and Qwen2.5-Coder-0.5B; 1.5B takes most of them. Naming the element that a
template writes results in keeps 0.5B from telling the user of a "tool response".
"""

_ASK: Final = (
    "You can do this for the user: {about} The user has not said: {wanted}. "
    "Reply with one short question that asks the user for it."
)
"""Stands in the place of the tools where an argument is missing.

The best of three wordings, by seven requests in three languages and Qwen2.5-Coder-1.5B.
"""

_REQUEST: Final = "\n\nTell me the answer if this is enough."
"""Stands behind results to which the assistant answers: without it, small models make the call again."""

_FORM: Final = Call("tool_name", {"key": "value", "other_key": 5})


def conversation_prompt(
    conversation: Conversation,
    tools: ToolTexts,
    profile: TemplateProfile,
    tokenizer: "PreTrainedTokenizerBase",
    instruct: Instruct | None = None,
) -> PromptText:
    """Return the text that the model reads, up to its own turn; nothing that anybody says becomes a control token.

    System messages behind the beginning join the first one where the template takes none there.

    PromptError if the template refuses the conversation, or leaves out a message or a call. ModelError if the tokenizer
    has no chat template.

    Parameters
    ----------
    tools : sequence of mappings, or str
        In OpenAI's shape for the template, or the text that ``instruct`` takes.
    profile : TemplateProfile
        Those of the tokenizer's chat template.
    instruct : callable, optional
        Writes what the model is told beside what was said. Its own words may have control tokens.
    """

    def shown(conversation: Conversation, tools: ToolTexts) -> Conversation:
        return instruct(conversation, tools if isinstance(tools, str) else "") if instruct else conversation

    def rendered(conversation: Conversation, tools: ToolTexts) -> str:
        return _rendered(shown(conversation, tools), tools, profile, tokenizer)

    def write(conversation: Conversation) -> PromptText:
        prompt = guarded(rendered, conversation, tools, tokenizer)
        _demand_shown_texts(shown(conversation, tools), str(prompt))
        return prompt

    told = shown(conversation, tools)
    _demand_shown_calls(told, profile)
    try:
        return write(conversation)
    except PromptError as error:
        late = [message for message in conversation.messages[1:] if message.role == "system"]
        if not late and conversation.messages[-1].role != "system":
            raise
        refusal = error
    joined = _with_one_system_message(conversation)
    if not late or joined.messages[-1].role == "assistant":
        raise _named(refusal, conversation, write)
    try:
        return write(joined)
    except PromptError as error:
        refusal = error
    raise _named(refusal, joined, write)


def _rendered(
    conversation: Conversation, tools: ToolTexts, profile: TemplateProfile, tokenizer: "PreTrainedTokenizerBase"
) -> str:
    """Return what the template writes."""
    ids, of_results = iter(template_ids(profile.ids, conversation.calls)), iter(list[str]())
    messages = []
    for message in conversation.messages:
        own = [next(ids) for _ in message.calls]
        of_results = iter(own) if own else of_results
        messages.append(_template_message(message, profile, [next(of_results)] if message.result_of else own))
    return chat_prompt(tokenizer, messages, () if isinstance(tools, str) else tools)


def _with_one_system_message(conversation: Conversation) -> Conversation:
    """Return a conversation whose system messages are one, at its beginning."""
    system = [message for message in conversation.messages if message.role == "system"]
    others = [message for message in conversation.messages if message.role != "system"]
    content = "\n\n".join(message.content for message in system if message.content)
    return Conversation((replace(system[0], content=content), *others))


def _named(
    refusal: PromptError, conversation: Conversation, write: Callable[[Conversation], PromptText]
) -> PromptError:
    """Return a refusal with the first message at which the template refuses."""
    messages = conversation.messages
    taken, refused = 0, len(messages)
    while refused - taken > 1:
        middle = (taken + refused) // 2
        try:
            write(Conversation(messages[:middle]))
            taken = middle
        except PromptError as error:
            refusal, refused = error, middle
    first, *private = refusal.args
    place = f"messages[{_place(messages[refused - 1], refused - 1)}]: "
    return refusal if first.startswith("messages[") else PromptError(place + first, *private)


def _template_message(message: Message, profile: TemplateProfile, ids: Sequence[str]) -> dict[str, Any]:
    """Return a message as the template wants it; ``ids`` are those of its calls, or the first that of its result."""
    row: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.result_of:
        return row | {"tool_call_id": ids[0], "name": message.result_of.name}
    if message.role == "assistant" and not message.calls:
        row["content"] = message.content or profile.no_answer
    if message.calls:
        shows_content = message.content and profile.content_beside_calls
        row["content"] = message.content if shows_content else profile.no_content
        as_text = [
            profile.arguments_as_text or bool(profile.takes_any_text and c.text is not None) for c in message.calls
        ]
        given = zip(message.calls, ids, as_text, strict=True)
        row["tool_calls"] = [replace(call, id=own).openai(text) for call, own, text in given]
    if message.thinking and profile.thinking_key:
        row[profile.thinking_key] = message.thinking
        if message.calls and message.content and not profile.thinking_beside_content:
            # gpt-oss takes one text before a call, which it writes as thinking
            row[profile.thinking_key] = f"{message.thinking}\n\n{message.content}"
            row["content"] = profile.no_content
    return row


def _demand_shown_calls(conversation: Conversation, profile: TemplateProfile) -> None:
    """PromptError if a call would be left out; a warning if the template writes no calls at all, or no text beside."""
    if not conversation.calls:
        return
    for number, message in enumerate(conversation.messages):
        if message.calls and message.content and not profile.content_beside_calls:
            warnings.warn(
                "the model's chat template takes no text beside calls: the model does not see the text that it wrote "
                f"before a call: {message.content!r:.60}",
                ChatWarning,
                stacklevel=2,
            )
        if len(message.calls) > 1 and profile.shown_calls == "first":
            raise PromptError(
                f"messages[{_place(message, number)}]: the model's chat template writes only the first of the "
                f"{len(message.calls)} calls; give each call a message of its own, with its result behind it"
            )
    if profile.shown_calls == "none":
        warnings.warn("the model's chat template does not write the calls of earlier turns", ChatWarning, stacklevel=2)


def _place(message: Message, number: int) -> int:
    """Return the place of a message among those that were given, which is ``number`` where nobody knows it."""
    return number if message.number is None else message.number


def _demand_shown_texts(conversation: Conversation, text: str) -> None:
    """PromptError if a template leaves out what system or user said, as some do with later system messages.

    White space does not count: some templates write a message in one line.
    """
    position, text = 0, " ".join(text.split())
    for number, message in enumerate(conversation.messages):
        said = " ".join(message.content.split())
        if message.role not in ("system", "user") or not said:
            continue
        found = text.find(said, position)
        if found < 0 and said not in text:
            raise PromptError(
                f"messages[{_place(message, number)}]: the model's chat template leaves out this message of role "
                f"{message.role}"
            )
        position = max(position, found)


def with_tools(
    conversation: Conversation, tools: str, call_format: CallFormat, profile: TemplateProfile
) -> Conversation:
    """Return a conversation that shows the tools and how to call them, for a chat template that prints none.

    They stand in the system message, behind what it says already; in the first message of the user where the template
    refuses system messages. Calls that the template does not write are text of the assistant, and their results text of
    the user. What the user says in several messages is one then: many templates want user and assistant to alternate.

    Parameters
    ----------
    tools : str
        Their documentation; empty if there are none.
    profile : TemplateProfile
        Those of the template.
    """
    messages = list(conversation.messages)
    if profile.shown_calls == "none":
        messages = _without_calls(messages, call_format)
    if tools:
        instruction = _INSTRUCTION.format(tools=tools, form=call_format.render([_FORM]))
        messages = _instructed(messages, instruction, profile)
    return Conversation(tuple(messages))


def with_results(conversation: Conversation, profile: TemplateProfile) -> Conversation:
    """Return a conversation whose results are to be told: what is said of them stands where tools would.

    ``What is 23.5 plus 19?``, the call of ``add`` and its result 42.5, without tools: Qwen2.5-Coder-1.5B answers *I
    apologize, but I can't assist with that*, and by this *I added 23.5 and 19 to get 42.5.*
    """
    tag = profile.result_tag
    told = _ANSWER.format(place=f"<{tag}></{tag}>" if tag else "the conversation")
    return Conversation(tuple(_instructed(list(conversation.messages), told, profile)))


def with_question(
    conversation: Conversation,
    tool: ToolSpec,
    missing: Sequence[tuple[str, str]],
    call_format: CallFormat,
    profile: TemplateProfile,
) -> Conversation:
    """Return a conversation in which the model is to ask for what it misses before it calls a tool."""
    messages = list(conversation.messages)
    if profile.shown_calls == "none":
        messages = _without_calls(messages, call_format)
    wanted = "; ".join(f"{path} ({about.rstrip('.')})" if about else path for path, about in missing)
    told = _ASK.format(about=tool.description.strip() or tool.name, wanted=wanted)
    return Conversation(tuple(_instructed(messages, told, profile)))


def _instructed(messages: list[Message], instruction: str, profile: TemplateProfile) -> list[Message]:
    """Return the messages with an instruction in the system message, or in the first one of the user."""
    role: Role = "system" if profile.takes_system else "user"
    if all(message.role != role for message in messages):
        messages = [Message(role, ""), *messages]
    place = next(n for n, message in enumerate(messages) if message.role == role)
    said = messages[place].content
    both = (said, instruction) if profile.takes_system else (instruction, said)
    instructed = replace(messages[place], content="\n\n".join(filter(None, both)))
    return [*messages[:place], instructed, *messages[place + 1 :]]


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
            message = Message("user", text + _REQUEST * answered, number=message.number)
        if shown and message.role == shown[-1].role == "user":
            shown[-1] = replace(shown[-1], content=f"{shown[-1].content}\n{message.content}")
        else:
            shown.append(message)
    return shown
