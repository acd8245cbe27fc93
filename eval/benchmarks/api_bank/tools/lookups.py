"""Rules of the tools that look something up, replayed from recordings.

What no recording shows: a document, picture, sound, symptom, price, scene, switch, keyword of Wiki or Dictionary fails;
a day's history, a search and a translation give an output that is not the recorded one.
"""

import re
from collections.abc import Hashable
from typing import Any, Final

from eval.benchmarks.api_bank.tools.rule import (
    DATE,
    TIME,
    UNRECORDED,
    ApiCall,
    Arguments,
    Database,
    Find,
    Replay,
    Tool,
    ToolFailure,
    always,
    lowered,
    normal_day,
    normal_second,
    padded_time,
    read_time,
    readable,
    recorded,
    same,
    same_call,
    same_result,
    stripped,
    succeed,
    uppered,
)

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


def _translation(arguments: Arguments, database: Database) -> Hashable:
    """The text and the target language; the source language only has to exist."""
    if "src_lang" in arguments:
        _language_code(arguments["src_lang"])
    return arguments["src"], _language_code(arguments.get("tgt_lang", "en"))


def _day_of_year(text: str) -> str:
    """Month and day of ``%Y-%m-%d`` or ``%m-%d``; ToolFailure for anything else."""
    try:
        day = padded_time(text, DATE)
    except ToolFailure:
        day = read_time(text.strip(), "%m-%d")
    return day.strftime("%m-%d")


def _url(*endings: str) -> Find:
    def find(arguments: Arguments, database: Database) -> Hashable:
        url: str = arguments["url"].strip()
        if not url.endswith(endings):
            raise ToolFailure(f"the URL must end with {' or '.join(endings)}")
        return url

    return find


def _keyword(arguments: Arguments, database: Database) -> Hashable:
    return lowered(arguments["keyword"].replace("_", " "))


def _terms(arguments: Arguments, database: Database) -> Hashable:
    """BM25 knows neither case nor sequence of the words."""
    return tuple(sorted(_TERM.findall(arguments["keyword"].lower())))


def _search(arguments: Arguments, replay: Replay) -> Any:
    """BM25 gives nothing for words that no document has: here, that no recorded keyword or document has."""
    searches = replay.database.recorded.get("SearchEngine", {})
    known = {term for terms, found in searches.items() for term in _TERM.findall(f"{terms} {found}".lower())}
    words = [term for term in _TERM.findall(arguments["keyword"].lower()) if term in known]
    return always({"keyword": " ".join(words)}, replay)


def _same_documents(tool: Tool, call: ApiCall, truth: ApiCall) -> bool:
    """Whatever their sequence."""
    if call.exception != truth.exception or not isinstance(call.output, list):
        return False
    one, other = (sorted(c.output, key=lambda d: d["title"] + d["abstract"]) for c in (call, truth))
    return one == other


def _document(arguments: Arguments, database: Database) -> Hashable:
    return arguments["url"].strip(), arguments["question"].strip()


def _answer(arguments: Arguments, replay: Replay) -> Any:
    url, question = arguments["url"].strip(), arguments["question"].strip()
    documents = replay.database.recorded.get("DocumentQA", {})
    if not question or not any(isinstance(known, tuple) and known[0] == url for known in documents):
        raise ToolFailure("the question is empty, or there is no such document")
    answer = always(arguments, replay)
    return TOO_DIFFICULT if answer is UNRECORDED else answer


def _symptom(value: str) -> str:
    """The official checkers fail on an empty one, each with another error."""
    if not lowered(value):
        raise AttributeError("the symptom is empty")
    return lowered(value)


def _stock(arguments: Arguments, database: Database) -> Hashable:
    return uppered(arguments["stock_code"]), padded_time(arguments["date"], DATE)


def _scene(arguments: Arguments, database: Database) -> Hashable:
    return lowered(arguments["name"])


def _query_scene(arguments: Arguments, replay: Replay) -> Any:
    """The database keeps names of devices in lower case; recordings are of an earlier state of it, with other names."""
    output = recorded(arguments, replay)
    if not isinstance(output, list) or not all(isinstance(device, dict) for device in output):
        return output
    return [{k: lowered(v) if k == "name" and isinstance(v, str) else v for k, v in d.items()} for d in output]


def _write_scene(arguments: Arguments, replay: Replay) -> Any:
    """Always fails: the devices arrive as a text, whose characters are no devices."""
    raise ToolFailure("the devices are a text, as the tool manager passes lists on")


def _check_written_scene(tool: Tool, call: ApiCall, truth: ApiCall) -> bool:
    """The official checker subscripts the characters of that text before it looks at the exception."""
    raise TypeError("the devices are a text")


def _switch(arguments: Arguments, database: Database) -> Hashable:
    name = lowered(arguments["name"])
    if not name:
        raise ToolFailure("the name is empty")
    return name, padded_time(arguments["time"], TIME)


def _set_switch(arguments: Arguments, replay: Replay) -> str:
    _switch(arguments, replay.database)
    return "success"


_SWITCH: Final = {"name": lowered, "time": normal_second}
_NEW_SCENE: Final = dict.fromkeys(("name", "devices"))

TOOLS: Final = (
    Tool("DocumentQA", {"url": stripped, "question": stripped}, _answer, find=_document),
    Tool("ImageCaption", {"url": None}, recorded, same_call, find=_url(".jpg", ".jpeg", ".png")),
    Tool("SpeechRecognition", {"url": None}, recorded, same_call, find=_url(".wav")),
    Tool("Dictionary", {"keyword": None}, recorded, same_result, find=_keyword),
    Tool("Wiki", {"keyword": None}, recorded, same_result, find=_keyword),
    Tool("SearchEngine", {"keyword": None}, _search, _same_documents, find=_terms),
    Tool(
        "QueryHistoryToday", {"date": readable(_day_of_year)}, always, find=lambda given, _: _day_of_year(given["date"])
    ),
    Tool("Translate", {"src": same}, always, optional=dict.fromkeys(("src_lang", "tgt_lang")), find=_translation),
    # both read the same table: a symptom that one knows is known to the other
    *(
        Tool(name, {"symptom": _symptom}, recorded, table="symptoms", find=lambda given, _: lowered(given["symptom"]))
        for name in ("SymptomSearch", "EmergencyKnowledge")
    ),
    Tool("QueryStock", {"stock_code": uppered, "date": normal_day}, recorded, find=_stock),
    Tool("QueryBalance", {"token": stripped}, recorded, find=lambda given, database: database.owner(given["token"])),
    Tool("AddScene", _NEW_SCENE, _write_scene, _check_written_scene, table="scenes", find=_scene, makes=True),
    Tool("ModifyScene", _NEW_SCENE, _write_scene, _check_written_scene, table="scenes", find=_scene),
    Tool("DeleteScene", {"name": lowered}, succeed, table="scenes", find=_scene),
    Tool("QueryScene", {"name": lowered}, _query_scene, table="scenes", find=_scene),
    Tool(
        "TimedSwitch",
        _SWITCH | {"on": same},
        _set_switch,
        booleans=("on",),
        table="switches",
        find=_switch,
        makes=True,
    ),
    Tool("CancelTimedSwitch", _SWITCH, succeed, table="switches", find=_switch),
)
