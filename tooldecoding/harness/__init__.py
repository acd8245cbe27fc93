"""Plug-ins for evaluation harnesses; each needs the harness, and is imported by it alone."""
