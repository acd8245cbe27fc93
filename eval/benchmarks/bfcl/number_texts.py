"""Numbers among values whose type is not documented, as the official type converters read them."""

LONGEST = 4_000
"""Characters of a collection. Longer ones stay texts: the official patterns take time that is not linear."""


def number_or_text(text: str) -> int | float | str:
    """Return the number that Python reads in a text, or the text."""
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
