"""What there is to know about a model before the first decode, and what needs the user's attention."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.chat.detect_format import Detected
from tooldecoding.chat.template_habits import habits_of
from tooldecoding.chat.templates import PRINTED
from tooldecoding.doctor.samples import TOOLS
from tooldecoding.doctor.self_check import Checked, SelfCheck
from tooldecoding.engines.choose_engine import EngineFactory
from tooldecoding.errors import ModelError, TokenizerError
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.models.places import input_device
from tooldecoding.models.sources import quantized
from tooldecoding.options.decode_options import AUTO, Strategy


@dataclass(frozen=True)
class Token:
    """A token, or a text that the tokenizer has no token of its own for: then ``id`` is None."""

    text: str
    id: int | None


@dataclass(frozen=True)
class Findings:
    """What was found about a model.

    Attributes
    ----------
    model : str
        Its folder or hub id.
    architecture, model_type, dtype, device : str
    quantized : str
        What the weights were quantised with; empty if they were not.
    parameters : int
    engine, engine_reason : str
        ``packed``, ``batched`` or ``recurrent``, and why.
    context : int or None
        Tokens of prompt and answer; None if the configuration names no limit.
    vocabulary : int
        The number of the model's logits.
    tokenizer : str
        Its class.
    tokens : int
        How many tokens it has.
    tokenizer_error : str
        Why its tokens cannot be read; empty if they can.
    bos, eos : Token or None
    turn_ends : sequence of Token
        All tokens that end the assistant's turn.
    chat_template, prints_tools : bool
        Whether there is one, and whether it prints tools; if not, Tool Decoding does.
    prompt : str
        What ``chat`` gives the model for one tool; empty without a chat template or format.
    format : str or None
        The call format; None if it is unknown.
    format_reason : str
        What shows the format, or why it is unknown.
    marks : sequence of Token
        The format's marks, as tokens or as texts.
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
    found, format_error = _format(tokenizer, call_format)
    check, tokenizer_error = _self_check(model, tokenizer)
    checked = check.run(found.call_format) if check is not None and found is not None else None
    ends = [] if check is None else check.ends
    problems = _problems(tokenizer, config.vocab_size, tokenizer_error, format_error, check, checked)
    return Findings(
        model=path,
        architecture=type(model).__name__,
        model_type=str(config.model_type),
        parameters=model.num_parameters(),
        dtype=str(model.dtype).removeprefix("torch."),
        device=str(input_device(model)),
        quantized=quantized(path, model),
        engine="recurrent" if factory.recurrent else factory.strategy,
        engine_reason=factory.reason,
        context=getattr(config, "max_position_embeddings", None),
        vocabulary=config.vocab_size,
        tokenizer=type(tokenizer).__name__,
        tokens=len(tokenizer),
        tokenizer_error=tokenizer_error,
        bos=_token(tokenizer, tokenizer.bos_token_id),
        eos=_token(tokenizer, tokenizer.eos_token_id),
        turn_ends=[Token(_name(tokenizer, end), end) for end in ends],
        chat_template=bool(tokenizer.chat_template),
        prints_tools=habits_of(tokenizer).prints_tools,
        prompt=check.prompt(found.call_format, TOOLS[:1]) if check is not None and found is not None else "",
        format=None if found is None else found.call_format.name,
        format_reason=format_error if found is None else found.reason,
        marks=[] if found is None else _marks(tokenizer, found.call_format),
        self_check=checked,
        problems=[*problems],
    )


def _format(tokenizer: PreTrainedTokenizerBase, name: str) -> tuple[Detected | None, str]:
    """Return the format, or why it is unknown."""
    try:
        found = habits_of(tokenizer).detected
    except ModelError as error:
        if name != AUTO:
            return Detected(CALL_FORMATS[name], "it was asked for"), ""
        if habits_of(tokenizer).leaves_out_tools:
            return Detected(CALL_FORMATS[PRINTED], "the default for chat templates that print no tools"), ""
        return None, str(error)
    if name in (AUTO, found.call_format.name):
        return found, ""
    return Detected(CALL_FORMATS[name], f"it was asked for, but {found.reason}, as {found.call_format.name} is"), ""


def _self_check(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> tuple[SelfCheck | None, str]:
    try:
        return SelfCheck(model, tokenizer), ""
    except TokenizerError as error:
        return None, str(error)


def _problems(
    tokenizer: PreTrainedTokenizerBase,
    vocabulary: int,
    tokenizer_error: str,
    format_error: str,
    check: SelfCheck | None,
    checked: Checked | None,
) -> Iterator[str]:
    if tokenizer_error:
        yield tokenizer_error
    if format_error:
        yield format_error
    if check is not None and not check.ends:
        yield "no token ends the model's turn; name one as eos_token in the tokenizer's configuration"
    if len(tokenizer) > vocabulary:
        yield (
            f"the tokenizer has {len(tokenizer)} tokens, but the model only {vocabulary} logits; "
            "use the tokenizer that belongs to the model"
        )
    if checked is not None and checked.difference:
        wrong = checked.tried - checked.exact
        yield (
            f"{wrong} of {checked.tried} sample calls are not decoded as the tokenizer writes them; "
            f"try another --format, or report this: {checked.difference}"
        )


def _marks(tokenizer: PreTrainedTokenizerBase, call_format: CallFormat) -> list[Token]:
    ids = {str(added.content): token for token, added in tokenizer.added_tokens_decoder.items()}
    return [Token(mark, ids.get(mark)) for mark in call_format.marks]


def _token(tokenizer: PreTrainedTokenizerBase, token: Any) -> Token | None:
    return Token(_name(tokenizer, token), token) if isinstance(token, int) else None


def _name(tokenizer: PreTrainedTokenizerBase, token: int) -> str:
    return str(tokenizer.convert_ids_to_tokens(token))
