"""Texts that the readers read, in every format: what original templates wrote, and every spelling of the same calls."""

from functools import cache

from reader_cases import RAW, padded, rendered

from tooldecoding.formats.call_format import ID, Call
from tooldecoding.formats.known_formats import CALL_FORMATS


@cache
def samples(name: str) -> list[str]:
    """Some dozens of valid texts of a format, without repetitions."""
    form = CALL_FORMATS[name]
    texts = [text for text, calls in rendered().get(name, []) if name not in RAW or not padded(calls)]
    for number, (_, read) in enumerate(rendered()["json-list"]):
        calls = [Call(called, dict(pairs)) for called, pairs in read][: None if form.parallel else 1]
        if name not in RAW or not padded(read):
            spelling = (form, *form.also)[number % (1 + len(form.also))]
            text = spelling.render(calls)
            for count in range(text.count(ID)):
                text = text.replace(ID, f"call0000{count}", 1)
            texts.append(text)
    return list(dict.fromkeys([*_VARIANTS.get(name, []), *texts]))


_VARIANTS = {
    "harmony": [" to=functions.a.b<|channel|>commentary <|constrain|>json<|message|>{}<|call|>"],
    "llama3-json": ['{"name": "f", "parameters": {"a": "; "}}; {"name": "g", "parameters": {}}'],
    "lfm2.5": ['<|tool_call_start|>[f(a={"b": [true, null], "c": {"d": false}}, e=[None, True])]<|tool_call_end|>'],
}
