"""Synthetic chats: requests as people type them to an assistant, with results and with answers that call nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.dialogue import ToolResponse, Utterance
from training.answer import Answer
from training.example import TEMPLATES, Example, ExampleTurn
from training.synthetic.concepts import CONCEPTS
from training.synthetic.dialogues import make_dialogue
from training.synthetic.documentation import print_tools
from training.synthetic.everyday import EVERYDAY, ask_everyday, everyday_tool
from training.synthetic.lexicon import Draw
from training.synthetic.parameters import spoken
from training.synthetic.questions import Size, ask_again, ask_in_vain, ask_once, ask_several, choose
from training.synthetic.tools import Tool, make_tools
from training.synthetic.values import joined

SYSTEMS = (
    "You are a helpful assistant.", "You are an assistant with access to functions.", "You help users of our app.",
    "Answer briefly.", "You are a friendly assistant. Use the functions where they help.", "Be concise and correct.",
    "You are the assistant of a small company.", "Call a function only if it fits.",
)  # fmt: skip
OPENERS = (
    "hey", "hi", "hello", "ok", "ok so", "so", "hey there", "good morning", "good evening", "alright", "hmm", "well",
    "quick question", "one more thing", "sorry", "yo", "listen", "right", "when you have a minute", "hello again",
    "as I said", "just checking", "not sure if you can do this, but", "my boss asked me", "for tomorrow",
)  # fmt: skip
CLOSERS = (
    "thanks", "thx", "thank you", "please", "pls", "asap", "if you can", "cheers", "ty", "no rush", ":)", "many thanks",
    "that would be great", "when you get a chance", "thanks in advance", "would be awesome", "ok?", "right now", "!!",
)  # fmt: skip
REFUSALS = (
    "I can't do that with the functions I have.", "Sorry, none of my functions can do that.",
    "There is no function for this.", "I'm afraid I cannot help with that here.",
)  # fmt: skip
SMALL_TALK = (
    (("hi", "hello", "hey there", "good morning", "hi!", "hey"), "Hello! What can I do for you?"),
    (("thanks", "thank you so much", "thx!", "great, thanks", "perfect, thank you"), "You're welcome!"),
    (("bye", "that's all", "ok bye", "that was everything, bye", "no, that is all"), "Goodbye!"),
    (("how are you", "how's it going?", "you ok?"), "I'm fine, thank you. What can I do for you?"),
    (("who are you?", "are you a bot", "what are you"), "I'm an assistant that calls functions for you."),
)  # fmt: skip
REPORTS = ("Done.", "It is done.", "All set.", "Here you go: {v}.", "The {k} is {v}.", "I got this: {v}.", "{k}: {v}.")


def typed(d: Draw, text: str) -> str:
    """Return a request as people type it: with an opener, a closer, without capitals or full stops at its ends."""
    if d.chance(0.3):
        text = f"{d.choice(OPENERS)}{d.choice([', ', ' ', '. ', '! '])}{text[:1].lower()}{text[1:]}"
    if d.chance(0.25):
        text = f"{text.rstrip('.?!')}{d.choice([' ', ', ', '. ', '? '])}{d.choice(CLOSERS)}"
    if d.chance(0.25):
        text = text[:1].lower() + text[1:].rstrip(".")
    return text


def ask_briefly(d: Draw, tool: Tool) -> tuple[str, tuple[Call, ...]]:
    """Draw a request of few words, such as ``weather report Rome 3``: bare values behind the verb and the thing."""
    chosen = choose(d, tool)
    if len(chosen) > 2:
        return ask_once(d, tool)
    said = d.choice([" ", ", ", ": "]).join(s.alone for _, s in chosen)
    action = d.choice([f"{spoken(d.choice(list(tool.verbs)))} {tool.thing}", tool.thing])
    return f"{action} {said}".strip(), (Call(tool.name, {p.key: s.value for p, s in chosen}),)


@dataclass(frozen=True)
class _Service:
    """Tools, and what users type: a request with its calls, one that no tool fits, one that leaves out all values."""

    tools: Sequence[Tool]
    ask: Callable[[Draw], tuple[str, tuple[Call, ...]]]
    in_vain: Callable[[Draw], str]
    bare: Callable[[Draw, Tool], str]


def _random_service(d: Draw, size: Size) -> _Service:
    """Draw tools of random verbs and nouns."""
    tools = make_tools(d, d.randint(1, size.tools), size.parameters, size.nested)

    def ask(d: Draw) -> tuple[str, tuple[Call, ...]]:
        shape = d.random()
        if shape < 0.15:
            return ask_again(d, d.choice(tools))
        if shape < 0.27 and len(tools) > 1:
            return ask_several(d, d.sample(tools, d.randint(2, min(3, len(tools)))))
        return (ask_briefly if shape < 0.4 else ask_once)(d, d.choice(tools))

    return _Service(tools, ask, lambda d: ask_in_vain(d, tools), lambda d, tool: tool.action(d))


def _everyday_service(d: Draw, size: Size) -> _Service:
    """Draw everyday tools."""
    kinds = d.sample(EVERYDAY, d.randint(1, size.tools + 2))
    offered = {tool.name: (tool, kind) for kind in kinds for tool in [everyday_tool(d, kind)]}
    known = {word for kind in kinds for name in kind.names for word in name.split(" ")}
    others = [kind for kind in EVERYDAY if known.isdisjoint(" ".join(kind.names).split(" "))]

    def ask_one(d: Draw, name: str, twice: bool = False) -> tuple[str, tuple[Call, ...]]:
        tool, kind = offered[name]
        return ask_everyday(d, kind, tool, twice)

    def ask(d: Draw) -> tuple[str, tuple[Call, ...]]:
        names = list(offered)
        if len(names) > 1 and d.chance(0.15):
            asked = [ask_one(d, name) for name in d.sample(names, 2)]
            return d.choice([" and ", ". ", ", then ", ". also "]).join(text.rstrip("?.!") for text, _ in asked), tuple(
                call for _, calls in asked for call in calls
            )
        return ask_one(d, d.choice(names), twice=d.chance(0.15))

    def in_vain(d: Draw) -> str:
        kind = d.choice(others)
        return ask_everyday(d, kind, everyday_tool(d, kind))[0]

    tools = [tool for tool, _ in offered.values()]
    return _Service(tools, ask, in_vain, lambda d, tool: offered[tool.name][1].bare)


def _results(d: Draw, calls: Sequence[Call]) -> list[ExampleTurn]:
    """Draw the result of each call, and what the assistant says of them."""
    found: list[dict[str, Any]] = []
    for _ in calls:
        concept = d.choice(CONCEPTS)
        found.append({d.choice(concept.keys): concept.sample(d)[1]} | ({"ok": True} if d.chance(0.2) else {}))
    turns: list[ExampleTurn] = [
        ToolResponse(call.name, d.choice([row, row, [row], next(iter(row.values()))]))
        for call, row in zip(calls, found, strict=True)
    ]
    reports = [d.choice(REPORTS).format(k=spoken(key).capitalize(), v=row[key]) for row in found for key in [*row][:1]]
    return [*turns, Utterance("assistant", " ".join(dict.fromkeys(reports)))]


def _exchange(d: Draw, service: _Service) -> list[ExampleTurn]:
    """Draw a request with what follows it."""
    shape = d.random()
    if shape < 0.08:
        said, answer = d.choice(SMALL_TALK)
        return [Utterance("user", d.choice(said)), Utterance("assistant", answer)]
    if shape < 0.22:
        return [Utterance("user", typed(d, service.in_vain(d))), Answer(refusal=d.choice(REFUSALS))]
    text, calls = service.ask(d)
    turns: list[ExampleTurn] = []
    tool = next(tool for tool in service.tools if tool.name == calls[0].name)
    if len(calls) == 1 and tool.required and shape < 0.3:  # the assistant has to ask first
        needed = joined(d, [f"the {spoken(key)}" for key in tool.required])
        turns.append(Utterance("user", typed(d, f"{d.choice(['', 'please ', 'can you '])}{service.bare(d, tool)}")))
        turns.append(Utterance("assistant", f"Please tell me {needed}."))
    turns += [Utterance("user", typed(d, text)), Answer(calls)]
    return turns + _results(d, calls) if d.chance(0.75) else turns


def make_chat(d: Draw, size: Size, template: str = "hermes") -> Example:
    """Draw tools and a chat about them with one to ``size.calls`` requests."""
    shape = d.random()
    if shape < 0.25:
        example = make_dialogue(d, size, template)
        tools, required, turns = example.tools, example.required, [*example.turns]
    else:
        service = (_everyday_service if shape < 0.6 else _random_service)(d, size)
        tools, required = print_tools(d, service.tools, template), {tool.name: tool.required for tool in service.tools}
        turns = [turn for _ in range(d.randint(1, size.calls)) for turn in _exchange(d, service)]
    if d.chance(0.4):
        turns.insert(0, Utterance("system", d.choice(SYSTEMS)))
    return Example(tools, required, tuple(turns), TEMPLATES[template])
