"""YAML from untrusted text: finding its blocks, reading them strictly."""
