"""What a value may be, character by character: parsers, notations, and the grammar of a parameter's values."""
