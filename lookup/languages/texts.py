"""Automata of finitely many texts."""

from collections.abc import Iterable

from lookup.languages.alphabet import alphabet_of
from lookup.languages.automaton import DEAD, Automaton, trimmed
from lookup.languages.limits import Work, check_states


def automaton_of_texts(texts: Iterable[str]) -> Automaton:
    """Return the automaton of some texts, without those with a character that no text may have."""
    rows: list[dict[str, int]] = [{}]
    ends = set()
    for text in texts:
        state = 0
        for character in text:
            state = rows[state].setdefault(character, len(rows))
            if state == len(rows):
                rows.append({})
                check_states(state)
        ends.add(state)
    characters = sorted({character for row in rows for character in row})
    Work().take(len(characters) * len(rows))
    alphabet, _ = alphabet_of([(ord(character), ord(character) + 1) for character in characters])
    table = [[DEAD] * alphabet.size for _ in rows]
    for cells, row in zip(table, rows, strict=True):
        for character, target in row.items():
            cells[alphabet.class_of[character]] = target
        cells[-1] = DEAD
    return trimmed(alphabet, table, [state in ends for state in range(len(rows))])
