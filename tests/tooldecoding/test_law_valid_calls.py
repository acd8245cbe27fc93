"""The cases of TOOLDEC's law: prompts of BFCL and API-Bank with their tools and schemas."""

import json
from typing import Any

from data import api_bank_calls, bfcl_entries
from formats.law.law import BIASES
from lookup import extract
from lookup.dictionary import LookupDictionary

__all__ = ["BIASES", "Case", "api_bank_cases", "bfcl_cases"]

Case = tuple[str, str, LookupDictionary, dict[str, dict[str, Any]]]
"""Id, prompt, tools, and by tool name a JSON Schema object with ``properties`` and ``required``."""


def bfcl_cases(step: int) -> list[Case]:
    cases = []
    for entry in [e for e in bfcl_entries("live_*") if e["function"]][::step]:
        schemas = {f["name"]: f["parameters"] for f in entry["function"]}
        question = entry["question"][0][-1]["content"]
        cases.append((entry["id"], f"{question}\n", extract(entry["function"]), schemas))
    return cases


def api_bank_cases(step: int) -> list[Case]:
    cases = []
    for identifier, rows, tools in list(api_bank_calls())[::step]:
        schemas = {
            t["name"]: {
                "properties": t["input_parameters"],
                "required": [k for k, p in t["input_parameters"].items() if "[Optional]" not in p["description"]],
            }
            for t in tools
        }
        lookup = extract("\n".join(json.dumps(t) for t in tools))
        last = rows[-1].get("text", "") if rows else ""
        cases.append((identifier, f"User: {last}\nAPI-Request: ", lookup, schemas))
    return cases
