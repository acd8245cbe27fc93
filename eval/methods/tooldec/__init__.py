"""TOOLDEC, the baseline: constrained decoding in which the model itself writes every token of a call.

Zhang et al., "Don't Fine-Tune, Decode: Syntax Error-Free Tool Use via Constrained Decoding", arXiv 2310.07075.
"""

from eval.methods.tooldec.decoder import FORMS, Form, ToolDecResult, run_tooldec
from eval.methods.tooldec.machine import CallMachine
from eval.methods.tooldec.react import REACT

__all__ = ["FORMS", "REACT", "CallMachine", "Form", "ToolDecResult", "run_tooldec"]
