"""Grammars of whole JSON Schemas, measured on MaskBench: verdicts and times, ours beside other libraries."""
