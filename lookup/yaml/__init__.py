"""YAML in untrusted text: find the end of a block, and read it strictly."""
