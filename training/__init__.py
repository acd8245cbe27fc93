"""The reference model: generator of tools and dialogues, SGD, tokenizer, network, training, held-out measurement."""
