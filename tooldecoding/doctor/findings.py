"""What there is to know about a model before the first decode, and what needs the user's attention."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.chat.template_habits import habits_of
from tooldecoding.chat.templates import PRINTED
from tooldecoding.doctor.self_check import TOOLS, Checked, SelfCheck
from tooldecoding.engines.choose_engine import EngineFactory
from tooldecoding.errors import ModelError, TokenizerError
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.models.places import input_device
from tooldecoding.models.sources import find_source
from tooldecoding.options.decode_options import AUTO, Strategy


@dataclass(frozen=True)
class Token:
    """A token, or a text that the tokenizer has no token of its own for: then ``id`` is None."""

    text: str
    id: int | None


@dataclass(frozen=True)
class Findings:
    """What was found about a model; what its name does not say is described here.

    Attributes
    ----------
    quantized, tokenizer_error : str
        What the weights were quantised with, and why the tokens cannot be read; empty if neither is so.
    engine : str
        ``packed``, ``batched`` or ``recurrent``.
    context : int or None
        Tokens of prompt and answer; None if the configuration names no limit.
    vocabulary, tokens : int
        The number of the model's logits, and of the tokenizer's tokens.
    turn_ends, marks : sequence of Token
        What ends the assistant's turn, and the marks of the format, as tokens or as texts.
    prints_tools : bool
        Whether the chat template prints tools; if not, Tool Decoding does.
    prompt : str
        What ``chat`` gives the model for one tool; empty without a chat template or format.
    format, format_reason : str or None, str
        The call format and what shows it; None and why, if it is unknown.
    self_check : Checked or None
        None without a format or without tokens.
    problems : sequence of str
        One line each, with what to do.
    """

    model: str
    architecture: str
    model_type: str
    parameters: int
    dtype: str
    device: str
    quantized: str
    engine: str
    engine_reason: str
    context: int | None
    vocabulary: int
    tokenizer: str
    tokens: int
    tokenizer_error: str
    bos: Token | None
    eos: Token | None
    turn_ends: Sequence[Token]
    chat_template: bool
    prints_tools: bool
    prompt: str
    format: str | None
    format_reason: str
    marks: Sequence[Token]
    self_check: Checked | None
    problems: Sequence[str]


def examine(
    path: str,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    strategy: Strategy = "auto",
    call_format: str = "auto",
) -> Findings:
    """Find out what there is to know about a loaded model.

    Parameters
    ----------
    path : str
        How the model is called.
    strategy, call_format : str
        As the user wants to decode; ``auto`` finds out.

    Raises
    ------
    ModelError
        If ``packed`` is asked for and the model does not support it.
    """
    config = model.config.get_text_config()
    factory = EngineFactory(model, strategy)
    found, reason = _format(tokenizer, call_format)
    check, tokenizer_error = None, ""
    try:
        check = SelfCheck(model, tokenizer)
    except TokenizerError as error:
        tokenizer_error = str(error)
    ends = [] if check is None else check.ends
    both = None if check is None or found is None else (check.run(found), check.prompt(found, TOOLS[:1]))
    checked, prompt = both or (None, "")
    problems = [error for error in (tokenizer_error, "" if found else reason) if error]
    if check is not None and not ends:
        problems.append("no token ends the model's turn; name one as eos_token in the tokenizer's configuration")
    problems += _problems(len(tokenizer), config.vocab_size, checked)
    ids = {str(added.content): token for token, added in tokenizer.added_tokens_decoder.items()}
    return Findings(
        model=path,
        architecture=type(model).__name__,
        model_type=str(config.model_type),
        parameters=model.num_parameters(),
        dtype=str(model.dtype).removeprefix("torch."),
        device=str(input_device(model)),
        quantized=_quantized(path, model),
        engine="recurrent" if factory.recurrent else factory.strategy,
        engine_reason=factory.reason,
        context=getattr(config, "max_position_embeddings", None),
        vocabulary=config.vocab_size,
        tokenizer=type(tokenizer).__name__,
        tokens=len(tokenizer),
        tokenizer_error=tokenizer_error,
        bos=_token(tokenizer, tokenizer.bos_token_id),
        eos=_token(tokenizer, tokenizer.eos_token_id),
        turn_ends=[Token(str(tokenizer.convert_ids_to_tokens(end)), end) for end in ends],
        chat_template=bool(tokenizer.chat_template),
        prints_tools=habits_of(tokenizer).prints_tools,
        prompt=prompt,
        format=found.name if found else None,
        format_reason=reason,
        marks=[Token(mark, ids.get(mark)) for mark in (found.marks if found else ())],
        self_check=checked,
        problems=problems,
    )


def _format(tokenizer: PreTrainedTokenizerBase, name: str) -> tuple[CallFormat | None, str]:
    """Return the format and what shows it; None, and why it is unknown."""
    try:
        found = habits_of(tokenizer).detected
    except ModelError as error:
        if name != AUTO:
            return CALL_FORMATS[name], "it was asked for"
        if habits_of(tokenizer).leaves_out_tools:
            return CALL_FORMATS[PRINTED], "the default for chat templates that print no tools"
        return None, str(error)
    if name in (AUTO, found.call_format.name):
        return found
    return CALL_FORMATS[name], f"it was asked for, but {found.reason}, as {found.call_format.name} is"


def _problems(tokens: int, vocabulary: int, checked: Checked | None) -> Iterator[str]:
    if tokens > vocabulary:
        yield (
            f"the tokenizer has {tokens} tokens, but the model only {vocabulary} logits; "
            "use the tokenizer that belongs to the model"
        )
    if checked is not None and checked.difference:
        yield (
            f"{checked.tried - checked.exact} of {checked.tried} sample calls are not decoded as the tokenizer writes "
            f"them; try another --format, or report this: {checked.difference}"
        )


def _quantized(path: str, model: PreTrainedModel) -> str:
    """Return what the weights were quantised with; empty if they were not."""
    source = find_source(path)
    if source.gguf_file is not None and (Path(source.path) / source.gguf_file).is_file():
        from gguf import GGUFReader

        types = Counter(tensor.tensor_type.name for tensor in GGUFReader(Path(source.path) / source.gguf_file).tensors)
        return f"dequantized from GGUF ({types.most_common(1)[0][0]})"
    method = getattr(getattr(model.config, "quantization_config", None), "quant_method", "")
    return f"quantized with {getattr(method, 'value', method)}" if method else ""


def _token(tokenizer: PreTrainedTokenizerBase, token: Any) -> Token | None:
    return Token(str(tokenizer.convert_ids_to_tokens(token)), token) if isinstance(token, int) else None
