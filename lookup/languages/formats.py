"""Patterns of whole texts: formats of JSON Schema.

Sources: RFC 3339 (dates, times, durations), RFC 5321 and 5322 (e-mail), RFC 1123 (hostnames), RFC 4291 (IPv6),
RFC 3986 (URIs), RFC 6570 (URI templates), RFC 6901 (JSON pointers), RFC 9562 (UUIDs).
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
_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"

_QUOTED: Final = r'"(?:[ !#-\[\]-~]|\\[ -~])*"'

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


_ESCAPED: Final = "%[0-9A-Fa-f]{2}"
_UNRESERVED: Final = r"A-Za-z0-9\-._~"
_SUBS: Final = r"!$&'()*+,;="
_USERINFO: Final = rf"(?:[{_UNRESERVED}{_SUBS}:]|{_ESCAPED})*@"
_LITERAL: Final = rf"\[(?:{_IPV6}|[vV][0-9A-Fa-f]+\.[{_UNRESERVED}{_SUBS}:]+)\]"
_HOST: Final = rf"(?:{_LITERAL}|(?:[{_UNRESERVED}{_SUBS}]|{_ESCAPED})*)"
_CHARACTER: Final = rf"(?:[{_UNRESERVED}{_SUBS}:@]|{_ESCAPED})"
_SEGMENTS: Final = rf"(?:/{_CHARACTER}*)*"
_ROOTED: Final = rf"(?://(?:{_USERINFO})?{_HOST}(?::\d*)?{_SEGMENTS}|/(?:{_CHARACTER}+{_SEGMENTS})?|)"
_TAIL: Final = rf"(?:\?(?:{_CHARACTER}|[/?])*)?(?:#(?:{_CHARACTER}|[/?])*)?"
_SCHEME: Final = r"[A-Za-z][A-Za-z0-9+.\-]*:"
_ROOTLESS: Final = rf"{_CHARACTER}+{_SEGMENTS}"
_RELATIVE: Final = rf"(?:[{_UNRESERVED}{_SUBS}@]|{_ESCAPED})+{_SEGMENTS}"

_NAME: Final = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*(?::[1-9]\d{0,3}|\*)?"
_TEMPLATE: Final = (
    r"(?:[!#$&(-;=?-\[\]_a-z~\u00A0-\uD7FF\uE000-\u{10FFFD}]|%[0-9A-Fa-f]{2}"
    rf"|\{{[+#./;?&=,!@|]?{_NAME}(?:,{_NAME})*\}})*"
)
_POINTER: Final = r"(?:/(?:[^~/]|~[01])*)*"

FORMATS: Final[dict[str, tuple[str, int | None]]] = {
    "date": (_DATE, None),
    "time": (_TIME, None),
    "date-time": (f"{_DATE}[tT]{_TIME}", None),
    "duration": (_DURATION, None),
    "email": (rf"(?:{_ATOM}(?:\.{_ATOM})*|{_QUOTED})@(?:{_HOSTNAME}|{_MAIL_HOST})", 254),
    "hostname": (_HOSTNAME, 253),
    "ipv4": (_IPV4, None),
    "ipv6": (_IPV6, None),
    "uri": (rf"{_SCHEME}(?:{_ROOTED}|{_ROOTLESS}){_TAIL}", None),
    "uri-reference": (rf"(?:(?:{_SCHEME})?{_ROOTED}|{_SCHEME}{_ROOTLESS}|{_RELATIVE}){_TAIL}", None),
    "uri-template": (_TEMPLATE, None),
    "uuid": (r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", None),
    "json-pointer": (_POINTER, None),
}
"""Name -> pattern, and how many characters a text has at most."""
