"""Training of the reference model: synthetic dialogues, SGD, tokenizer, loop and held-out measurement."""
