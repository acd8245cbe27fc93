"""TOOLDEC, the baseline: constrained decoding in which the model itself writes every token of a call.

Zhang et al., "Don't Fine-Tune, Decode: Syntax Error-Free Tool Use via Constrained Decoding", arXiv 2310.07075.
"""
