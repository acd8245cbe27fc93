"""Endless synthetic tools and dialogues in API-Bank's manner, seeded, of our own wording."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from tooldecoding.call_format import Call
from tooldecoding.training import words as w
from tooldecoding.training.dialogue import Line, TrainingDialogue
from tooldecoding.training.values import GENERIC_CLAUSES, KINDS, Kind, pseudo_word


@dataclass(frozen=True)
class Size:
    """How large a dialogue may grow: numbers of tools, parameters a tool, and calls."""

    tools: int = 3
    parameters: int = 5
    calls: int = 5


@dataclass(frozen=True)
class Parameter:
    """An input parameter with the kind that its values are drawn from."""

    key: str
    kind: Kind
    description: str
    optional: bool


@dataclass(frozen=True)
class Tool:
    """A tool with what the dialogue needs to speak of it."""

    name: str
    action: str
    description: str
    parameters: tuple[Parameter, ...]
    outputs: Mapping[str, Kind]

    def documentation(self) -> dict[str, Any]:
        """The description object as API-Bank prints it."""
        return {
            "name": self.name,
            "description": self.description,
            "input_parameters": {p.key: {"type": p.kind.type, "description": p.description} for p in self.parameters},
            "output_parameters": {
                key: {"type": kind.type, "description": f"The {key.replace('_', ' ')}."}
                for key, kind in self.outputs.items()
            },
        }


def _tool_name(rng: Random, nouns: list[str]) -> tuple[str, str]:
    """A name and the action that it stands for, such as ``QueryStock`` and "query the stock"."""
    verb, noun = rng.choice(w.VERBS), rng.choice(nouns)
    if rng.random() < 0.07:
        noun = pseudo_word(rng)
    parts = [*verb.split("_")]
    thing = noun
    if rng.random() < 0.4:
        modifier = rng.choice(w.MODIFIERS)
        parts.append(modifier)
        thing = f"{modifier} {noun}"
    parts.append(noun)
    if rng.random() < 0.15:
        parts.append(rng.choice(w.SUFFIXES).lower())
    if rng.random() < 0.1:
        parts = parts[len(verb.split("_")) :]
    shape = rng.random()
    if shape < 0.78:
        name = "".join(part.capitalize() for part in parts)
    elif shape < 0.94:
        name = "_".join(parts)
    else:
        name = parts[0] + "".join(part.capitalize() for part in parts[1:])
    return name, f"{verb.replace('_', ' ')} the {thing}"


def _parameter(rng: Random, kind: Kind, thing: str, nouns: list[str]) -> Parameter:
    key = rng.choice(kind.keys)
    if rng.random() < 0.3:
        extra = rng.choice(nouns if rng.random() < 0.8 else [pseudo_word(rng)])
        key = f"{extra}_{rng.choice(['name', 'value', 'info', key, key, key])}"
    said = key.replace("_", " ")
    description = rng.choice(
        [f"The {said} of the {thing}.", f"The {said}.", f"{said.capitalize()} to use.",
         f"The {said} that the user gives.", f"{said.capitalize()} of the {thing}", f"The {thing}'s {said}."]
    )  # fmt: skip
    if kind.hint and rng.random() < 0.8:
        description += f" {kind.hint}"
    optional = rng.random() < 0.08
    return Parameter(key, kind, f"[Optional] {description}" if optional else description, optional)


def make_tool(rng: Random, size: Size, nouns: list[str]) -> Tool:
    """A tool with distinct keys; a kind occurs once, so that a value fits one key only."""
    name, action = _tool_name(rng, nouns)
    thing = action.split(" the ")[1]
    weights = [0.04, 0.2, 0.26, 0.24, 0.16, 0.1][: size.parameters + 1]
    count = rng.choices(range(len(weights)), weights)[0]
    if size.parameters <= 2:
        count = max(count, 1)
    drawn: dict[str, Parameter] = {}
    for kind in rng.sample(KINDS, count):
        parameter = _parameter(rng, kind, thing, nouns)
        drawn.setdefault(parameter.key, parameter)
    parameters = tuple(drawn.values())
    description = rng.choice(
        [f"This API is used to {action}.", f"Lets you {action}.", f"{action.capitalize()}.", f"A service to {action}.",
         f"Use it to {action}, given the {', '.join(p.key for p in parameters) or 'session'}."]
    )  # fmt: skip
    outputs: dict[str, Kind] = {}
    for kind in rng.sample(KINDS, rng.choice([0, 1, 1, 2])):
        outputs[rng.choice(kind.keys)] = kind
    if not outputs or rng.random() < 0.3:
        outputs = {"status": Kind("str", ("status",), (), lambda r: ("", r.choice(["success", "ok", "done"])))}
    return Tool(name, action, description, parameters, outputs)


def _chain(rng: Random, tools: list[Tool]) -> list[Tool]:
    """Make the first tool return what the others need: an added key such as ``token``."""
    kind = rng.choice(KINDS[3:5])
    key = rng.choice(kind.keys)
    first = tools[0]
    giver = Tool(first.name, first.action, first.description,
                 tuple(p for p in first.parameters if p.key != key), {key: kind})  # fmt: skip
    linked = [giver]
    for tool in tools[1:]:
        rest = [p for p in tool.parameters if p.key != key][:4]
        added = Parameter(key, kind, rng.choice([f"The {key} of the user.", f"User's {key}."]), False)
        rest.insert(0 if rng.random() < 0.7 else rng.randint(0, len(rest)), added)
        linked.append(Tool(tool.name, tool.action, tool.description, tuple(rest), tool.outputs))
    return linked


def _clause(rng: Random, parameter: Parameter, said: str) -> str:
    templates = parameter.kind.clauses if parameter.kind.clauses and rng.random() < 0.5 else GENERIC_CLAUSES
    return rng.choice(templates).format(k=parameter.key.replace("_", " "), v=said)


def _join(rng: Random, clauses: list[str]) -> str:
    if len(clauses) < 2:
        return "".join(clauses)
    return ", ".join(clauses[:-1]) + rng.choice([", ", " and ", ", and "]) + clauses[-1]


class DialogueWriter:
    """Writes the turns of one dialogue; remembers the values that tools have returned."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.turns: list[Line | Call] = []
        self.known: dict[str, Any] = {}

    def _say(self, role: str, text: str) -> None:
        self.turns.append(Line(f"{role}: {text[:1].upper()}{text[1:]}"))

    def call(self, tool: Tool) -> None:
        """The turns that lead to a call of the tool, the call, its response and an answer."""
        rng = self.rng
        arguments: dict[str, Any] = {}
        told: list[tuple[Parameter, str]] = []
        for parameter in tool.parameters:
            if parameter.key in self.known and rng.random() < 0.95:
                arguments[parameter.key] = self.known[parameter.key]
            elif not parameter.optional or rng.random() < 0.4:
                said, value = parameter.kind.sample(rng)
                arguments[parameter.key] = value
                told.append((parameter, said))
        rng.shuffle(told)
        self._ask(tool, told)
        self.turns.append(Call(tool.name, arguments))
        self._respond(tool)

    def _ask(self, tool: Tool, told: list[tuple[Parameter, str]]) -> None:
        rng = self.rng
        at_once = len(told) if rng.random() < 0.5 else rng.randint(0, len(told))
        clauses = [_clause(rng, p, said) for p, said in told[:at_once]]
        request = rng.choice(
            [f"can you {tool.action} for me", f"please {tool.action}", f"I need to {tool.action}",
             f"I would like to {tool.action}", f"help me {tool.action}", f"I want to {tool.action}"]
        )  # fmt: skip
        if clauses:
            self._say("User", request + rng.choice([", ", ". ", "? ", ": ", " "]) + _join(rng, clauses) + ".")
        else:
            self._say("User", request + rng.choice([".", "?", "", " now."]))
        rest = told[at_once:]
        while rest:
            group, rest = (rest, []) if rng.random() < 0.5 else (rest[:1], rest[1:])
            wanted = _join(rng, ["the " + p.key.replace("_", " ") for p, _ in group])
            self._say("AI", rng.choice([f"sure, what is {wanted}?", f"please tell me {wanted}.", f"I need {wanted}.",
                                        f"of course. Could you give me {wanted}?"]))  # fmt: skip
            if len(group) == 1 and rng.random() < 0.35:
                self._say("User", group[0][1] + rng.choice(["", "."]))
            else:
                self._say("User", _join(rng, [_clause(rng, p, said) for p, said in group]) + ".")
        if rng.random() < 0.2:
            self._say("AI", rng.choice(["one moment.", "let me do that.", "thanks, working on it.", "okay."]))

    def _respond(self, tool: Tool) -> None:
        rng = self.rng
        output: dict[str, Any] = {key: kind.sample(rng)[1] for key, kind in tool.outputs.items()}
        self.known.update({key: v for key, v in output.items() if key != "status" and isinstance(v, str)})
        shown: Any = output
        if len(output) == 1 and not self.known.keys() & output.keys():
            shown = rng.choice([output, *output.values()])
        self.turns.append(Line("API-Response: " + json.dumps(shown, ensure_ascii=False)))
        if rng.random() < 0.6:
            key, value = rng.choice(list(output.items()))
            told = f"the {key.replace('_', ' ')} is {value}."
            done = f"I was able to {tool.action}."
            self._say("AI", rng.choice(["done.", "it is done.", "all set, anything else?", told, done]))


def make_dialogue(rng: Random, size: Size, held_out: bool = False) -> TrainingDialogue:
    """One dialogue with its tools; ``held_out`` names tools by nouns that training never uses."""
    nouns = w.HELD_OUT_NOUNS if held_out else w.NOUNS
    drawn: dict[str, Tool] = {}
    for _ in range(rng.randint(1, size.tools)):
        tool = make_tool(rng, size, nouns)
        drawn.setdefault(tool.name, tool)
    tools = list(drawn.values())
    chained = len(tools) > 1 and rng.random() < 0.5
    if chained:
        tools = _chain(rng, tools)
    writer = DialogueWriter(rng)
    if chained:
        writer.call(tools[0])
    for _ in range(rng.randint(1, max(1, size.calls - chained))):
        writer.call(rng.choice(tools[1:] if chained else tools))
    documented = list(tools)
    rng.shuffle(documented)
    return TrainingDialogue(tuple(tool.documentation() for tool in documented), tuple(writer.turns))


def dialogues(seed: int, size: Size | None = None, held_out: bool = False) -> Iterator[TrainingDialogue]:
    """An endless stream; the same seed gives the same dialogues."""
    rng = Random(f"synthetic-{seed}-{held_out}")
    while True:
        yield make_dialogue(rng, size or Size(), held_out)
