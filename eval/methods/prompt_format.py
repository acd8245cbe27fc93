"""Which call format the prompts of a run ask for."""

from dataclasses import replace

from transformers import PreTrainedTokenizerBase

from eval.benchmarks.samples import Benchmark
from eval.errors import EvalError
from eval.methods.call_grammar import demand_grammar
from eval.options import PEER_METHODS, EvalOptions
from tooldecoding.chat.templates import chat_format
from tooldecoding.options.decode_options import AUTO


def settled(options: EvalOptions, benchmark: Benchmark, tokenizer: PreTrainedTokenizerBase) -> EvalOptions:
    """Return the options with the format's name in place of ``auto``.

    Raises
    ------
    EvalError
        If the template is ``chat``, and the model has no chat template; if the method needs a grammar of calls, and the
        format has none.
    ModelError
        If the chat template prints tools, and writes calls in no known format.
    """
    found = _with_format(options, benchmark, tokenizer)
    if found.method in PEER_METHODS:
        demand_grammar(found.method, found.call_format)
    return found


def _with_format(options: EvalOptions, benchmark: Benchmark, tokenizer: PreTrainedTokenizerBase) -> EvalOptions:
    if options.template != "chat":
        return replace(options, format=benchmark.call_format) if options.format == AUTO else options
    if not tokenizer.chat_template:
        raise EvalError(f"the tokenizer of {options.model!r} has no chat template; leave out --template chat")
    return replace(options, format=chat_format(options, tokenizer))
