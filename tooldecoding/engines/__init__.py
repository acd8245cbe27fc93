"""How branches run through the model: packed (tree attention), batched, recurrent; caches and logits."""
