"""An agent: the model calls tools until it answers with text."""

import inspect
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from lookup import DocumentationError, LookupDictionary, ToolDecodingError, ToolSpec
from tooldecoding.agents.agent_tools import MOST_TURNS, AgentTool, ToolFailed, demand_callable, runnable
from tooldecoding.agents.coroutines import settled
from tooldecoding.chat.reply import CallPiece
from tooldecoding.chat.templates import chat_format
from tooldecoding.chat.tools import read_tools
from tooldecoding.decoder import ToolDecoder
from tooldecoding.decoding.compiled_tools import CompiledTools
from tooldecoding.decoding.decoded_call import DecodedCall
from tooldecoding.formats.known_formats import unreadable
from tooldecoding.options import changed

_MOST_WRONG: Final = 1_000
"""Characters of what is wrong with a call: it may show what the model wrote."""


@dataclass(frozen=True)
class Event:
    """What happens in a run of an agent.

    Attributes
    ----------
    kind : str
        ``text`` (the last one is the answer), ``call``, ``result`` (what a call returned, or why it did not), ``end``.
    content : str
        Of a text or a result. Of an end its reason: ``answer``, ``question`` (the last text asks for what nobody said;
        ``run`` with the user's answer goes on), ``length`` (a limit of tokens cut it off), ``turns`` (the last text was
        asked for without tools), ``nothing`` (the model wrote neither text nor a call).
    id, name : str
        Of a call and its result.
    arguments : dict
        Of a call.
    confidence : dict of str to float
        Of each argument, in [0, 1]; see ``tooldecoding.decoding.calibration``.
    call_confidence : float
        Of the whole call.
    server, hints : str
        Who has the tool, and what the server says of it, such as ``readOnlyHint``. Nothing relies on that.
    failed, refused : bool
        Of a result.
    errors : tuple of str
        Of an end by ``length``: what of a call was cut and why, as ``ChatMessage.errors``.
    """

    kind: Literal["text", "call", "result", "end"]
    content: str = ""
    id: str = ""
    name: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    confidence: dict[str, float] = field(default_factory=dict)
    call_confidence: float = 1.0
    server: str = ""
    hints: str = ""
    failed: bool = False
    refused: bool = False
    errors: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON, with the attributes of its kind."""
        names = {
            "call": ("id", "name", "arguments", "confidence", "call_confidence", "server", "hints"),
            "result": ("id", "name", "content", "failed", "refused"),
            "end": ("content", "errors"),
        }.get(self.kind, ("content",))
        return {"event": self.kind} | {name: getattr(self, name) for name in names}


class Agent:
    """Lets a model call tools until it answers with text.

    When no turn is left, the model is asked for its answer without tools. ``ToolDecoder.chat`` does so where it would
    repeat a call of the turn before, or has nothing to say of a result.

    ToolDecodingError if two tools have one name.

    Parameters
    ----------
    tools : sequence of AgentTool or callable
        Those of ``McpServers``, Python functions, also async ones, and dataclasses, ``TypedDict``s and pydantic models,
        of which a call makes one.
    approve : callable, optional
        Takes the event of a call and returns whether the tool is run; by default every call is. A text refuses the
        call, and is what the model is told; of one that is refused without a text it is told that the user did so.
        It may be async, and gets a copy of the arguments: the call runs with those that ``messages`` has. Calls that
        are not valid are not run and not asked for.
    max_turns : int
        How often the model is asked with tools, at most.

    Attributes
    ----------
    messages : list of dict
        The conversation so far, in OpenAI's shape.
    tools : dict of str to AgentTool
        By name.
    lookup : LookupDictionary
        Their documentation; ``ToolSpec.notes`` and ``unenforced`` say what of it is not held.
    notes : list of str
        What is wrong with tools, a line each: those that are left out because their documentation cannot be read or no
        call can obey it, and names that the call format cannot write.
    """

    def __init__(
        self,
        decoder: ToolDecoder,
        tools: Sequence[AgentTool | Callable[..., Any]],
        approve: Callable[[Event], bool | str | Awaitable[bool | str]] | None = None,
        max_turns: int = MOST_TURNS,
    ) -> None:
        options = decoder.options
        if tools:
            options = changed(options, {"format": chat_format(options, decoder.tokenizer)})

        def demand(spec: ToolSpec) -> None:
            demand_callable(spec)
            shortest = CompiledTools(LookupDictionary((spec,)), decoder.table, options).shortest
            if shortest >= (room := decoder.context or shortest + 1):
                raise DocumentationError(f"a call needs at least {shortest} tokens, but the model's context is {room}")

        usable, self.notes = runnable(tools, demand)
        self.messages: list[dict[str, Any]] = []
        self.tools = {tool.name: tool for tool in usable}
        self.lookup = read_tools([tool.documentation for tool in usable]).lookup
        self._decoder = decoder
        self._approve = approve
        self._max_turns = max_turns
        self._last_run: Generator[Event, None, None] | None = None
        if usable:
            names = unreadable(options.call_format, self.lookup)
            self.notes += [f"the format {options.call_format.name} cannot carry {name}" for name in names]

    def run(self, question: str, tool_choice: str | None = None, **options: Any) -> Iterator[Event]:
        """Ask, and yield what happens; a second question goes on with the conversation.

        A run that has not ended is broken off where the next one begins. A question that gets no reply, as where an
        error is raised or Ctrl-C is pressed, is not in ``messages``.

        ToolDecodingError as ``ToolDecoder.chat``, and if a tool or ``approve`` asks the agent that runs it.

        Parameters
        ----------
        tool_choice : str, optional
            As of ``ToolDecoder.chat``, for the first turn; behind a result the model decides.
        **options
            Fields of ``DecodeOptions``.
        """
        if self._last_run is not None:
            if inspect.getgeneratorstate(self._last_run) == inspect.GEN_RUNNING:
                raise ToolDecodingError("this agent is running: ask it when its run has ended, or make another agent")
            self._last_run.close()
        self._last_run = self._events(question, tool_choice, options)
        yield from self._last_run

    def _events(self, question: str, tool_choice: str | None, options: dict[str, Any]) -> Generator[Event, None, None]:
        asked: list[dict[str, Any]] = [{"role": "user", "content": question}]
        documentation = [tool.documentation for tool in self.tools.values()] or None
        for turn in range(1, self._max_turns + 2):
            last = turn > self._max_turns
            choice = "none" if last else tool_choice if turn == 1 else "auto"
            reply = self._decoder.chat([*self.messages, *asked], documentation, choice, **options)
            self.messages += [*asked, reply.message]
            asked, replied = [], len(self.messages)
            try:
                if reply.content:
                    yield Event("text", reply.content)
                if last or not reply.calls:
                    says = bool((reply.content or "").strip())
                    ended = "question" if reply.result.asked else "answer" if says else "nothing"
                    if reply.finish_reason == "length" and not last:
                        yield Event("end", "length", errors=reply.errors)
                    else:
                        yield Event("end", "turns" if last else ended)
                    return
                for piece in reply.call_pieces:
                    yield from self._run(piece)
            finally:  # broken off: a call without a result could not be gone on with
                told = {message.get("tool_call_id") for message in self.messages[replied:]}
                for piece in reply.call_pieces:
                    if piece.id not in told:
                        self._tell(piece.id, "This call was broken off.")

    def _run(self, piece: CallPiece) -> Iterator[Event]:
        call, tool = piece.call, self.tools[piece.call.name]
        sure = {key: call.confidence(key) for key in call.arguments}
        about = (call.name, deepcopy(call.arguments), sure, call.confidence(), tool.server, tool.hints)
        called = Event("call", "", piece.id, *about)
        yield called
        content, ended = self._outcome(called, piece.call)
        returned = Event("result", content, piece.id, call.name, failed=ended != "ran", refused=ended == "refused")
        self._tell(piece.id, content)
        yield returned

    def _outcome(self, called: Event, call: DecodedCall) -> tuple[str, Literal["ran", "failed", "refused"]]:
        """What the model is told of a call, and how it ended; the tool is run if the call is valid and approved."""
        if not call.voted.valid:
            return (
                f"error: the call is not valid and did not run: {'; '.join(call.voted.errors):.{_MOST_WRONG}}",
                "failed",
            )
        approved = self._approve is None or settled(self._approve(called))
        if isinstance(approved, str) or not approved:
            return approved or "The user refused this call.", "refused"
        try:
            return self.tools[call.name].result(deepcopy(call.arguments), self._room), "ran"
        except ToolFailed as error:
            return f"error: {error}", "failed"

    def _tell(self, call: str, content: str) -> None:
        self.messages.append({"role": "tool", "tool_call_id": call, "content": content})

    def _room(self, text: str) -> int:
        """How many characters take a quarter of the context, about: no result ends a run because it is long."""
        tokens = len(self._decoder.tokenizer.encode(text, add_special_tokens=False))
        most = (self._decoder.context or 4 * tokens) // 4
        return len(text) if tokens <= most else len(text) * most // tokens
