"""Whether a model gets exactly the call that it wants, in the tokenizer's own tokens, with real vocabularies."""
