"""Synthetic dialogues: the assistant asks for missing values, and later calls use earlier results."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.dialogue import ToolRequest, ToolResponse, Utterance
from training.answer import Answer
from training.example import TEMPLATES, Example, ExampleTurn
from training.synthetic.concepts import GROUPS
from training.synthetic.documentation import api_bank, print_tools
from training.synthetic.lexicon import Draw
from training.synthetic.parameters import Parameter, Said, concept_parameter, spoken
from training.synthetic.questions import Size, choose, sentence_case, tell
from training.synthetic.tools import Tool, make_tools
from training.synthetic.values import joined


def chained(d: Draw, tools: list[Tool]) -> tuple[list[Tool], str]:
    """Give all tools but the first a parameter that the first one returns, such as ``token``; return it, too."""
    concept = d.choice([*GROUPS["user"][2:3], *GROUPS["id"][:5]])
    added = replace(concept_parameter(d, concept, tools[0].thing, required=True), key=d.choice(concept.keys))
    key = added.key
    giver = replace(tools[0], parameters=tuple(p for p in tools[0].parameters if p.key != key))
    linked = [giver]
    for tool in tools[1:]:
        rest = [p for p in tool.parameters if p.key != key]
        place = 0 if d.chance(0.7) else d.randint(0, len(rest))
        linked.append(replace(tool, parameters=(*rest[:place], added, *rest[place:])))
    return linked, key


class DialogueWriter:
    """Writes the turns of one dialogue.

    Parameters
    ----------
    returned : str
        Key that the first call returns; empty for none. Later calls use its value.
    """

    def __init__(self, d: Draw, returned: str = "") -> None:
        self.d = d
        self.turns: list[ExampleTurn] = []
        self.known: dict[str, Any] = {}
        self.returned = returned

    def _user(self, text: str) -> None:
        self.turns.append(Utterance("user", sentence_case(text)))

    def _assistant(self, text: str) -> None:
        self.turns.append(Utterance("assistant", sentence_case(text)))

    def call(self, tool: Tool) -> None:
        """Add the turns that lead to a call of the tool, the call, its response and, at times, a comment."""
        d = self.d
        known = {p.key: self.known[p.key] for p in tool.parameters if p.key in self.known and d.chance(0.95)}
        told = [(p, s) for p, s in choose(d, tool) if p.key not in known]
        values = {p.key: s.value for p, s in told} | known
        self._ask(tool, told)
        self.turns.append(
            Answer((Call(tool.name, {p.key: values[p.key] for p in tool.parameters if p.key in values}),))
        )
        self._respond(tool)

    def _ask(self, tool: Tool, told: list[tuple[Parameter, Said]]) -> None:
        d = self.d
        d.shuffle(told)
        at_once = len(told) if d.chance(0.45) else d.randint(0, len(told))
        self._user(tell(d, tool.action(d), [s for _, s in told[:at_once]]))
        rest = told[at_once:]
        while rest:
            group, rest = (rest, []) if d.chance(0.5) else (rest[:1], rest[1:])
            asked = joined(d, [self._asked(p) for p, _ in group])
            self._assistant(
                d.choice(
                    [
                        f"sure, what is {asked}?",
                        f"please tell me {asked}.",
                        f"I need {asked}.",
                        f"of course. Could you give me {asked}?",
                        f"could you provide {asked}?",
                        f"and {asked}?",
                    ]
                )
            )
            if len(group) == 1 and d.chance(0.5):
                self._user(group[0][1].alone + d.choice(["", "."]))
            else:
                self._user(joined(d, [s.clause for _, s in group]) + d.choice([".", ""]))
        if d.chance(0.2):
            self._assistant(d.choice(["one moment.", "let me do that.", "thanks, working on it.", "okay."]))

    def _asked(self, parameter: Parameter) -> str:
        """Return how the assistant names a parameter: by its key or by its description."""
        words = spoken(parameter.key)
        short = parameter.description.split(",")[0].split("(")[0].split(".")[0].strip()
        described = short[:1].lower() + short[1:]
        return described if self.d.chance(0.4) else f"the {words}"

    def _respond(self, tool: Tool) -> None:
        d = self.d
        output: dict[str, Any] = {}
        if self.returned and self.returned not in self.known:
            output[self.returned] = d.choice(
                [d.pseudo_word() + str(d.randint(10, 9999)), str(d.randint(10000, 999999))]
            )
            self.known.update(output)
        elif d.chance(0.6):
            output = {"status": d.choice(["success", "ok", "done"])}
        else:
            concept = d.choice([c for group in ("id", "date", "person", "money") for c in GROUPS[group]])
            output = {d.choice(concept.keys): concept.sample(d)[1]}
        shown: Any = output
        if len(output) == 1 and not self.known.keys() & output.keys():
            shown = d.choice([output, *output.values()])
        self.turns.append(ToolResponse(tool.name, shown))
        if d.chance(0.6):
            key, value = d.choice(list(output.items()))
            action = tool.action(d)
            self._assistant(
                d.choice(
                    [
                        "done.",
                        "it is done.",
                        "all set, anything else?",
                        f"the {spoken(key)} is {value}.",
                        f"I was able to {action}.",
                    ]
                )
            )


def make_dialogue(d: Draw, size: Size, template: str) -> Example:
    """Draw tools and a dialogue with one to ``size.calls`` calls."""
    tools = make_tools(d, d.randint(1, size.tools), size.parameters, size.nested and TEMPLATES[template].typed)
    returned = ""
    if len(tools) > 1 and d.chance(0.4):
        tools, returned = chained(d, tools)
    writer = DialogueWriter(d, returned)
    if returned:
        writer.call(tools[0])
    for _ in range(d.randint(1, max(1, size.calls - bool(returned)))):
        writer.call(d.choice(tools[1:] if returned else tools))
    required = {tool.name: tool.required for tool in tools}
    return Example(print_tools(d, tools, template), required, tuple(writer.turns), TEMPLATES[template])


def _searcher(d: Draw) -> tuple[dict[str, Any], str, str]:
    """Draw the documentation of a tool that finds tools; return it with its name and its key."""
    name = d.choice(["ToolSearcher", "ToolSearcher", "ApiFinder", "SearchTools", "find_tool"])
    key = d.choice(["keywords", "keywords", "query", "keyword"])
    description = d.choice(
        [
            "Finds a tool for the keywords.",
            "Searches for tools in the library based on the keywords.",
            "Search the available tools by keyword.",
        ]
    )
    searcher: Mapping[str, Any] = {
        "name": name,
        "description": description,
        "input_parameters": {key: {"type": "str", "description": "What the tool shall do."}},
        "output_parameters": {"best_matches": {"type": "Union[List[dict], dict]", "description": "The tools found."}},
    }
    return dict(searcher), name, key


def make_search(d: Draw, size: Size) -> Example:
    """Draw a dialogue that must search for the tool first; it ends at the search, or at the call after it."""
    [tool] = make_tools(d, 1, size.parameters, nested=False)
    searcher, name, key = _searcher(d)
    writer = DialogueWriter(d)
    writer.call(tool)
    at = next(n for n, turn in enumerate(writer.turns) if isinstance(turn, Answer))
    verb = spoken(d.choice(list(tool.verbs)))
    arguments = {key: f"{verb} {tool.thing}"}
    required = {name: [key], tool.name: tool.required}
    if d.chance(0.4):
        turns = (Utterance("user", sentence_case(f"please {verb} the {tool.thing}.")), Answer((Call(name, arguments),)))
        return Example((searcher,), required, turns, TEMPLATES["api-bank"])
    found = api_bank(d, tool)
    first = writer.turns[0]
    searched = (first, ToolRequest(name, arguments), ToolResponse(name, found))
    return Example((searcher, found), required, (*searched, *writer.turns[1 : at + 1]), TEMPLATES["api-bank"])
