"""Languages that Translate knows: those of googletrans 3.1.0a0, which API-Bank requires."""

from typing import Final

from eval.benchmarks.api_bank.tools.tool import ToolFailure

_TABLE: Final = """\
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

LANGUAGES: Final = dict(entry.split(maxsplit=1) for entry in _TABLE.replace("\n", " ").split(", "))
"""Code -> name, in the sequence in which the tool tries them."""


def language_code(language: str | None) -> str:
    """The code of a language, English where none is named.

    The tool takes a code, or a text with a language's name in it.

    Raises
    ------
    ToolFailure
        For any other text.
    """
    if language is None:
        return "en"
    language = language.lower()
    if "chinese" in language:
        return "zh-tw" if "traditional" in language else "zh-cn"
    for code, name in LANGUAGES.items():
        if code == language or name in language:
            return code
    raise ToolFailure("this language is not supported")
