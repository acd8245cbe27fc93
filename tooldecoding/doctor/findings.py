"""What there is to know about a model before the first decode, and what needs the user's attention."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tooldecoding.chat.template_habits import habits_of
from tooldecoding.chat.templates import PRINTED
from tooldecoding.doctor.self_check import TOOLS, SelfCheck
from tooldecoding.engines.choose_engine import EngineFactory
from tooldecoding.errors import ModelError, TokenizerError
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.models.places import input_device
from tooldecoding.models.sources import find_source
from tooldecoding.options.decode_options import AUTO, Strategy


def examine(
    path: str,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    strategy: Strategy = "auto",
    call_format: str = "auto",
) -> dict[str, Any]:
    """Return what there is to know about a loaded model, as JSON; docs/models.md describes it.

    A token is an object of ``text`` and ``id``; ``id`` is None for a text that the tokenizer has no token of its own
    for. ``context`` is None without a limit, ``format`` if it is unknown (``format_reason`` says why), ``self_check``
    without format or tokens. ``problems`` has one line each, with what to do.

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
    return {
        "model": path,
        "architecture": type(model).__name__,
        "model_type": str(config.model_type),
        "parameters": model.num_parameters(),
        "dtype": str(model.dtype).removeprefix("torch."),
        "device": str(input_device(model)),
        "quantized": _quantized(path, model),
        "engine": "recurrent" if factory.recurrent else factory.strategy,
        "engine_reason": factory.reason,
        "context": getattr(config, "max_position_embeddings", None),
        "vocabulary": config.vocab_size,
        "tokenizer": type(tokenizer).__name__,
        "tokens": len(tokenizer),
        "tokenizer_error": tokenizer_error,
        "bos": _token(tokenizer, tokenizer.bos_token_id),
        "eos": _token(tokenizer, tokenizer.eos_token_id),
        "turn_ends": [_token(tokenizer, end) for end in ends],
        "chat_template": bool(tokenizer.chat_template),
        "prints_tools": habits_of(tokenizer).prints_tools,
        "prompt": prompt,
        "format": found.name if found else None,
        "format_reason": reason,
        "marks": [{"text": mark, "id": ids.get(mark)} for mark in (found.marks if found else ())],
        "self_check": checked,
        "problems": problems,
    }


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


def _problems(tokens: int, vocabulary: int, checked: Mapping[str, Any] | None) -> Iterator[str]:
    if tokens > vocabulary:
        yield (
            f"the tokenizer has {tokens} tokens, but the model only {vocabulary} logits; "
            "use the tokenizer that belongs to the model"
        )
    if checked is not None and checked["difference"]:
        yield (
            "{wrong} of {tried} sample calls are not decoded as the tokenizer writes them; try another --format, or "
            "report this: {difference}"
        ).format(wrong=checked["tried"] - checked["exact"], **checked)


def _quantized(path: str, model: PreTrainedModel) -> str:
    """Return what the weights were quantised with; empty if they were not."""
    source = find_source(path)
    if source.gguf_file is not None and (Path(source.path) / source.gguf_file).is_file():
        from gguf import GGUFReader

        types = Counter(tensor.tensor_type.name for tensor in GGUFReader(Path(source.path) / source.gguf_file).tensors)
        return f"dequantized from GGUF ({types.most_common(1)[0][0]})"
    method = getattr(getattr(model.config, "quantization_config", None), "quant_method", "")
    return f"quantized with {getattr(method, 'value', method)}" if method else ""


def _token(tokenizer: PreTrainedTokenizerBase, token: Any) -> dict[str, Any] | None:
    return {"text": str(tokenizer.convert_ids_to_tokens(token)), "id": token} if isinstance(token, int) else None
