"""Values as text: literals, notations, and the grammars that constrain the values a model writes."""
