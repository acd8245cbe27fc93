"""The official tool manager as judge, on a small stand-in checkout with the official modules and signatures."""

import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from api_bank_folder import Bank, write_folder

from eval.benchmarks.api_bank.tool_server import ToolServer
from eval.errors import EvalError

EXTRACTION = r"""
import re

def get_api_call(model_output):
    found = re.search(r"\[(\w+)\((.*)\)\]", model_output)
    return found.group(0) if found else None

def parse_api_call(text):
    name, rest = re.search(r"\[(\w+)\((.*)\)\]", text).groups()
    return name, dict(re.findall(r"(\w+)='(.+?)'", rest))
"""

MANAGER = """
import importlib, json, os, time
from apis import API
from api_call_extraction import parse_api_call

class ToolManager:
    def __init__(self) -> None:
        print('loading')  # not an answer
        with open('./init_database/Account.json') as file:
            self.accounts = json.load(file)
        self.classes = {}
        for file in os.listdir('./apis'):
            module = importlib.import_module('apis.' + file.split('.')[0]) if file.endswith('_.py') else None
            for name, value in vars(module).items() if module else ():
                if isinstance(value, type) and issubclass(value, API) and value is not API:
                    self.classes[name] = value
        self.inited_tools = {}

    def init_tool(self, tool_name, *args, **kwargs):
        if tool_name not in self.inited_tools:
            self.inited_tools[tool_name] = self.classes[tool_name](self.accounts)
        return self.inited_tools[tool_name]

    def api_call(self, tool_name, **kwargs):
        for key in kwargs:
            assert key in self.classes[tool_name].input_parameters, 'invalid parameter name. parameter: ' + key
        if tool_name == 'BookHotel':
            assert kwargs['room_count'].isdigit(), 'invalid parameter type.'
        return self.init_tool(tool_name).call(**kwargs)
"""

TOOLS = """
import os, time
from apis.api import API

class GetUserToken(API):
    input_parameters = {'username': {}, 'password': {}}
    def call(self, username, password):
        print('called')
        given = {'username': username, 'password': password}
        found = self.database.pop(username, None)
        if found is None or found['password'] != password:
            return {'input': given, 'output': None, 'exception': 'no such user'}
        return {'input': given, 'output': {'token': found['token']}, 'exception': None}

class Calculator(API):
    input_parameters = {'formula': {}}
    def call(self, formula):
        if formula == 'forever':
            time.sleep(600)
        if formula == 'die':
            os._exit(3)
        output = 'pid <%s>' % os.getpid() if formula == 'pid' else formula
        return {'input': {'formula': formula}, 'output': output, 'exception': None}

class BookHotel(API):
    input_parameters = {'room_count': {}}

class DeleteMeeting(API):
    input_parameters = {'token': {}}
    def call(self, token):
        return {'input': {'token': token}, 'output': 'success', 'exception': None}
    def check_api_call_correctness(self, response, groundtruth):
        return response['input']['time'] == groundtruth['input']['time']
"""

BASE = """
class API:
    def __init__(self, init_database=None):
        self.database = init_database
    def check_api_call_correctness(self, response, groundtruth):
        return all(response[k] == groundtruth[k] for k in ('input', 'output', 'exception'))
"""


def write_checkout(folder: Path) -> Path:
    files = {
        "tool_manager.py": MANAGER,
        "api_call_extraction.py": EXTRACTION,
        "apis/__init__.py": "from .api import API\n",
        "apis/api.py": BASE,
        "apis/tools_.py": TOOLS,
        "init_database/Account.json": '{"ann": {"password": "pw", "token": "t1"}}',
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return write_checkout(tmp_path / "DAMO-ConvAI" / "api-bank")


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    token = ("GetUserToken", {"username": "ann", "password": "pw"}, {"token": "t1"})
    formula = ("Calculator", {"formula": "1+1"}, "1+1")
    hotel = ("BookHotel", {"room_count": 1}, "11")
    meeting = ("DeleteMeeting", {"token": "t1"}, "success")
    return Bank(write_folder(tmp_path / "data", {"a": [token, formula, hotel, meeting]}))


@pytest.fixture
def judge(checkout: Path) -> Iterator[ToolServer]:
    with ToolServer(str(checkout.parent), sample_seconds=60) as server:
        yield server


def test_verdicts_have_the_evaluators_words(judge: ToolServer, bank: Bank) -> None:
    right = "[GetUserToken(username='ann', password='pw')]"
    for call, prediction, error in [
        (0, right, None),
        (0, f"Sure: {right}", None),  # a fresh tool manager: the stand-in forgets a user that was asked for
        (0, "[GetUserToken(username='ann', password='\ud800\0é')]", "HAS_EXCEPTION"),
        (0, "[GetUserToken(username='ann')]", "MISS_INPUT_ARGUMENT"),
        (0, "[GetUserToken(user='ann')]", "INVALID_INPUT_PARAMETER"),
        (0, "[Calculator(formula='1+1')]", "API_NAME_MISMATCH"),
        (0, "GetUserToken(username='ann', password='pw')", "NO_API_CALL"),
        (1, "[Calculator(formula='2')]", "OUTPUT_MISMATCH"),
        (2, "[BookHotel(room_count='x')]", "CRASH:AssertionError"),
        (2, "[BookHotel(room_count='1')]", "CRASH:AttributeError"),
        (3, "[DeleteMeeting(token='t1')]", "KEY_ERROR"),
    ]:
        judgement = judge(bank.sample(call), prediction)
        assert (judgement.error_type, judgement.correct) == (error, error is None), prediction


def test_the_call_is_shown_as_it_was_read(judge: ToolServer, bank: Bank) -> None:
    calls = judge(bank.sample(), "[GetUserToken(username='ann', password='pw')]").calls
    assert calls is not None
    assert calls[0].arguments == {"username": "ann", "password": "pw"}
    assert judge(bank.sample(), "none").calls is None


def test_a_call_that_does_not_end_is_wrong_and_the_next_is_judged(checkout: Path, bank: Bank) -> None:
    with ToolServer(str(checkout), sample_seconds=2) as judge:
        assert judge(bank.sample(1), "[Calculator(formula='forever')]").error_type == "CRASH:TimeoutError"
        assert judge(bank.sample(1), "[Calculator(formula='1+1')]").correct


def test_a_process_that_ends_is_an_error(judge: ToolServer, bank: Bank) -> None:
    with pytest.raises(EvalError, match=r"the tool manager ended \(code 3\)"):
        judge(bank.sample(1), "[Calculator(formula='die')]")


def test_the_process_ends_with_the_context(checkout: Path, bank: Bank) -> None:
    with ToolServer(str(checkout)) as judge:
        number = re.search(r"<(\d+)>", judge(bank.sample(1), "[Calculator(formula='pid')]").message)
    assert number
    with pytest.raises(ProcessLookupError):
        os.kill(int(number[1]), 0)


def test_the_checkout_stays_as_it_was(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    before = sorted(checkout.rglob("*"))
    with ToolServer(str(checkout)):
        pass
    assert sorted(checkout.rglob("*")) == before


def test_wrong_folder(tmp_path: Path) -> None:
    with pytest.raises(EvalError, match=r"it lacks tool_manager\.py"):
        ToolServer(str(tmp_path))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("import sentence_transformers_", "pip install sentence_transformers_"),
        ("import rank_bm25", "pip install rank-bm25"),
        ("import apis.gone", "not complete"),
        ("raise ValueError('no such thing')", "cannot be loaded: ValueError: no such thing"),
        ("import os; print('farewell', flush=True); os._exit(7)", r"ended \(code 7\): farewell"),
        ("import time; time.sleep(60)", "not loaded after 2 seconds"),
    ],
)
def test_code_that_cannot_be_loaded(checkout: Path, line: str, message: str) -> None:
    if line == "import rank_bm25" and find_spec("rank_bm25"):
        pytest.skip("rank_bm25 is installed")
    (checkout / "tool_manager.py").write_text(line + "\n" + MANAGER)
    seconds = 2 if "sleep" in line else 60
    with pytest.raises(EvalError, match=message), ToolServer(str(checkout), start_seconds=seconds):
        pass
