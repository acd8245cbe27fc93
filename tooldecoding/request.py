"""What a decoder is asked for: one prompt, its tools and its options."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lookup import extract
from lookup.dictionary import LookupDictionary
from tooldecoding.chat.documentation import PromptFor
from tooldecoding.chat.messages import Message
from tooldecoding.options import TOOL_CHOICES, DecodeOptions
from tooldecoding.tokens.guarded_text import PromptText

Tools = str | Mapping[str, Any] | Sequence[Any] | Callable[..., Any] | LookupDictionary
"""Documentation text, tools as data, functions, pydantic models, or a lookup dictionary."""


@dataclass(frozen=True)
class PromptsBeside:
    """Other prompts of the same conversation.

    Attributes
    ----------
    question : callable
        Returns the prompt behind which the model asks for what nobody said: takes the name of a tool, and the paths of
        the missing arguments with their descriptions.
    instead : callable
        Returns the same prompt for one message of the user, which it takes, in the place of the conversation.
    requested : callable
        Returns the same prompt up to the last message of the user.
    """

    question: Callable[[str, Sequence[tuple[str, str]]], PromptText]
    instead: Callable[[str], PromptText]
    requested: Callable[[], PromptText]


@dataclass(frozen=True)
class Request:
    """One prompt to decode.

    Attributes
    ----------
    prompt : str, GuardedText or sequence of int
        The text that the model reads, or its token ids. Control texts of a plain text become control tokens.
    tools : LookupDictionary
        The tools that may be called.
    options : DecodeOptions
    special_tokens : bool
        Whether the tokenizer may add its special tokens, such as a beginning of sequence, to a text that does not begin
        with them.
    stop : str, optional
        Ends free text once there is more than white space before it: the newline of prompts in which a line is a turn.
    dialects : bool
        Whether the model may begin a call in its own way, where nobody has named a format.
    conversation : tuple of Message
        What tells which arguments were said; empty if nobody knows who says what in the prompt.
    prompt_for : callable, optional
        Returns the same prompt with the full documentation of one tool alone, by its name: once the model has chosen a
        tool, its call is written behind that. None if ``prompt`` has the full documentation of all.
    answer_prompt : callable, optional
        Returns the prompt without tools of a conversation in which the model need not call: it answers behind that if
        the call that it would make is left out, or it would end without a word. None elsewhere.
    beside : PromptsBeside, optional
        Other prompts of the same conversation, behind which it is decided whether a call, a question or words are due.
    json_answer : Request, optional
        What is decoded in the place of an answer in words, behind ``answer_prompt``: one in JSON.
    """

    prompt: PromptText | Sequence[int]
    tools: LookupDictionary
    options: DecodeOptions
    special_tokens: bool = True
    stop: str | None = None
    dialects: bool = False
    conversation: tuple[Message, ...] = ()
    prompt_for: PromptFor | None = None
    answer_prompt: Callable[[], PromptText] | None = None
    beside: PromptsBeside | None = None
    json_answer: "Request | None" = None

    @property
    def text(self) -> PromptText:
        """The prompt as a text; token ids stand in it as a list."""
        return self.prompt if isinstance(self.prompt, PromptText) else str(list(self.prompt))


def as_lookup(tools: Tools) -> LookupDictionary:
    """Return the lookup dictionary of documentation in any accepted form."""
    return tools if isinstance(tools, LookupDictionary) else extract(tools)


def callable_tools(request: Request) -> LookupDictionary:
    """Return the tools that ``tool_choice`` allows."""
    choice = request.options.choice
    return request.tools if choice in TOOL_CHOICES else LookupDictionary((request.tools[choice],))
