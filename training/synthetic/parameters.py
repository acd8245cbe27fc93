"""Parameters of synthetic tools: the documentation uses one wording, the user another."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from training.synthetic.choices import CHOICES, FLAGS, Choice, Flag
from training.synthetic.concepts import CONCEPTS, GROUPS, INTEGER, STRING, Concept
from training.synthetic.lexicon import Draw
from training.synthetic.values import joined


@dataclass(frozen=True)
class Said:
    """A value as a clause of a request, as an answer to a question, and as the call has it."""

    clause: str
    alone: str
    value: Any


@dataclass(frozen=True)
class Parameter:
    """A parameter with its JSON Schema; ``say`` draws a value, ``default`` is ``None`` if there is no default."""

    key: str
    schema: Mapping[str, Any]
    description: str
    required: bool
    say: Callable[[Draw], Said]
    default: Any = None


GENERIC = (
    "the {k} is {v}", "the {k} should be {v}", "{k}: {v}", "use {v} as the {k}", "{v} for the {k}", "with {k} {v}",
    'the {k} is "{v}"', "{k} {v}", "my {k} is {v}", "set the {k} to {v}", "{k} = {v}",
)  # fmt: skip


def spoken(name: str) -> str:
    """Return a key or verb as words."""
    return name.replace("_", " ")


def _generic_clauses(key: str) -> tuple[str, ...]:
    return tuple(clause.replace("{k}", spoken(key)) for clause in GENERIC)


def _restyled(d: Draw, key: str) -> str:
    """Return the key, at times in another style."""
    parts = key.split("_")
    shape = d.random()
    if shape < 0.1:
        return parts[0] + "".join(p.capitalize() for p in parts[1:])
    if shape < 0.12:
        return "".join(p.capitalize() for p in parts)
    if shape < 0.14:
        return "-".join(parts)
    return key


def _from_concept(d: Draw, concept: Concept, thing: str) -> tuple[str, str, tuple[str, ...]]:
    """Draw key, description and clauses."""
    key, description = d.choice(concept.keys), d.choice(concept.descriptions)
    shape = d.random()
    if shape < 0.2:
        noun = d.choice(d.words.nouns) if d.chance(0.8) else d.pseudo_word()
        key = f"{noun}_{key}"
        return key, f"{description} ({noun})", _generic_clauses(key)
    if shape < 0.28:
        key = d.choice([d.pseudo_word(), f"param{d.randint(1, 9)}", "value", "input", "arg", "q", "p1", "p2"])
        return key, description, concept.clauses
    if shape < 0.4:
        return key, f"The {spoken(key)}.", _generic_clauses(key)
    if shape < 0.55:
        description = f"{description} of the {thing}" if " " not in description[-4:] else description
    return key, description, concept.clauses


def _say_concept(concept: Concept, clauses: tuple[str, ...], d: Draw) -> Said:
    said, value = concept.sample(d)
    return Said(d.choice(clauses).replace("{v}", said), said, value)


def concept_parameter(d: Draw, concept: Concept, thing: str, required: bool) -> Parameter:
    """Draw a parameter of one meaning."""
    key, description, clauses = _from_concept(d, concept, thing)
    say = partial(_say_concept, concept, clauses)
    default = concept.sample(d)[1] if not required and d.chance(0.5) else None
    if d.chance(0.12):
        description += f", e.g. {concept.sample(d)[1]}"
    return Parameter(_restyled(d, key), concept.schema, description, required, say, default)


def _say_choice(members: Mapping[str, tuple[str, ...]], clauses: tuple[str, ...], d: Draw) -> Said:
    value = d.choice(list(members))
    said = d.choice([spoken(value), *members[value]]) if d.chance(0.75) else value
    return Said(d.choice(clauses).replace("{v}", said), said, value)


def choice_parameter(d: Draw, choice: Choice, required: bool) -> Parameter:
    """Draw an enum parameter; its members are at times respelled, fewer, or arbitrary words."""
    members = choice.members
    key, description, clauses = d.choice(choice.keys), d.choice(choice.descriptions), choice.clauses
    if d.chance(0.3):
        drawn = d.sample(list(d.words.things), d.randint(2, 5))
        if d.chance(0.3):
            drawn = [d.pseudo_word() for _ in drawn]
        noun = d.choice(d.words.nouns)
        key, description = f"{noun}_{d.choice(['type', 'kind', 'mode', 'category'])}", f"Kind of {noun}"
        members = dict.fromkeys(drawn, ())
        clauses = _generic_clauses(key)
    elif d.chance(0.25):
        respell = d.choice([str.upper, str.capitalize, str.title])
        members = {respell(member): said for member, said in members.items()}
    names = list(members)
    if d.chance(0.5):
        d.shuffle(names)
    if len(names) > 2 and d.chance(0.3):
        names = names[:-1]
    kept = {name: members[name] for name in names}
    default = d.choice(names) if not required and d.chance(0.7) else None
    schema = {"type": "string", "enum": names}
    return Parameter(_restyled(d, key), schema, description, required, partial(_say_choice, kept, clauses), default)


def _say_flag(flag: Flag, d: Draw) -> Said:
    value = d.chance(0.6)
    clause = d.choice(flag.positive if value else flag.negative)
    return Said(clause, d.choice(["yes", "yes please", "true"] if value else ["no", "no thanks", "false"]), value)


def flag_parameter(d: Draw, flag: Flag, required: bool) -> Parameter:
    """Draw a boolean parameter."""
    default = d.chance(0.3) if not required and d.chance(0.7) else None
    key = _restyled(d, d.choice(flag.keys))
    return Parameter(key, {"type": "boolean"}, d.choice(flag.descriptions), required, partial(_say_flag, flag), default)


def _say_object(parts: tuple[Parameter, ...], d: Draw) -> Said:
    said = [(part.key, part.say(d)) for part in parts if part.required or d.chance(0.4)]
    clause = joined(d, [s.clause for _, s in said])
    return Said(clause, clause, {key: s.value for key, s in said})


def object_parameter(d: Draw, required: bool) -> Parameter:
    """Draw a parameter that is an object with two or three documented keys."""
    noun = d.choice(d.words.nouns)
    groups = d.sample([g for g in GROUPS if g != "list"], d.randint(2, 3))
    parts: dict[str, Parameter] = {}
    for number, group in enumerate(groups):
        part = concept_parameter(d, d.choice(GROUPS[group]), noun, number == 0 or d.chance(0.7))
        parts.setdefault(part.key, part)
    members = tuple(parts.values())
    schema = {
        "type": "object",
        "properties": {p.key: {**p.schema, "description": p.description} for p in members},
        "required": [p.key for p in members if p.required],
    }
    key = d.choice([noun, f"{noun}_info", f"{noun}_details", "options", "filter", "details", "params"])
    return Parameter(key, schema, f"What is known of the {noun}", required, partial(_say_object, members))


def _say_items(noun_key: str, count_key: str, d: Draw) -> Said:
    rows = [(d.choice(d.words.dishes), d.randint(1, 9)) for _ in range(d.randint(1, 3))]
    clause = joined(d, [f"{count} {noun}" for noun, count in rows])
    return Said(clause, clause, [{noun_key: noun, count_key: count} for noun, count in rows])


def items_parameter(d: Draw, required: bool) -> Parameter:
    """Draw a parameter that is a list of objects, each with a name and a number."""
    noun_key, count_key = d.choice(["item", "name", "dish", "product"]), d.choice(["quantity", "count", "amount"])
    item = {
        "type": "object",
        "properties": {
            noun_key: {**STRING, "description": "What it is"},
            count_key: {**INTEGER, "description": "How many"},
        },
        "required": [noun_key, count_key],
    }
    key = d.choice(["items", "order", "products", "positions"])
    say = partial(_say_items, noun_key, count_key)
    return Parameter(key, {"type": "array", "items": item}, "What is ordered, with quantities", required, say)


def draw_parameters(d: Draw, count: int, thing: str, optional_share: float, nested: bool) -> tuple[Parameter, ...]:
    """Draw parameters with distinct keys; often several have similar values and only the wording tells them apart."""
    concepts: list[Concept] = []
    if count > 1 and d.chance(0.5):
        group = d.choice([g for g, members in GROUPS.items() if len(members) > 1])
        concepts += d.sample(GROUPS[group], 2 if len(GROUPS[group]) < 3 or d.chance(0.7) else 3)
    drawn: dict[str, Parameter] = {}
    while len(drawn) < count:
        required = not d.chance(optional_share)
        shape = d.random()
        if concepts:
            parameter = concept_parameter(d, concepts.pop(), thing, required)
        elif shape < 0.13:
            parameter = choice_parameter(d, d.choice(CHOICES), required)
        elif shape < 0.2 and d.chance(0.3 if required else 1.0):
            parameter = flag_parameter(d, d.choice(FLAGS), required)
        elif shape < 0.25 and nested:
            parameter = object_parameter(d, required) if d.chance(0.7) else items_parameter(d, required)
        else:
            parameter = concept_parameter(d, d.choice(CONCEPTS), thing, required)
        drawn.setdefault(parameter.key, parameter)
    parameters = list(drawn.values())
    d.shuffle(parameters)
    if d.chance(0.7):
        parameters.sort(key=lambda p: not p.required)
    return tuple(parameters)
