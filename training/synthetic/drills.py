"""Copying drills: short exercises that the curriculum starts with and that fill the ends of rows.

A transformer learns to copy much sooner from short texts that are mostly copies than from long prompts with few copied
tokens. There are two kinds: repeated random token ids, and statements to be repeated as calls.
"""

from tooldecoding.formats.call_format import Call
from tooldecoding.prompts.dialogue import Utterance
from training.answer import CONTEXT, VALUE, Answer
from training.encoding.encode import Encoded
from training.example import TEMPLATES, Segment, answer_segment
from training.synthetic.concepts import CONCEPTS
from training.synthetic.lexicon import Draw
from training.synthetic.parameters import spoken


def repeated_ids(d: Draw, first: int, vocabulary: int, most_tokens: int) -> Encoded:
    """Draw random ids in ``first`` to ``vocabulary``, repeated once or twice; only the repetitions are learnt.

    At most 144 tokens. Fewer than 4 are all context.
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
    """Draw requests ``name, key value, …``, each followed by calls with the same keys and values in other orders."""
    prompt = TEMPLATES[template]
    out: list[Segment] = []
    for _ in range(d.randint(1, 4)):
        told = {}
        for _ in range(d.randint(1, 4)):
            told[_key(d)] = d.choice(CONCEPTS).sample(d)
        link = d.choice([" ", " is ", ": ", " = ", " should be "])
        text = ", ".join(f"{spoken(key)}{link}{said}" for key, (said, _) in told.items())
        name = "".join(part.capitalize() for part in _key(d).split("_"))
        for repetition in range(d.choice([1, 1, 2])):
            keys = list(told)
            d.shuffle(keys)
            request = [] if repetition else [Utterance("user", f"{name}, {text}")]
            answer = Answer((Call(name, {key: told[key][1] for key in keys}),))
            before = prompt.context(None, request)
            out += [Segment(before if out else before.lstrip("\n")), answer_segment(answer, prompt)]
    return out
