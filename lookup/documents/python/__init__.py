"""Python as documentation: signatures, docstrings and live callables."""
