"""From messages and tools to the assistant's next message, at once or piece by piece."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from transformers import PreTrainedTokenizerBase

from tooldecoding.chat.call_ids import new_ids
from tooldecoding.chat.messages import Conversation, read_messages
from tooldecoding.chat.rendering import conversation_prompt
from tooldecoding.chat.reply import CallPiece, ChatMessage, FinishReason
from tooldecoding.chat.template_habits import habits_of
from tooldecoding.chat.tools import read_tool_choice, read_tools
from tooldecoding.decoder import Request, ToolDecoder, Tools
from tooldecoding.option_fields import ChatOptionFields
from tooldecoding.options import DecodeOptions, changed
from tooldecoding.prompts.choose_format import chat_format, chat_misfits
from tooldecoding.prompts.documentation import Documentation
from tooldecoding.result import DecodeResult, TextPiece

StreamPiece = TextPiece | CallPiece | ChatMessage


@dataclass(frozen=True)
class ChatRequest:
    """A conversation as the decoder takes it.

    Attributes
    ----------
    request : Request
    conversation : Conversation
    tokenizer : PreTrainedTokenizerBase
    """

    request: Request
    conversation: Conversation
    tokenizer: PreTrainedTokenizerBase

    def reply(self, result: DecodeResult) -> ChatMessage:
        """Return the message for what was decoded."""
        form = habits_of(self.tokenizer).ids
        ids = new_ids(form, self.conversation.calls, [call.name for call in result.calls])
        return ChatMessage(result, tuple(ids), self._finish_reason(result))

    def _finish_reason(self, result: DecodeResult) -> FinishReason:
        if result.calls:
            return "tool_calls"
        return "stop"


def chat_request(
    conversation: Conversation,
    documentation: Documentation,
    options: DecodeOptions,
    tokenizer: PreTrainedTokenizerBase,
) -> ChatRequest:
    """Return the request for a conversation.

    Without tools, the tool choice ``auto`` becomes ``none``.

    Raises
    ------
    ToolDecodingError
        If there is no chat template, it refuses the conversation, or it writes calls in no known format.
    """
    if not len(documentation.lookup) and options.tool_choice == "auto":
        options = replace(options, tool_choice="none")
    options = replace(options, format=chat_format(options, tokenizer))
    habits = habits_of(tokenizer)
    text = conversation_prompt(conversation, documentation.as_chat_tools(), habits, tokenizer)
    request = Request(text, documentation.lookup, options, special_tokens=False)
    return ChatRequest(request, conversation, tokenizer)


def chat(
    decoder: ToolDecoder, messages: Any, tools: Tools | None, tool_choice: Any, fields: ChatOptionFields
) -> ChatMessage:
    """Return the assistant's next message; see ``ToolDecoder.chat``."""
    prepared = _prepared(decoder, messages, tools, tool_choice, fields)
    return prepared.reply(decoder.run([prepared.request])[0])


def stream(
    decoder: ToolDecoder, messages: Any, tools: Tools | None, tool_choice: Any, fields: ChatOptionFields
) -> Iterator[StreamPiece]:
    """Return the pieces of the assistant's next message; see ``ToolDecoder.stream``."""
    prepared = _prepared(decoder, messages, tools, tool_choice, fields)
    decoder.prompt_ids(prepared.request)
    return _pieces(decoder, prepared)


def _pieces(decoder: ToolDecoder, prepared: ChatRequest) -> Iterator[StreamPiece]:
    for piece in decoder.stream_run(prepared.request):
        if isinstance(piece, TextPiece):
            yield piece
        else:
            reply = prepared.reply(piece)
            yield from reply.call_pieces
            yield reply


def _prepared(
    decoder: ToolDecoder, messages: Any, tools: Tools | None, tool_choice: Any, fields: ChatOptionFields
) -> ChatRequest:
    options = replace(changed(decoder.options, fields), tool_choice=read_tool_choice(tool_choice))
    documentation = read_tools(tools)
    prepared = chat_request(read_messages(messages), documentation, options, decoder.tokenizer)
    if len(documentation.lookup):
        for misfit in chat_misfits(options.format, decoder.tokenizer):
            warnings.warn(misfit, stacklevel=4)
    return prepared
