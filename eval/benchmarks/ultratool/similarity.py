"""How alike two texts are, by characters."""


def similarity(first: str, second: str) -> float:
    """Return 1 minus the Levenshtein distance divided by the longer length; 1 for two empty texts."""
    longest = max(len(first), len(second))
    return 1 - levenshtein(first, second) / longest if longest else 1.0


def levenshtein(first: str, second: str) -> int:
    """Return the fewest insertions, deletions and replacements of characters that turn one text into the other.

    Bits of whole numbers stand for the cells of a column (Myers 1999; Hyyrö 2003), so that long predictions take little
    time.
    """
    if not first:
        return len(second)
    places: dict[str, int] = {}
    for place, character in enumerate(first):
        places[character] = places.get(character, 0) | 1 << place
    every, last = (1 << len(first)) - 1, 1 << len(first) - 1
    rising, falling, distance = every, 0, len(first)
    for character in second:
        equal = places.get(character, 0)
        same = (((equal & rising) + rising) ^ rising) | equal | falling
        up, down = falling | ~(same | rising), same & rising
        distance += bool(up & last) - bool(down & last)
        up, down = up << 1 | 1, down << 1
        rising, falling = (down | ~(same | up)) & every, same & up & every
    return distance
