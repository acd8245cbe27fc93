"""Reads documentation: finds the tools in any text, file or data, and what is said of their keys."""
