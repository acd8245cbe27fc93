"""Python as documentation: functions, signatures, docstrings, live callables."""
