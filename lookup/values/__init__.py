"""Values as text: literals, notations, and the grammars that constrain what a model writes."""
