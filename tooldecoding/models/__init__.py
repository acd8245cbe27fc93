"""Loading models and tokenizers, and telling them apart."""
