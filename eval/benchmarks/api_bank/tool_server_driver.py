"""Runs in the process of ``eval.benchmarks.api_bank.tool_server``: judges with the tool manager of a checkout.

Takes the checkout's folder as its argument, and a JSON object a line: ``prediction``, and the recorded call's
``api_name`` and ``result``. Writes one a line: ``correct``, ``error`` (the evaluator's word) and ``message``; before
the first, whether the checkout's code could be loaded. Needs nothing but Python and the checkout.
"""

import importlib
import json
import os
import sys
from typing import Any, TextIO


def main(folder: str) -> None:
    """Judge until there is no more input."""
    # the checkout's code may print; answers go where it cannot write by accident
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.path[0] = folder
    try:
        manager, extraction = (importlib.import_module(name) for name in ("tool_manager", "api_call_extraction"))
        manager.ToolManager()
    except ModuleNotFoundError as error:
        _write(answers, {"missing": str(error.name)})
        return
    except Exception as error:  # noqa: BLE001  # code of others may raise anything
        _write(answers, {"failed": f"{type(error).__name__}: {error}"[:500]})
        return
    _write(answers, {"ready": True})
    for line in sys.stdin:
        _write(answers, _judge(json.loads(line), manager.ToolManager, extraction))


def _write(answers: TextIO, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def _judge(request: dict[str, Any], new_manager: Any, extraction: Any) -> dict[str, Any]:
    """As the main part of ``evaluator_by_json.py``; an error that would end it is ``CRASH:`` and the error's type."""
    text = extraction.get_api_call(request["prediction"])
    if not text:
        return _verdict("NO_API_CALL", "no call found")
    try:
        name, arguments = extraction.parse_api_call(text)
        if name != request["api_name"]:
            return _verdict("API_NAME_MISMATCH", f"expected a call of {request['api_name']}, found {name}")
        manager = new_manager()
        response = manager.api_call(name, **arguments)
        tool = manager.init_tool(name)
    except Exception as error:  # noqa: BLE001  # code of others may raise anything
        return _verdict(_word(error), f"{type(error).__name__}: {error}")
    return _check(tool, response, request["result"])


def _word(error: Exception) -> str:
    text = str(error)
    if isinstance(error, AssertionError):
        if "The API name is not correct." in text:
            return "API_NAME_MISMATCH"
        return "INVALID_INPUT_PARAMETER" if "invalid parameter name" in text else "CRASH:AssertionError"
    if "missing" in text and "required positional argument" in text:
        return "MISS_INPUT_ARGUMENT"
    return f"CRASH:{type(error).__name__}"


def _check(tool: Any, response: dict[str, Any], truth: dict[str, Any]) -> dict[str, Any]:
    try:
        correct = tool.check_api_call_correctness(response, truth)
    except KeyError as error:
        return _verdict("KEY_ERROR", f"KeyError: {error}")
    except Exception as error:  # noqa: BLE001  # code of others may raise anything
        return _verdict(_word(error), f"{type(error).__name__}: {error}")
    if correct:
        return {"correct": True, "error": None, "message": ""}
    if response["exception"]:
        return _verdict("HAS_EXCEPTION", f"the call fails: {response['exception']}")
    word = "INPUT_MISMATCH" if response["output"] == truth["output"] else "OUTPUT_MISMATCH"
    return _verdict(word, f"expected {truth}, found {response}")


def _verdict(error: str, message: str) -> dict[str, Any]:
    return {"correct": False, "error": error, "message": message[:500]}


if __name__ == "__main__":
    main(sys.argv[1])
