"""Loading models and tokenizers, and identifying them."""
