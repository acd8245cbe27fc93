"""Copying drills: the short exercises that the curriculum starts with, and that fill the ends of rows.

A transformer learns to copy far sooner from short texts that are mostly copies than from long prompts where few tokens
are. Two kinds: repeated random token ids, and statements recalled by key in the form of a call.
"""

from tooldecoding.formats.call_format import Call
from training.encoding.encode import CONTEXT, VALUE, Encoded
from training.example import FORMS, Answer, Segment
from training.synthetic.concepts import CONCEPTS
from training.synthetic.lexicon import Draw


def repeated_ids(d: Draw, first: int, vocabulary: int, most_tokens: int) -> Encoded:
    """Random ids from ``first`` on, then the same once or twice more; the repetitions are to be learnt.

    At most 144 tokens; fewer than 4 are context.
    """
    times = d.randint(2, 3)
    length = d.randint(4, 48)
    if length * times > most_tokens:
        length, times = max(1, most_tokens // 2), 2
    if most_tokens < 4:
        return Encoded([d.randrange(first, vocabulary) for _ in range(most_tokens)], [CONTEXT] * most_tokens)
    alphabet = range(first, vocabulary) if d.chance(0.6) else d.sample(range(first, vocabulary), 12)
    block = [d.choice(alphabet) for _ in range(length)]
    return Encoded(block * times, [CONTEXT] * length + [VALUE] * length * (times - 1))


def _key(d: Draw) -> str:
    words = [d.choice(d.words.nouns) if d.chance(0.6) else d.pseudo_word() for _ in range(d.choice([1, 1, 2]))]
    return "_".join(words)


def recall(d: Draw, template: str) -> list[Segment]:
    """``User: key value, …`` then calls with the same keys and values, in other orders."""
    form = FORMS[template]
    out: list[Segment] = []
    before = ""
    for _ in range(d.randint(1, 4)):
        told = {}
        for _ in range(d.randint(1, 4)):
            told[_key(d)] = d.choice(CONCEPTS).sample(d)
        link = d.choice([" ", " is ", ": ", " = ", " should be "])
        text = ", ".join(f"{key.replace('_', ' ')}{link}{said}" for key, (said, _) in told.items())
        name = "".join(part.capitalize() for part in _key(d).split("_"))
        for repetition in range(d.choice([1, 1, 2])):
            keys = list(told)
            d.shuffle(keys)
            if repetition == 0:
                before += f"User: {name}, {text}\n"
            answer = Answer((Call(name, {key: told[key][1] for key in keys}),))
            written = form.call_format.render(answer.calls) + "\n"
            out += [Segment(before + form.ending), Segment(written, answer)]
            before = ""
    return out
