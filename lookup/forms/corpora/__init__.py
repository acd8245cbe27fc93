"""Forms used by one corpus only: BFCL's XML and docstrings, API-Bank's table, ToolAlpaca's prose."""
