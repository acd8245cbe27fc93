"""YAML from untrusted text."""
