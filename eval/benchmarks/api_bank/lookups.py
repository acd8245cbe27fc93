"""Rules of the tools that look something up, replayed from recordings, and of those that need no database.

What no recording shows: a document, picture, sound, symptom, price, scene, switch, keyword of Wiki or Dictionary fails;
a day's history, a search and a translation give an output that is not the recorded one.
"""

import math
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, Final

from eval.benchmarks.api_bank.rule import (
    DATE,
    TIME,
    UNRECORDED,
    ApiCall,
    Arguments,
    Database,
    Dialogue,
    Execution,
    Find,
    Tool,
    ToolFailure,
    demand,
    lowered,
    normal_day,
    normal_second,
    padded_time,
    read_time,
    readable,
    same,
    same_call,
    same_result,
    stripped,
    uppered,
)
from eval.benchmarks.python_calls import evaluate
from tooldecoding.chat.dialogue import TOOL_SEARCH
from tooldecoding.formats.cursor import UnreadableCallError

TEST_ACCOUNT: Final = "test"
"""The only bank account that a fresh tool knows."""

TOKEN_TOOL: Final = "GetUserToken"
"""Found along with every tool that takes a token."""

TOO_DIFFICULT: Final = "The question is too difficult to answer."
"""DocumentQA's answer to a question that its database lacks for a document that it has."""

_LANGUAGES: Final = """\
af afrikaans, sq albanian, am amharic, ar arabic, hy armenian, az azerbaijani, eu basque, be belarusian, bn bengali,
bs bosnian, bg bulgarian, ca catalan, ceb cebuano, ny chichewa, zh-cn chinese (simplified), zh-tw chinese (traditional),
co corsican, hr croatian, cs czech, da danish, nl dutch, en english, eo esperanto, et estonian, tl filipino, fi finnish,
fr french, fy frisian, gl galician, ka georgian, de german, el greek, gu gujarati, ht haitian creole, ha hausa,
haw hawaiian, iw hebrew, he hebrew, hi hindi, hmn hmong, hu hungarian, is icelandic, ig igbo, id indonesian, ga irish,
it italian, ja japanese, jw javanese, kn kannada, kk kazakh, km khmer, ko korean, ku kurdish (kurmanji), ky kyrgyz,
lo lao, la latin, lv latvian, lt lithuanian, lb luxembourgish, mk macedonian, mg malagasy, ms malay, ml malayalam,
mt maltese, mi maori, mr marathi, mn mongolian, my myanmar (burmese), ne nepali, no norwegian, or odia, ps pashto,
fa persian, pl polish, pt portuguese, pa punjabi, ro romanian, ru russian, sm samoan, gd scots gaelic, sr serbian,
st sesotho, sn shona, sd sindhi, si sinhala, sk slovak, sl slovenian, so somali, es spanish, su sundanese, sw swahili,
sv swedish, tg tajik, ta tamil, te telugu, th thai, tr turkish, uk ukrainian, ur urdu, ug uyghur, uz uzbek,
vi vietnamese, cy welsh, xh xhosa, yi yiddish, yo yoruba, zu zulu"""
"""Codes and names of googletrans 3.1.0a0, which API-Bank requires, in the sequence in which the tool tries them."""

_TERM: Final = re.compile(r"\w++|[^\w\s]")
_ADDRESS: Final = re.compile(r"[a-z0-9]++(?:[._][a-z0-9]++)?@\w++\.\w{2,3}")
_SUM: Final = r"[0-9]++(?:[-+*/][0-9]++)*+"
_PART: Final = rf"(?:[0-9]++|\({_SUM}\))"
_FORMULA: Final = re.compile(rf"{_PART}(?:[-+*/]{_PART})*+")
_WORD: Final = re.compile(r"[a-z0-9]++")


def learn(dialogues: Sequence[Dialogue], database: Database) -> None:
    """The number of a first hotel order."""
    for dialogue in dialogues:
        orders = [call.output for call in dialogue if call.name == "BookHotel"]
        database.orders += orders[:1]


def _always(call: Execution) -> Any:
    return call.recorded(UNRECORDED)


def _succeed(call: Execution) -> str:
    """Success for what a recording knows."""
    call.recorded()
    return "success"


def _by(key: str) -> Find:
    """Found by one text, whatever its case and the white space around it."""
    return lambda given, _: lowered(given[key])


def _language_code(language: str) -> str:
    """The code of a language: the tool takes a code, or a text with a name in it. ToolFailure for any other text."""
    language = language.lower()
    if "chinese" in language:
        return "zh-tw" if "traditional" in language else "zh-cn"
    for entry in _LANGUAGES.replace("\n", " ").split(", "):
        code, name = entry.split(maxsplit=1)
        if code == language or name in language:
            return code
    raise ToolFailure("this language is not supported")


def _translation(given: Arguments, database: Database) -> Hashable:
    """The text and the target language; the source language only has to exist."""
    if "src_lang" in given:
        _language_code(given["src_lang"])
    return given["src"], _language_code(given.get("tgt_lang", "en"))


def _day_of_year(text: str) -> str:
    """Month and day of ``%Y-%m-%d`` or ``%m-%d``; ToolFailure for anything else."""
    try:
        day = padded_time(text, DATE)
    except ToolFailure:
        day = read_time(text.strip(), "%m-%d")
    return day.strftime("%m-%d")


def _url(*endings: str) -> Find:
    def find(given: Arguments, database: Database) -> Hashable:
        url: str = given["url"].strip()
        demand(url.endswith(endings), f"the URL must end with {' or '.join(endings)}")
        return url

    return find


def _keyword(given: Arguments, database: Database) -> Hashable:
    return lowered(given["keyword"].replace("_", " "))


def _terms(given: Arguments, database: Database) -> Hashable:
    """BM25 knows neither case nor sequence of the words."""
    return tuple(sorted(_TERM.findall(given["keyword"].lower())))


def _search(call: Execution) -> Any:
    """BM25 gives nothing for words that no document has: here, that no recorded keyword or document has."""
    searches = call.database.recorded.get("SearchEngine", {})
    known = {term for terms, found in searches.items() for term in _TERM.findall(f"{terms} {found}".lower())}
    words = [term for term in _TERM.findall(call.given["keyword"].lower()) if term in known]
    return _always(Execution(call.tool, {"keyword": " ".join(words)}, call.truth, call.database))


def _same_documents(tool: Tool, call: ApiCall, truth: ApiCall) -> bool:
    """Whatever their sequence."""
    if call.exception != truth.exception or not isinstance(call.output, list):
        return False
    one, other = (sorted(c.output, key=lambda d: d["title"] + d["abstract"]) for c in (call, truth))
    return one == other


def _answer(call: Execution) -> Any:
    documents = call.database.recorded.get("DocumentQA", {})
    there = any(isinstance(known, tuple) and known[0] == call.text("url") for known in documents)
    demand(there and call.text("question"), "the question is empty, or there is no such document")
    answer = _always(call)
    return TOO_DIFFICULT if answer is UNRECORDED else answer


def _symptom(value: str) -> str:
    """The official checkers fail on an empty one, each with another error."""
    if not lowered(value):
        raise AttributeError("the symptom is empty")
    return lowered(value)


def _stock(given: Arguments, database: Database) -> Hashable:
    return uppered(given["stock_code"]), padded_time(given["date"], DATE)


def _query_scene(call: Execution) -> Any:
    """The database keeps names of devices in lower case; recordings are of an earlier state of it, with other names."""
    output = call.recorded()
    if not isinstance(output, list) or not all(isinstance(device, dict) for device in output):
        return output
    return [{k: lowered(v) if k == "name" and isinstance(v, str) else v for k, v in d.items()} for d in output]


def _write_scene(call: Execution) -> Any:
    raise ToolFailure("the devices are a text, as the tool manager passes lists on")


def _check_written_scene(tool: Tool, call: ApiCall, truth: ApiCall) -> bool:
    """The official checker subscripts the characters of that text before it looks at the exception."""
    raise TypeError("the devices are a text")


def _switch(given: Arguments, database: Database) -> Hashable:
    demand(lowered(given["name"]), "the name is empty")
    return lowered(given["name"]), padded_time(given["time"], TIME)


def _set_switch(call: Execution) -> str:
    _switch(call.given, call.database)
    return "success"


def _book_hotel(call: Execution) -> Any:
    """Rooms count as free: which are booked is not recorded."""
    for key in ("check_in_time", "check_out_time"):
        read_time(call.given[key], DATE)
    fits = call.given["adult_count"] <= 2 or call.given["room_count"] != 1
    demand(fits, "more than two adults need two rooms")
    return next(iter(call.database.orders), UNRECORDED)


def _calculate(call: Execution) -> float:
    """The value of whole numbers, ``+ - * /``, and brackets that do not nest.

    The official tool never ends on some other formulas (a leading minus).
    """
    formula = call.given["formula"].replace(" ", "")
    known = set("+-*/") & set(formula) and _FORMULA.fullmatch(formula)
    demand(known, "a formula has whole numbers, + - * / and brackets that do not nest")
    try:
        return float(evaluate(re.sub(r"(?<![0-9])0++(?=[0-9])", "", formula)))
    except (UnreadableCallError, OverflowError) as error:
        raise ToolFailure(str(error)) from error


def _send_email(call: Execution) -> str:
    receiver = call.text("receiver")
    demand(_ADDRESS.fullmatch(receiver) and receiver[1] != "@", "the receiver is no address in lower case")
    demand(call.text("subject") and call.text("content"), "the subject or content is empty")
    return "success"


def _play_music(call: Execution) -> str:
    name = lowered(call.given["music_name"])
    demand(name, "the name is empty")
    return f"music://{name}"


def _find_tools(call: Execution) -> Any:
    """The documentation that keywords find.

    The official tool ranks with a sentence-transformers model, which is not run here: recorded keywords find what they
    found, others what shares the rarest words with a tool's name and description, an approximation.
    """
    descriptions = call.database.descriptions
    found = _always(call)
    names = [t["name"] for t in (found if isinstance(found, list) else [found]) if isinstance(t, dict) and "name" in t]
    name = names[-1] if names else _nearest(call.given["keywords"], call.database)
    if name not in descriptions:
        return UNRECORDED
    if "token" not in descriptions[name].get("input_parameters", {}):
        return dict(descriptions[name])
    account = dict(descriptions.get(TOKEN_TOOL, {}))
    # the official tool hands out its own entry here, with the text that it searches
    return [account | {"desc_for_search": f"get user token{account.get('description')}"}, dict(descriptions[name])]


def _nearest(keywords: str, database: Database) -> str:
    """The tool whose words are most similar by TF-IDF; empty where no word is shared."""
    documents = {
        name: Counter(_WORD.findall(f"{re.sub('(?=[A-Z])', ' ', name)} {entry.get('description')}".lower()))
        for name, entry in database.descriptions.items()
        if name != TOOL_SEARCH
    }
    frequency = Counter(word for words in documents.values() for word in words)
    rarity = {word: math.log(len(documents) / count) + 1 for word, count in frequency.items()}
    asked = Counter(word for word in _WORD.findall(keywords.lower()) if word in rarity)

    def similarity(name: str) -> float:
        words = documents[name]
        length = math.sqrt(sum((count * rarity[word]) ** 2 for word, count in words.items()))
        return sum(count * words[word] * rarity[word] ** 2 for word, count in asked.items()) / length

    best = max(documents, key=similarity, default="")
    return best if best and similarity(best) else ""


_QUESTION: Final = {"url": stripped, "question": stripped}
_SWITCH: Final = {"name": lowered, "time": normal_second}
_ON: Final = _SWITCH | {"on": same}
_SCENE: Final = dict.fromkeys(("name", "devices"))
_COUNTS: Final = ("room_count", "adult_count", "child_count")
_STAY: Final = dict.fromkeys(("hotel_name", "check_in_time", "check_out_time", *_COUNTS))
_LETTER: Final = {"receiver": lowered, "subject": stripped, "content": stripped}

TOOLS: Final = (
    Tool("DocumentQA", _QUESTION, _answer, find=lambda given, _: tuple(given[key].strip() for key in _QUESTION)),
    Tool("ImageCaption", {"url": None}, Execution.recorded, same_call, find=_url(".jpg", ".jpeg", ".png")),
    Tool("SpeechRecognition", {"url": None}, Execution.recorded, same_call, find=_url(".wav")),
    Tool("Dictionary", {"keyword": None}, Execution.recorded, same_result, find=_keyword),
    Tool("Wiki", {"keyword": None}, Execution.recorded, same_result, find=_keyword),
    Tool("SearchEngine", {"keyword": None}, _search, _same_documents, find=_terms),
    Tool(
        "QueryHistoryToday",
        {"date": readable(_day_of_year)},
        _always,
        find=lambda given, _: _day_of_year(given["date"]),
    ),
    Tool("Translate", {"src": same}, _always, optional=dict.fromkeys(("src_lang", "tgt_lang")), find=_translation),
    # both read the same table: a symptom that one knows is known to the other
    Tool("SymptomSearch", {"symptom": _symptom}, Execution.recorded, table="symptoms", find=_by("symptom")),
    Tool("EmergencyKnowledge", {"symptom": _symptom}, Execution.recorded, table="symptoms", find=_by("symptom")),
    Tool("QueryStock", {"stock_code": uppered, "date": normal_day}, Execution.recorded, find=_stock),
    Tool("QueryBalance", {"token": stripped}, Execution.recorded, find=lambda given, database: database.owner(given)),
    Tool("AddScene", _SCENE, _write_scene, _check_written_scene, table="scenes", find=_by("name"), makes=True),
    Tool("ModifyScene", _SCENE, _write_scene, _check_written_scene, table="scenes", find=_by("name")),
    Tool("DeleteScene", {"name": lowered}, _succeed, table="scenes", find=_by("name")),
    Tool("QueryScene", {"name": lowered}, _query_scene, table="scenes", find=_by("name")),
    Tool("TimedSwitch", _ON, _set_switch, booleans=("on",), table="switches", find=_switch, makes=True),
    Tool("CancelTimedSwitch", _SWITCH, _succeed, table="switches", find=_switch),
    Tool(
        "OpenBankAccount",
        dict.fromkeys(("account", "password", "name")),
        lambda call: "failed" if call.given["account"] == TEST_ACCOUNT else "success",
        same_call,
    ),
    Tool("BookHotel", _STAY, _book_hotel, same_call, integers=_COUNTS),
    Tool("Calculator", {"formula": lambda value: value.replace(" ", "")}, _calculate),
    Tool("SendEmail", _LETTER, _send_email),
    Tool("PlayMusic", {"music_name": None}, _play_music, lambda tool, call, truth: bool(call.output == truth.output)),
    Tool("GetToday", {}, lambda call: "2023-03-31", lambda tool, call, truth: call.exception is None),
    Tool(TOOL_SEARCH, {"keywords": None}, _find_tools, same_result, find=_by("keywords")),
)
