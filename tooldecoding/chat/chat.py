"""From messages and tools to the assistant's next message, at once or piece by piece."""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from transformers import PreTrainedTokenizerBase

from tooldecoding.chat.call_ids import new_id
from tooldecoding.chat.calls import ToolCall
from tooldecoding.chat.dialogue import openai_messages
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.guarding import ToolTexts
from tooldecoding.chat.messages import Conversation, Message, read_messages
from tooldecoding.chat.rendering import conversation_prompt, with_question, with_results, with_tools
from tooldecoding.chat.reply import CallPiece, ChatMessage
from tooldecoding.chat.template_profile import profile_of
from tooldecoding.chat.templates import chat_format, chat_misfits
from tooldecoding.chat.tools import NO_TOOLS, read_tool_choice, read_tools
from tooldecoding.decoding.decoded_call import DecodedCall, TextPiece
from tooldecoding.errors import ChatWarning, PromptError
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.named_json import HARMONY
from tooldecoding.formats.thinking import is_open
from tooldecoding.options import DecodeOptions
from tooldecoding.options.decode_options import AUTO, Detail
from tooldecoding.request import PromptsBeside, Request, Tools
from tooldecoding.result import DecodeResult
from tooldecoding.tokens.guarded_text import PromptText, control_texts

StreamPiece = TextPiece | CallPiece | ChatMessage


def chat_request(
    conversation: Conversation, documentation: Documentation, options: DecodeOptions, tokenizer: PreTrainedTokenizerBase
) -> Request:
    """Return the request for a conversation.

    Without tools, the tool choice ``auto`` becomes ``none``. The tools are printed by the chat template, or by
    ``with_tools`` if it prints none; models whose template prints them are asked for further calls. Where no call may
    be made, no tool is printed: small models would write a call as text. Behind results, one sentence says so.
    ``auto`` has this prompt for the answer in the place of a call that is left out, or of none.

    ToolDecodingError if there is no chat template, it refuses the conversation, or it writes calls in no known format.
    """
    options = options.in_conversation()
    if not len(documentation.lookup) and options.tool_choice == "auto":
        options = replace(options, tool_choice="none")
    asked = options.format
    options = replace(options, format=chat_format(options, tokenizer))
    profile = profile_of(tokenizer)
    if options.next_call_threshold is None and profile.prints_tools:
        # a model that was not trained on tools cannot tell
        options = replace(options, next_call_threshold=0.0)
    # where no template prints tools, ours says how a call is written, and a call that must come is written so
    dialects = asked == AUTO and (options.choice == "auto" or not profile.leaves_out_tools)

    def prompt(
        documentation: Documentation,
        detail: Detail,
        told_of_results: bool = False,
        instead: Conversation | None = None,
    ) -> PromptText:
        def instruct(said: Conversation, tools: str) -> Conversation:
            told = with_results(said, profile) if told_of_results else said
            return with_tools(told, tools, options.call_format, profile) if profile.leaves_out_tools else told

        tools: ToolTexts = documentation.as_chat_tools(detail, profile.bare_tools)
        if profile.leaves_out_tools:
            tools = documentation.as_signatures(detail)
        return conversation_prompt(instead or conversation, tools, profile, tokenizer, instruct)

    ends_with_result = conversation.messages[-1].result_of is not None

    def answer_prompt() -> PromptText:
        if ends_with_result:
            with suppress(PromptError):  # some templates leave out a system message where results end the conversation
                return prompt(NO_TOOLS, "full", told_of_results=True)
        return prompt(NO_TOOLS, "full")

    def question_prompt(name: str, missing: Sequence[tuple[str, str]]) -> PromptText:
        tool = documentation.lookup[name]

        def instruct(said: Conversation, _: str) -> Conversation:
            return with_question(said, tool, missing, options.call_format, profile)

        return conversation_prompt(conversation, [], profile, tokenizer, instruct)

    def instead(said: str) -> PromptText:
        system = [message for message in conversation.messages[:1] if message.role == "system"]
        return prompt(documentation, options.documentation, instead=Conversation((*system, Message("user", said))))

    def requested() -> PromptText:
        messages = conversation.messages
        end = max(
            (number for number, message in enumerate(messages, 1) if message.role == "user"), default=len(messages)
        )
        return prompt(documentation, options.documentation, instead=Conversation(messages[:end]))

    only_answers = options.tool_choice == "none" and len(documentation.lookup)
    return Request(
        answer_prompt() if only_answers else prompt(documentation, options.documentation),
        documentation.lookup,
        options,
        special_tokens=False,
        dialects=dialects,
        conversation=conversation.messages,
        prompt_for=None if only_answers else documentation.prompts_of_one(options.documentation, prompt),
        answer_prompt=answer_prompt if options.tool_choice == "auto" else None,
        beside=None if only_answers else PromptsBeside(question_prompt, instead, requested),
    )


def dialogue_request(
    dialogue: Sequence[Message],
    documentation: Documentation,
    options: DecodeOptions,
    tokenizer: PreTrainedTokenizerBase,
) -> Request:
    """Return the request for a dialogue; the model goes on with what the assistant said last.

    ToolDecodingError as ``chat_request``, and if a call has no result.
    """
    messages, begun = openai_messages(dialogue), ""
    if messages and messages[-1]["role"] == "assistant" and "tool_calls" not in messages[-1]:
        begun = messages.pop()["content"]
    request = chat_request(read_messages(messages, "the dialogue's messages"), documentation, options, tokenizer)
    if not begun:
        return request

    def go_on(prompt: PromptText) -> PromptText:
        return continued(prompt, begun, request.options.call_format, tokenizer)

    prompt_for = request.prompt_for
    return replace(
        request,
        answer_prompt=None,
        beside=None,
        prompt=go_on(request.text),
        prompt_for=prompt_for and (lambda name: go_on(prompt_for(name))),
    )


def continued(
    prompt: PromptText, begun: str, call_format: CallFormat, tokenizer: PreTrainedTokenizerBase
) -> PromptText:
    """Return a prompt of a chat template with what the assistant has said already in the turn that it opens."""
    if call_format is HARMONY:
        opening, closing = "<|channel|>commentary<|message|>", "<|end|><|start|>assistant"
    else:
        thinking, closing = is_open(str(prompt)), ""
        opening = thinking.closing + thinking.behind if thinking else ""
    return control_texts(tokenizer).with_said(prompt, opening, begun, closing)


class ReplyPieces:
    """Turns what is decoded behind a conversation, piece by piece, into pieces of its reply."""

    def __init__(self, conversation: Conversation, tokenizer: PreTrainedTokenizerBase) -> None:
        self._earlier = conversation.calls
        self._tokenizer = tokenizer
        self._ids: list[str] = []

    def of(self, piece: TextPiece | DecodedCall | DecodeResult) -> StreamPiece:
        """Return the piece of the reply; its calls have the ids that they have in the whole message."""
        if isinstance(piece, DecodeResult):
            return self.whole(piece)
        if isinstance(piece, DecodedCall):
            return CallPiece(self._new_id(piece), piece)
        return piece

    def whole(self, result: DecodeResult) -> ChatMessage:
        """Return the whole message."""
        for call in result.calls[len(self._ids) :]:
            self._new_id(call)
        return ChatMessage(result, tuple(self._ids))

    def _new_id(self, call: DecodedCall) -> str:
        new = new_id(profile_of(self._tokenizer).ids, self._earlier, call.name)
        self._earlier.append(ToolCall(new, call.name, call.arguments))
        self._ids.append(new)
        return new


def chat_requests(
    conversations: Sequence[Conversation],
    tools: Tools | None,
    tool_choice: Any,
    parallel_tool_calls: Any,
    options: DecodeOptions,
    tokenizer: PreTrainedTokenizerBase,
) -> list[Request]:
    """Return the requests for conversations with the same tools, as ``ToolDecoder.chat`` takes them."""
    if not isinstance(parallel_tool_calls, bool | None):
        raise PromptError(f"parallel_tool_calls: expected True or False, found {parallel_tool_calls!r:.40}")
    if tool_choice is not None:
        options = replace(options, tool_choice=read_tool_choice(tool_choice))
    if parallel_tool_calls is False:
        options = replace(options, max_calls=1)
    documentation = read_tools(tools)
    requests = [chat_request(each, documentation, options, tokenizer) for each in conversations]
    if len(documentation.lookup):
        for misfit in chat_misfits(requests[0].options.format, tokenizer):
            warnings.warn(misfit, ChatWarning, stacklevel=3)
    return requests
