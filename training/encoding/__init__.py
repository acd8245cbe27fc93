"""Text and tokens: the tokenizer, examples as token ids, and rows packed with them."""
