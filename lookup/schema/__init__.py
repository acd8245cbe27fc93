"""JSON Schemas: a normal form, from which values are decoded, and a check of finished values."""
