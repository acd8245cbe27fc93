"""Regular languages of text: patterns, formats and lengths, by derivatives over code points, in bounded steps."""
