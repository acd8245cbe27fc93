"""Formats of JSON Schema, as patterns of the whole text.

Sources: RFC 3339 (dates, times, durations), RFC 5321, 5322 and 6531 (e-mail), RFC 1123 (hostnames), RFC 4291 (IPv6),
RFC 3986 and 3987 (URIs, IRIs), RFC 6570 (URI templates), RFC 6901 (JSON pointers), RFC 9562 (UUIDs).
"""

from typing import Final

_LEAP: Final = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DATE: Final = (
    r"(?:(?!0000)\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"
    rf"|02-(?:0[1-9]|1\d|2[0-8]))|{_LEAP}-02-29)"
)
_CLOCK: Final = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?"


def _leap_seconds() -> str:
    """The last second of a day in UTC with a leap second, in UTC and in each zone of a whole quarter of an hour."""
    found = []
    for shift in range(0, 24 * 60, 15):
        local, ahead, behind = (divmod(minutes % (24 * 60), 60) for minutes in (shift - 1, shift, -shift))
        zone = rf"\+{ahead[0]:02}:{ahead[1]:02}|-{behind[0]:02}:{behind[1]:02}" + ("" if shift else "|[zZ]")
        found.append(rf"{local[0]:02}:{local[1]:02}:60(?:\.\d+)?(?:{zone})")
    return "|".join(found)


_TIME: Final = rf"(?:{_CLOCK}(?:[zZ]|[+-](?:[01]\d|2[0-3]):[0-5]\d)|{_leap_seconds()})"

_DURATION: Final = r"P(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)(?:T{0})?|T{0})".replace(
    "{0}", r"(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"
)

_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOSTNAME: Final = rf"{_LABEL}(?:\.{_LABEL})*"
_LETTER: Final = r"\p{L}\p{M}\p{N}"
# RFC 5892 allows no capitals beside other scripts; its rules for normal forms and directions are not checked.
_SMALL: Final = r"\p{Ll}\p{Lo}\p{Nd}"
_IDN_LABEL: Final = rf"(?:{_LABEL}|[{_SMALL}](?:[{_SMALL}\p{{M}}\-]{{0,61}}[{_SMALL}\p{{M}}])?)"
_IDN_HOSTNAME: Final = rf"{_IDN_LABEL}(?:[.\u3002\uFF0E\uFF61]{_IDN_LABEL})*"

_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"

_QUOTED: Final = r'"(?:[ !#-\[\]-~{more}]|\\[ -~])*"'

_OCTET: Final = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4: Final = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_H16: Final = r"[0-9A-Fa-f]{1,4}"


def _groups(most: int) -> str:
    """One to ``most`` groups of an IPv6 address; an IPv4 address stands for the last two."""
    if most == 1:
        return rf"(?:{_H16})"
    return rf"(?:{_IPV4}|{_H16}(?::{_groups(most - 1)})?)"


def _behind(count: int) -> str:
    """What follows ``count`` groups of an IPv6 address, none of which was left out so far."""
    if count == 8:
        return ""
    left_out = rf"::{_groups(7 - count)}?" if count < 7 else "::"
    group = rf"{_H16}{_behind(count + 1)}"
    return rf"(?:{left_out}|:{group})" if count != 6 else rf"(?:{left_out}|:(?:{_IPV4}|{group}))"


# Each alternative begins differently, so that few states are needed to tell them apart.
_IPV6: Final = rf"(?:::{_groups(7)}?|{_H16}{_behind(1)})"

_MAIL_HOST: Final = rf"\[(?:{_IPV4}|[iI][pP][vV]6:{_IPV6})\]"


def _uri(letters: str, private: str) -> tuple[str, str]:
    """The patterns of a URI and of a reference. ``letters``: more unreserved characters; ``private``: of queries."""
    escaped = "%[0-9A-Fa-f]{2}"
    unreserved = rf"A-Za-z0-9\-._~{letters}"
    subs = r"!$&'()*+,;="
    userinfo = rf"(?:[{unreserved}{subs}:]|{escaped})*@"
    literal = rf"\[(?:{_IPV6}|[vV][0-9A-Fa-f]+\.[{unreserved}{subs}:]+)\]"
    host = rf"(?:{literal}|(?:[{unreserved}{subs}]|{escaped})*)"
    character = rf"(?:[{unreserved}{subs}:@]|{escaped})"
    segments = rf"(?:/{character}*)*"
    rooted = rf"(?://(?:{userinfo})?{host}(?::\d*)?{segments}|/(?:{character}+{segments})?|)"
    tail = rf"(?:\?(?:{character}|[/?{private}])*)?(?:#(?:{character}|[/?])*)?"
    scheme = r"[A-Za-z][A-Za-z0-9+.\-]*:"
    rootless = rf"{character}+{segments}"
    relative = rf"(?:[{unreserved}{subs}@]|{escaped})+{segments}"
    return rf"{scheme}(?:{rooted}|{rootless}){tail}", rf"(?:(?:{scheme})?{rooted}|{scheme}{rootless}|{relative}){tail}"


_BEYOND: Final = (
    r"\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF\u{10000}-\u{1FFFD}\u{20000}-\u{2FFFD}\u{30000}-\u{3FFFD}"
    r"\u{40000}-\u{4FFFD}\u{50000}-\u{5FFFD}\u{60000}-\u{6FFFD}\u{70000}-\u{7FFFD}\u{80000}-\u{8FFFD}\u{90000}-\u{9FFFD}"
    r"\u{A0000}-\u{AFFFD}\u{B0000}-\u{BFFFD}\u{C0000}-\u{CFFFD}\u{D0000}-\u{DFFFD}\u{E1000}-\u{EFFFD}"
)
_PRIVATE: Final = r"\uE000-\uF8FF\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}"
_URI, _URI_REFERENCE = _uri("", "")
_IRI, _IRI_REFERENCE = _uri(_BEYOND, _PRIVATE)

_NAME: Final = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*(?::[1-9]\d{0,3}|\*)?"
_TEMPLATE: Final = (
    rf"(?:[!#$&(-;=?-\[\]_a-z~{_BEYOND}{_PRIVATE}]|%[0-9A-Fa-f]{{2}}|\{{[+#./;?&=,!@|]?{_NAME}(?:,{_NAME})*\}})*"
)
_POINTER: Final = r"(?:/(?:[^~/]|~[01])*)*"

FORMATS: Final[dict[str, tuple[str, int | None]]] = {
    "date": (_DATE, None),
    "time": (_TIME, None),
    "date-time": (f"{_DATE}[tT]{_TIME}", None),
    "duration": (_DURATION, None),
    "email": (rf"(?:{_ATOM}(?:\.{_ATOM})*|{_QUOTED.replace('{more}', '')})@(?:{_HOSTNAME}|{_MAIL_HOST})", 254),
    "idn-email": (
        rf"(?:(?:[{_LETTER}]|{_ATOM})+(?:\.(?:[{_LETTER}]|{_ATOM})+)*|{_QUOTED.replace('{more}', _LETTER)})"
        rf"@(?:{_IDN_HOSTNAME}|{_MAIL_HOST})",
        254,
    ),
    "hostname": (_HOSTNAME, 253),
    "idn-hostname": (_IDN_HOSTNAME, 253),
    "ipv4": (_IPV4, None),
    "ipv6": (_IPV6, None),
    "uri": (_URI, None),
    "uri-reference": (_URI_REFERENCE, None),
    "iri": (_IRI, None),
    "iri-reference": (_IRI_REFERENCE, None),
    "uri-template": (_TEMPLATE, None),
    "uuid": (r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", None),
    "json-pointer": (_POINTER, None),
    "relative-json-pointer": (rf"(?:0|[1-9]\d*)(?:#|{_POINTER})", None),
}
"""Name -> pattern, and how many characters a text has at most."""
