"""Synthetic tools: a verb, a noun and parameters. Names use some words, descriptions and users use others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from training.synthetic.lexicon import Draw
from training.synthetic.parameters import Parameter, draw_parameters, spoken
from training.synthetic.words import NOUN_SYNONYMS, SUFFIXES, VERB_GROUPS


@dataclass(frozen=True)
class Tool:
    """A tool that does something (one of ``verbs``, which mean the same) to ``thing``."""

    name: str
    verbs: Sequence[str]
    thing: str
    description: str
    parameters: tuple[Parameter, ...]

    @property
    def required(self) -> list[str]:
        """Required keys, in documentation order."""
        return [p.key for p in self.parameters if p.required]

    def action(self, d: Draw) -> str:
        """Draw a user's words for what the tool does: any of its verbs, at times a synonym of its noun."""
        verb = spoken(d.choice(list(self.verbs)))
        *modifiers, noun = self.thing.split(" ")
        if d.chance(0.3):
            noun = d.choice(NOUN_SYNONYMS.get(noun, (noun,)))
        article = d.choice(["the", "a", "my", "the", "the"])
        return " ".join([verb, article, *modifiers, noun])


def styled(d: Draw, parts: Sequence[str]) -> str:
    """Join words to a name in a random style: CamelCase, snake_case, camelCase or dotted."""
    shape = d.random()
    if shape < 0.4:
        return "".join(p.capitalize() for p in parts)
    if shape < 0.8:
        return "_".join(parts)
    if shape < 0.88:
        return parts[0] + "".join(p.capitalize() for p in parts[1:])
    if shape < 0.94:
        return f"{parts[-1]}.{'_'.join(parts)}"
    return f"{d.choice([d.pseudo_word().capitalize(), parts[-1].capitalize() + 'Service'])}.{'_'.join(parts)}"


def _describe(d: Draw, verbs: Sequence[str], thing: str, parameters: Sequence[Parameter]) -> str:
    verb = spoken(d.choice(list(verbs)))
    if d.chance(0.2):
        noun = thing.split(" ")[-1]
        thing = thing.replace(noun, d.choice(NOUN_SYNONYMS.get(noun, (noun,))))
    keys = ", ".join(p.key for p in parameters) or "no input"
    return d.choice(
        [
            f"This API is used to {verb} the {thing}.",
            f"{verb.capitalize()} a {thing}",
            f"{verb.capitalize()} the {thing} of the user.",
            f"A service to {verb} the {thing}.",
            f"Lets you {verb} the {thing}.",
            f"Use it to {verb} the {thing}, given {keys}.",
            f"{verb.capitalize()} the {thing} based on the given parameters",
            f"{thing.capitalize()}: {verb} it",
            f"API for users who want to {verb} a {thing}",
        ]
    )


def make_tool(d: Draw, most_parameters: int, optional_share: float, nested: bool, like: Tool | None = None) -> Tool:
    """Draw a tool; if ``like`` is given, it shares that tool's verbs or thing."""
    verbs = d.choice(VERB_GROUPS)
    noun = d.choice(d.words.nouns) if d.chance(0.94) else d.pseudo_word()
    modifier = [d.choice(d.words.modifiers)] if d.chance(0.35) else []
    thing = " ".join([*modifier, noun])
    if like is not None:
        if d.chance(0.5):
            thing = like.thing
        else:
            verbs = tuple(like.verbs)
    named = d.choice(verbs[:2]) if d.chance(0.7) else d.choice(verbs)
    parts = [*named.split("_"), *thing.split(" ")]
    if d.chance(0.12):
        parts.append(d.choice(SUFFIXES).lower())
    if d.chance(0.06):
        parts = [p for p in parts if p not in named.split("_")] or parts
    count = min(most_parameters, d.choices(range(8), [0.04, 0.2, 0.24, 0.22, 0.14, 0.08, 0.05, 0.03])[0])
    parameters = draw_parameters(d, count, thing, optional_share, nested)
    return Tool(styled(d, parts), verbs, thing, _describe(d, verbs, thing, parameters), parameters)


def make_tools(d: Draw, count: int, most_parameters: int, nested: bool) -> list[Tool]:
    """Draw tools with distinct names; some resemble another one, and at times all belong to one service."""
    optional_share = d.choice([0.0, 0.2, 0.4, 0.6])
    drawn: dict[str, Tool] = {}
    family = _draw_family(d) if d.chance(0.25) else "{}"
    while len(drawn) < count:
        like = d.choice(list(drawn.values())) if drawn and d.chance(0.4) else None
        tool = make_tool(d, most_parameters, optional_share, nested, like)
        drawn.setdefault(tool.name, tool)
    return [replace(tool, name=family.format(name)) for name, tool in drawn.items()]


def _draw_family(d: Draw) -> str:
    """Draw what the names of a service's tools have in common; ``{}`` stands for the rest of a name."""
    word = d.choice([d.choice(d.words.nouns), d.pseudo_word()])
    title = word.capitalize()
    before = [f"{title}_{d.randint(1, 9)}_", f"{word}_", f"{word}.", title, f"{word}_api.{title}Api.", f"{title}Api."]
    return d.choice([*(f"{text}{{}}" for text in before), f"{word}_controller.{{}}", f"{{}}_{word}"])
