"""Forms that one corpus alone uses: BFCL's XML and docstrings, API-Bank's table, ToolAlpaca's prose."""
