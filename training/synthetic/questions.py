"""Synthetic single requests: for one call, for several at once, or for none because no tool fits."""

from collections.abc import Sequence
from dataclasses import dataclass

from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.dialogue import Utterance
from training.answer import Answer
from training.example import TEMPLATES, Example, ExampleTurn
from training.synthetic.documentation import print_tools
from training.synthetic.lexicon import Draw
from training.synthetic.parameters import Parameter, Said
from training.synthetic.tools import Tool, make_tool, make_tools
from training.synthetic.values import city, joined, person, phrase

REFUSALS = ("None of these functions can do that.",)
REQUESTS = (
    "can you {a}", "please {a}", "{a}", "I need to {a}", "I would like to {a}", "help me {a}", "I want to {a}",
    "could you {a} for me", "{a} for me", "how can I {a}", "would you {a}", "I'd like you to {a}", "go ahead and {a}",
    "let's {a}", "kindly {a}", "is it possible to {a}",
)  # fmt: skip
IDLE_REQUESTS = (
    "tell me a joke", "what is the meaning of life", "who won the game last night", "write a poem about {x}",
    "explain {x} to me", "thank you, that is all", "what do you think of {x}", "why is the sky blue",
    "how are you today", "sing me a song about {x}", "what is the capital of {c}", "who is {p}",
)  # fmt: skip


@dataclass(frozen=True)
class Size:
    """Most tools, parameters of a tool and answers of a synthetic example; ``nested`` allows objects."""

    tools: int = 3
    parameters: int = 5
    calls: int = 5
    nested: bool = True


def sentence_case(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def choose(d: Draw, tool: Tool) -> list[tuple[Parameter, Said]]:
    """Draw the parameters that a user fills, in documentation order, each with what the user says."""
    return [(p, p.say(d)) for p in tool.parameters if p.required or d.chance(0.4)]


def chatter(d: Draw) -> str:
    """Draw a sentence that has nothing to do with the call."""
    return d.choice(
        [
            "Hi there!",
            "Hello.",
            f"I am planning a trip to {city(d)} with {person(d)}.",
            f"My friend {person(d)} told me about this.",
            f"We talked about {phrase(d)} yesterday.",
            f"I have been busy with {phrase(d)}.",
            f"It has been {d.randint(2, 40)} days already.",
            f"I'm back from {city(d)}.",
            "I hope you can help me.",
            "Sorry to bother you again.",
            f"This is {person(d)} speaking.",
        ]
    )


def tell(d: Draw, action: str, said: Sequence[Said]) -> str:
    """Write a request with all its clauses, in one sentence or several."""
    request = d.choice(REQUESTS).format(a=action)
    clauses = [s.clause for s in said]
    d.shuffle(clauses)
    inline = len(clauses) if d.chance(0.6) else d.randint(0, len(clauses))
    if d.chance(0.15) and clauses and inline == len(clauses):
        text = f"{joined(d, clauses)}: {request}"
    elif d.chance(0.6):
        text = " ".join([request, *clauses[:inline]])
    else:
        text = request + (d.choice([", ", ": ", " "]) + joined(d, clauses[:inline]) if inline else "")
    text += d.choice([".", "?", "", ".", "!"])
    for clause in clauses[inline:]:
        text = f"{text.rstrip('?!.')}. {sentence_case(clause)}."
    text = sentence_case(text)
    if d.chance(0.2):
        text = f"{chatter(d)} {text}" if d.chance(0.7) else f"{text} {chatter(d)}"
    return text[:1].lower() + text[1:] if d.chance(0.15) else text


def ask_once(d: Draw, tool: Tool) -> tuple[str, tuple[Call, ...]]:
    """Draw a request and its one call."""
    chosen = choose(d, tool)
    call = Call(tool.name, {p.key: s.value for p, s in chosen})
    return tell(d, tool.action(d), [s for _, s in chosen]), (call,)


def ask_again(d: Draw, tool: Tool) -> tuple[str, tuple[Call, ...]]:
    """Draw a request for several calls of one tool that differ in one parameter."""
    chosen = choose(d, tool)
    if not chosen:
        return ask_once(d, tool)
    varied = d.choice([p for p, _ in chosen])
    said = [varied.say(d) for _ in range(d.randint(2, 3))]
    calls = tuple(Call(tool.name, {p.key: (one.value if p is varied else s.value) for p, s in chosen}) for one in said)
    clauses = [s for p, s in chosen if p is not varied]
    both = Said(d.choice([joined(d, [s.clause for s in said]), "; then ".join(s.clause for s in said),
                          " and also ".join(s.clause for s in said)]), "", None)  # fmt: skip
    return tell(d, tool.action(d), [*clauses, both]), calls


def ask_several(d: Draw, tools: Sequence[Tool]) -> tuple[str, tuple[Call, ...]]:
    """Draw a request for one call of each of several tools."""
    asked = [ask_once(d, tool) for tool in tools]
    link = d.choice([" Also, ", " Then ", " After that, ", " And ", " Finally, ", " "])
    first, *rest = (text for text, _ in asked)
    text = first + "".join(link + (r[:1].lower() + r[1:] if link != " " else r) for r in rest)
    return text, tuple(call for _, calls in asked for call in calls)


def ask_in_vain(d: Draw, tools: Sequence[Tool]) -> str:
    """Draw a request that none of the tools fits: for another thing, or for nothing that tools do."""
    if d.chance(0.3):
        idle = d.choice(IDLE_REQUESTS).format(x=phrase(d), c=city(d), p=person(d))
        return sentence_case(idle) + d.choice(["?", ".", ""])
    names = {tool.thing.split(" ")[-1] for tool in tools}
    while True:
        other = make_tool(d, 3, 0.3, nested=False)
        if other.thing.split(" ")[-1] not in names:
            return ask_once(d, other)[0]


def make_questions(d: Draw, size: Size, template: str) -> Example:
    """Draw tools and one to ``size.calls`` requests, each answered at once."""
    tools = make_tools(d, d.randint(1, size.tools), size.parameters, size.nested)
    prompt = TEMPLATES[template]
    turns: list[ExampleTurn] = []
    for _ in range(d.randint(1, size.calls)):
        shape = d.random()
        if shape < 0.07:
            turns += [Utterance("user", ask_in_vain(d, tools)), Answer(refusal=d.choice(REFUSALS))]
            continue
        if prompt.parallel and shape < 0.22:
            text, calls = ask_again(d, d.choice(tools))
        elif prompt.parallel and shape < 0.32 and len(tools) > 1:
            text, calls = ask_several(d, d.sample(tools, d.randint(2, min(3, len(tools)))))
        else:
            text, calls = ask_once(d, d.choice(tools))
        turns += [Utterance("user", text), Answer(calls)]
    return Example(print_tools(d, tools, template), {t.name: t.required for t in tools}, tuple(turns), prompt)
