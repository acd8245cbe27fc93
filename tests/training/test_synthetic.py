"""The generator of training examples: seeded, documented, readable back, with words of its own for measuring."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from lookup import LookupDictionary, ToolSpec
from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.documentation import Documentation
from training.answer import CONTEXT, Answer
from training.example import TEMPLATES, Example, LineTemplate, ordered, segments
from training.run.material import draw_synthetic
from training.synthetic.choices import CHOICES, FLAGS
from training.synthetic.concepts import CONCEPTS
from training.synthetic.dialogues import make_search
from training.synthetic.documentation import BFCL_TYPES, print_tools
from training.synthetic.drills import recall, repeated_ids
from training.synthetic.lexicon import HELD_OUT, TRAINED, Draw
from training.synthetic.parameters import draw_parameters
from training.synthetic.questions import Size, make_questions
from training.synthetic.tools import make_tool, make_tools

SIZE = Size(tools=4, parameters=6, calls=4)


def examples(seed: int, template: str, count: int = 150) -> Iterator[Example]:
    d = Draw(f"test/{seed}")
    return islice(iter(lambda: draw_synthetic(d, SIZE, template), None), count)


END_OF_TURN = {"api-bank": "\n", "bfcl": "\n", "hermes": "<|im_end|>"}


def read_calls(example: Example, text: str, tools: LookupDictionary) -> list[Call]:
    """Read the calls of an answer; those of a chat by their tags and as JSON, which knows nothing of the renderer."""
    if isinstance(example.template, LineTemplate):
        return example.template.call_format.parse(text.removesuffix("\n"), tools)
    blocks = re.fullmatch(r"(?:[^<]+\n)?(<tool_call>\n.*\n</tool_call>)<\|im_end\|>", text, re.DOTALL)
    assert blocks, text
    read = [json.loads(b) for b in blocks[1][len("<tool_call>\n") : -len("\n</tool_call>")].split(BETWEEN)]
    assert all(list(call) == ["name", "arguments"] for call in read)
    return [Call(call["name"], call["arguments"]) for call in read]


BETWEEN = "\n</tool_call>\n<tool_call>\n"


def lookup_of(example: Example) -> LookupDictionary:
    return Documentation.read(list(example.tools), "example").lookup


def texts(seed: int, template: str) -> list[str]:
    d = Draw("order")
    return ["".join(part.text for part in segments(e, d)) for e in examples(seed, template, 20)]


def fits(value: Any, schema: Any) -> bool:
    """Whether a value is one of a JSON Schema as the generator writes them."""
    if "enum" in schema and value not in schema["enum"]:
        return False
    kind = schema["type"]
    if kind == "array":
        return isinstance(value, list) and all(fits(v, schema["items"]) for v in value)
    if kind == "object":
        known = schema["properties"]
        return set(schema["required"]) <= set(value) <= set(known) and all(fits(v, known[k]) for k, v in value.items())
    return type(value) is {"string": str, "integer": int, "number": float, "boolean": bool}[kind]


@pytest.mark.parametrize("template", TEMPLATES)
def test_same_seed_same_examples(template: str) -> None:
    assert texts(4, template) == texts(4, template) != texts(5, template)


@pytest.mark.parametrize("template", TEMPLATES)
def test_calls_are_documented_and_read_back(template: str) -> None:
    calls = refusals = 0
    for example in examples(1, template):
        tools = lookup_of(example)
        assert len(tools) == len(example.tools)
        for part in segments(example, Draw("order")):
            if part.answer is None:
                continue
            if not part.answer.calls:
                refusals += 1
                assert part.text == (part.answer.refusal or part.answer.said) + END_OF_TURN[template]
                assert "[" not in part.answer.refusal and "<tool_call>" not in part.text
                continue
            read = read_calls(example, part.text, tools)
            assert [c.name for c in read] == [c.name for c in part.answer.calls]
            for call, meant in zip(read, part.answer.calls, strict=True):
                calls += 1
                assert list(call.arguments) == list(meant.arguments)
                assert_values(call, meant, tools[call.name], typed=template != "api-bank")
    assert calls > 150
    assert refusals > (0 if template == "api-bank" else 5)


def assert_values(call: Call, meant: Call, tool: ToolSpec, typed: bool) -> None:
    specs = {p.name: p for p in tool.parameters}
    assert {p.name for p in tool.parameters if p.required} <= set(call.arguments)
    for key, value in call.arguments.items():
        if typed:
            assert value == meant.arguments[key] and type(value) is type(meant.arguments[key])
        else:
            assert str(value) == str(meant.arguments[key]) or value == meant.arguments[key]
        if specs[key].enum:
            assert value in specs[key].enum


def test_values_are_of_their_type() -> None:
    d = Draw("values")
    for _ in range(300):
        for parameter in draw_parameters(d, 4, "thing", 0.3, nested=True):
            said = parameter.say(d)
            assert fits(said.value, parameter.schema), (parameter, said)
            assert said.clause and said.alone
            assert parameter.default is None or fits(parameter.default, parameter.schema)
            assert "{" not in said.clause or "{" in said.alone


def test_documentation_says_what_the_generator_means() -> None:
    d = Draw("documentation")
    for template in TEMPLATES:
        for _ in range(60):
            tools = {tool.name: tool for tool in make_tools(d, 3, 6, nested=template != "api-bank")}
            read = Documentation.read(list(print_tools(d, list(tools.values()), template)), "tools").lookup
            for spec in read.tools:
                meant = {p.key: p for p in tools[spec.name].parameters}
                assert [p.name for p in spec.parameters] == list(meant)
                for p in spec.parameters:
                    assert bool(p.required) == meant[p.name].required
                    kind = meant[p.name].schema["type"]
                    short = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
                    assert p.type.kind == (short | {"array": "list", "object": "dict"})[kind]


def test_bfcl_names_of_types_reach_inside() -> None:
    text = "".join(json.dumps(e.tools) for e in examples(3, "bfcl", 100))
    assert '"dict"' in text and '"float"' in text
    assert set(BFCL_TYPES) == {"number", "object"}


def test_prompts_are_those_of_the_evaluation() -> None:
    for template, ending in (("api-bank", "API-Request: "), ("bfcl", "Calls: ")):
        for example in examples(6, template, 40):
            parts = segments(example, Draw("order"), shuffled_share=0.0)
            documentation = Documentation.read(list(example.tools), "tools")
            head = example.template.prompt(example.tools, [])
            assert parts[0].text.startswith(head.removesuffix(ending).rstrip())
            assert all(p.text.endswith(ending) for p in parts if p.answer is None)
            printed = documentation.as_bfcl() if template == "bfcl" else documentation.as_api_bank()
            assert printed in parts[0].text


def test_keys_stand_as_the_decoder_writes_them() -> None:
    call = Call("f", {"a": 1, "b": 2, "c": 3, "d": 4})
    d = Draw("keys")
    drawn = ["".join(ordered(call, ["a", "c"], d, 0.5).arguments) for _ in range(200)]
    assert all(set(keys[:2]) == {"a", "c"} for keys in drawn)
    assert len(set(drawn)) == 4
    assert "".join(ordered(call, ["a", "c"], d, 0.0).arguments) == "acbd"


def test_several_calls_and_optional_keys_occur() -> None:
    d = Draw("questions")
    answers = [t for _ in range(150) for t in make_questions(d, SIZE, "bfcl").turns if isinstance(t, Answer)]
    assert sum(len(a.calls) > 1 for a in answers) > 20
    left_out = given = 0
    for example in examples(7, "bfcl"):
        optional = {t.name: [p.name for p in t.parameters if not p.required] for t in lookup_of(example).tools}
        for turn in example.turns:
            for call in turn.calls if isinstance(turn, Answer) else ():
                given += sum(key in call.arguments for key in optional[call.name])
                left_out += sum(key not in call.arguments for key in optional[call.name])
    assert left_out > given > 50


def test_tools_are_searched_for_first() -> None:
    d = Draw("search")
    found = [make_search(d, SIZE) for _ in range(30)]
    assert {len(example.tools) for example in found} == {1, 2}
    for example in found:
        assert sum(isinstance(turn, Answer) for turn in example.turns) == 1


def test_held_out_words_are_disjoint() -> None:
    for field in TRAINED.__dataclass_fields__:
        trained, held_out = set(getattr(TRAINED, field)), set(getattr(HELD_OUT, field))
        assert trained and held_out and not trained & held_out, field
    d = Draw("held", held_out=True)
    things = [tool.thing.split(" ")[-1] for tool in make_tools(d, 100, 2, nested=False)]
    assert not set(things) & set(TRAINED.nouns)
    assert sum(thing in HELD_OUT.nouns for thing in things) > 80


def test_tables_are_sound() -> None:
    for concept in CONCEPTS:
        assert concept.keys and all(concept.descriptions) and all("{v}" in clause for clause in concept.clauses)
    for choice in CHOICES:
        assert len(choice.members) > 1 and all("{v}" in clause for clause in choice.clauses)
    for flag in FLAGS:
        assert all(flag.positive) and all(flag.negative)


def test_drills_are_mostly_copies() -> None:
    d = Draw("drills")
    for most in [*range(1, 20), *range(100, 200)]:
        drill = repeated_ids(d, 3, 512, most)
        assert 0 < len(drill.ids) <= most
        assert all(3 <= i < 512 for i in drill.ids)
        length = drill.kinds.count(CONTEXT)
        assert all(drill.ids[i] == drill.ids[i - length] for i in range(length, len(drill.ids)))
    for name, template in TEMPLATES.items():
        parts = recall(d, name)
        said = "".join(part.text for part in parts if part.answer is None)
        for part in parts:
            if part.answer is not None:
                [call] = part.answer.calls
                assert call.name in said
                assert part.text == "".join(text for text, _ in template.pieces(part.answer))


def test_tools_of_one_service_share_a_part_of_their_names() -> None:
    shared = 0
    for seed in range(200):
        names = [tool.name for tool in make_tools(Draw(f"family {seed}"), 4, 2, nested=False)]
        assert len(set(names)) == 4
        shared += len({name[:4] for name in names}) == 1 or len({name[-4:] for name in names}) == 1
    assert 30 < shared < 90


def test_a_thing_named_like_its_verb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.synthetic.tools.VERB_GROUPS", (("review",),))
    monkeypatch.setattr("training.synthetic.tools.NOUN_SYNONYMS", {})
    d = Draw("review")
    like = make_tool(d, 2, 0.5, nested=False)
    drawn = [make_tool(d, 2, 0.5, nested=False, like=replace(like, thing="review")) for _ in range(300)]
    assert all(tool.name for tool in drawn)
