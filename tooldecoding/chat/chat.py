"""From messages and tools to the assistant's next message, at once or piece by piece."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from transformers import PreTrainedTokenizerBase

from tooldecoding.calls.decoded_call import DecodedCall
from tooldecoding.chat.call_ids import new_ids
from tooldecoding.chat.messages import Conversation, ToolCall, read_messages
from tooldecoding.chat.printed_tools import with_tools
from tooldecoding.chat.rendering import conversation_prompt
from tooldecoding.chat.reply import CallPiece, ChatMessage
from tooldecoding.chat.template_habits import habits_of
from tooldecoding.chat.tools import read_tool_choice, read_tools
from tooldecoding.decoder import Request, ToolDecoder, Tools
from tooldecoding.errors import ChatWarning, PromptError
from tooldecoding.options import DecodeOptions, changed
from tooldecoding.prompts.choose_format import chat_format, chat_misfits
from tooldecoding.prompts.documentation import Documentation
from tooldecoding.result import DecodeResult
from tooldecoding.text_stream import TextPiece

StreamPiece = TextPiece | CallPiece | ChatMessage


def chat_request(
    conversation: Conversation,
    documentation: Documentation,
    options: DecodeOptions,
    tokenizer: PreTrainedTokenizerBase,
) -> Request:
    """Return the request for a conversation.

    Without tools, the tool choice ``auto`` becomes ``none``. The tools are printed by the chat template, or by
    ``tooldecoding.chat.printed_tools`` if it prints none.

    Raises
    ------
    ToolDecodingError
        If there is no chat template, it refuses the conversation, or it writes calls in no known format.
    """
    options = options.in_conversation()
    if not len(documentation.lookup) and options.tool_choice == "auto":
        options = replace(options, tool_choice="none")
    options = replace(options, format=chat_format(options, tokenizer))
    habits = habits_of(tokenizer)
    tools = documentation.as_chat_tools(options.documentation, habits.bare_tools)
    if not habits.prints_tools:
        conversation = with_tools(conversation, documentation, options.documentation, options.call_format, habits)
        tools = []
    text = conversation_prompt(conversation, tools, habits, tokenizer)
    return Request(text, documentation.lookup, options, special_tokens=False)


def reply_to(conversation: Conversation, result: DecodeResult, tokenizer: PreTrainedTokenizerBase) -> ChatMessage:
    """Return the message for what was decoded behind a conversation."""
    return ReplyPieces(conversation, tokenizer).whole(result)


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
        [new] = new_ids(habits_of(self._tokenizer).ids, self._earlier, [call.name])
        self._earlier.append(ToolCall(new, call.name, call.arguments))
        self._ids.append(new)
        return new


class Asked(NamedTuple):
    """What ``ToolDecoder.chat`` and ``stream`` are given beside messages."""

    tools: Tools | None
    tool_choice: Any
    parallel: Any
    options: DecodeOptions | None
    fields: Mapping[str, Any]


def chat(decoder: ToolDecoder, messages: Any, asked: Asked) -> ChatMessage | list[ChatMessage]:
    """Return the assistant's next message, or those of several conversations; see ``ToolDecoder.chat``."""
    several = isinstance(messages, list | tuple) and bool(messages) and isinstance(messages[0], list | tuple)
    read = [read_messages(each, f"conversation {n}: messages") for n, each in enumerate(messages)] if several else None
    conversations = [read_messages(messages)] if read is None else read
    results = decoder.run(_requests(decoder, conversations, asked))
    replies = [reply_to(c, result, decoder.tokenizer) for c, result in zip(conversations, results, strict=True)]
    return replies if several else replies[0]


def stream(decoder: ToolDecoder, messages: Any, asked: Asked) -> Iterator[StreamPiece]:
    """Return the pieces of the assistant's next message; see ``ToolDecoder.stream``."""
    conversation = read_messages(messages)
    [request] = _requests(decoder, [conversation], asked)
    return map(ReplyPieces(conversation, decoder.tokenizer).of, decoder.stream_run(request))


def _requests(decoder: ToolDecoder, conversations: Sequence[Conversation], asked: Asked) -> list[Request]:
    if not isinstance(asked.parallel, bool | None):
        raise PromptError(f"parallel_tool_calls: expected True or False, found {asked.parallel!r:.40}")
    options = changed(decoder.options, asked.fields, asked.options)
    if asked.tool_choice is not None:
        options = replace(options, tool_choice=read_tool_choice(asked.tool_choice))
    if asked.parallel is False:
        options = replace(options, max_calls=1)
    documentation = read_tools(asked.tools)
    requests = [chat_request(each, documentation, options, decoder.tokenizer) for each in conversations]
    if len(documentation.lookup):
        for misfit in chat_misfits(requests[0].options.format, decoder.tokenizer):
            warnings.warn(misfit, ChatWarning, stacklevel=4)
    return requests
