"""Tool Decoding as a decoding method of ``transformers``' ``generate``."""
