"""Regular languages of text: patterns, formats and lengths as automata over code points, with bounded states."""
