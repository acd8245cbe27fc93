"""TOOLDEC, the baseline: constrained decoding in which the model itself writes every token of a call.

Zhang et al., "Don't Fine-Tune, Decode: Syntax Error-Free Tool Use via Constrained Decoding", arXiv 2310.07075.
"""

from tooldecoding.tooldec.decoder import FORMS, Form, ToolDecResult, run_tooldec
from tooldecoding.tooldec.machine import CallMachine
from tooldecoding.tooldec.syntax import REACT, CallSyntax

__all__ = ["FORMS", "REACT", "CallMachine", "CallSyntax", "Form", "ToolDecResult", "run_tooldec"]
