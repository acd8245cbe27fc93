"""Made-up words, keys and text, for prompts, values and the training text of a tokenizer."""

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

TOOL: Final = "MakeAppointment"

_HEADS: Final = ("patient", "appointment", "doctor", "hospital", "account", "meeting", "hotel", "flight")
_TAILS: Final = ("name", "date", "code", "city", "time", "phone", "number", "reason")

_VERBS: Final = ("Make", "Get", "Find", "Cancel", "Modify")
_THINGS: Final = ("Account", "Hotel", "Meeting", "Flight", "Reminder")

_ONSETS: Final = tuple("b br c d dr f g gl h k l m n p pl r s st t v".split())
_VOWELS: Final = ("a", "e", "i", "o", "u", "ai", "ea")
_CODAS: Final = ("", "l", "n", "r", "s", "t", "nd", "ck")


def keys(count: int) -> tuple[str, ...]:
    """Return the first ``count`` keys, of two words each; none is a prefix of another."""
    return tuple(f"{_HEADS[n % 8]}_{_TAILS[(n + n // 8) % 8]}" for n in range(count))


COMMON: Final = tuple(
    "after again air all back ball big blue book box boy bread car city cold cup dark day door dry east end face fall "
    "fast field fire fish five food friend game garden girl gold good green hand hard head high hill home horse hot "
    "house ice island key king lake land last left letter light line list long map market milk money moon morning "
    "music name new night north old open order paper park people place plan point power rain red rest right river "
    "road rock room sea ship short side sky small snow song sound south star stone story street summer sun table ten "
    "tree turn two wall warm water west white wind window winter wood work world year young".split()
)
"""Words that any tokenizer writes as one or two tokens."""

MOST_KEYS: Final = len(_HEADS) * len(_TAILS)


def lexicon(count: int, seed: int = 0) -> tuple[str, ...]:
    """Make ``count`` distinct words of two or three syllables."""
    random = Random(f"lexicon/{seed}")
    words: dict[str, None] = {}
    while len(words) < count:
        syllables = random.choice((2, 2, 3))
        word = "".join(random.choice(_ONSETS) + random.choice(_VOWELS) for _ in range(syllables))
        words[word + random.choice(_CODAS)] = None
    return tuple(words)


def prose(words: Sequence[str], random: Random) -> Iterator[str]:
    """Yield words forever; earlier words of the lexicon are more frequent (Zipf's law)."""
    weights = [1 / (rank + 4) for rank in range(len(words))]
    while True:
        yield from random.choices(words, weights, k=256)


def documentation(required: Sequence[str], name: str = TOOL) -> str:
    """Document one tool with these keys, in API-Bank's form."""
    row = {
        "name": name,
        "description": "Makes an appointment and returns its number.",
        "input_parameters": {
            key: {"type": "str", "description": f"The {key.replace('_', ' ')} as the user gave it."} for key in required
        },
        "output_parameters": {"status": {"type": "str", "description": "success or failed"}},
    }
    return json.dumps(row)


def training_text(words: Sequence[str], lines: int, seed: int = 0) -> Iterator[str]:
    """Yield lines of prose, documentation and calls, to train a tokenizer on."""
    random = Random(f"training/{seed}")
    stream = prose(words, random)
    for number in range(lines):
        sentence = " ".join(next(stream) for _ in range(12))
        head, tail = random.choice(_HEADS), random.choice(_TAILS)
        name = random.choice(_VERBS) + random.choice(_THINGS)
        match number % 4:
            case 0:
                yield f"User: {sentence}. Then the {head} {tail} is {next(stream)}."
            case 1:
                yield f"AI: {sentence.capitalize()}, please: {number}?"
            case 2:
                yield f"[{name}({head}_{tail}='{next(stream)} {next(stream)}', {tail}='{number}')]"
            case _:
                yield documentation((f"{head}_{tail}",), name) + f" API-Request: {sentence}"
