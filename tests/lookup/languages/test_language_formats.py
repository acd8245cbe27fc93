"""Formats: what the standard library reads, and nothing else."""

import datetime
import ipaddress
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language_strategies import holds

from lookup.languages.formats import FORMATS
from lookup.languages.language import Language, format_language

CASES: dict[str, tuple[list[str], list[str]]] = {
    "date": (
        ["2024-02-29", "2000-02-29", "1999-12-31"],
        ["2023-02-29", "1900-02-29", "2024-04-31", "0000-01-01", "2024-1-1"],
    ),
    "time": (
        ["23:59:59Z", "00:00:00.5+14:30", "12:00:00z", "23:59:60Z", "23:59:60.5z", "15:59:60-08:00",
         "01:29:60+01:30", "23:59:60+00:00", "23:29:60+23:30", "05:44:60.25+05:45"],
        ["22:59:60Z", "23:58:60Z", "23:59:61Z", "23:59:60+01:00", "23:59:60-01:00", "24:00:00Z", "12:00:60Z",
         "12:00:00", "12:00Z", "12:00:00+24:00"],
    ),
    "date-time": (
        ["2024-02-29T12:00:00Z", "2024-02-28t12:00:00.123-08:00", "1998-12-31T23:59:60Z",
         "1998-12-31T15:59:60.123-08:00"],
        ["1998-12-31T22:59:60Z", "1998-12-31T23:58:60Z", "2023-02-29T12:00:00Z", "2024-02-28 12:00:00Z",
         "2024-02-28"],
    ),
    "duration": (["P1Y2M3DT4H5M6S", "P3W", "PT0S", "P1M", "PT5M"], ["P", "PT", "P1Y2W", "P1S", "1Y", "P1.5D", "P1Y2D"]),
    "email": (
        ["a.b+c@example.com", "x@localhost", '"a b"@c.de', '"a..b"@c.de', '"a@b"@c.de', r'"a\"b\\"@c.de',
         '""@c.de', "a@[127.0.0.1]", "a@[IPv6:::1]", "a@[ipv6:1:2:3:4:5:6:7:8]", '" "@[IPv6:fe80::1.2.3.4]'],
        ["a", "@b", "a@", "a b@c.de", ".a@b.c", "a..b@c.de", "a@b_c", '"a"b@c.de', '"a@c.de', '"a"b"@c.de',
         '"é"@c.de', "a@[127.0.0.300]", "a@[::1]", "a@[127.0.0.1", "a@127.0.0.1]", "a@[]", "a@[IPv6:1.2.3.4]",
         "a@b=c.de"],
    ),
    "hostname": (
        ["example.com", "a", "xn--4gbwdl.xn--wgbh1c", "a-b.c1", "a" * 63],
        ["-a", "a-", "a..b", "a_b", "a" * 64, ".a"],
    ),
    "ipv4": (["127.0.0.1", "255.255.255.255"], ["256.0.0.1", "1.2.3", "01.2.3.4", "1.2.3.4.5"]),
    "ipv6": (
        ["::", "::1", "1::", "::ffff:1.2.3.4", "1:2:3:4:5:6:7::", "1:2:3:4:5:6:1.2.3.4"],
        ["1", ":::", "1::2::3", "::%eth0", "12345::"],
    ),
    "uri": (
        ["http://a.b/c?d=e#f", "mailto:a@b.c", "urn:x:y", "http://[::1]:80/", "a://u:p@h:1/%20", "file:///a",
         "tel:+1-2"],
        ["//a/b", "a/b", "http://a b", "http://[1]", "a:%2", "1a:b", "http://a\\b", "http://ä", ""],
    ),
    "uri-reference": (["", "/a", "//h/p", "a/b?c", "#f", "x:y", "./a:b"], ["\\a", "a b", "1:b", "http://[1]", "%x"]),
    "uri-template": (["http://x/{a}{?b,c*}{#d:3}", "é", ""], ["{", "{}", "a b", "{a b}", "}"]),
    "uuid": (
        ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"],
        ["2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638g"],
    ),
    "json-pointer": (["", "/", "/a~0~1/é"], ["a", "/~", "/~2"]),
}  # fmt: skip


def language_of(name: str) -> Language:
    language = format_language(name)
    assert language is not None
    return language


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_has_its_texts_and_no_others(name: str) -> None:
    inside, outside = CASES[name]
    language = language_of(name)
    assert [text for text in inside if not holds(language, text)] == []
    assert [text for text in outside if holds(language, text)] == []
    for text in inside:
        state = language.run(language.start, text[: len(text) // 2])
        assert state is not None
        assert holds(language, text[: len(text) // 2] + language.rest(state))


def test_an_unknown_format_is_an_annotation() -> None:
    assert format_language("regex") is None and format_language("iri") is None
    assert format_language("int32") is None


def reads_date(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


@given(st.from_regex(r"\A(0000|[0-9]{4}|[0-9]{2}00)-[01][0-9]-[0-3][0-9]\Z"), st.dates().map(str))
def test_dates_are_real(text: str, date: str) -> None:
    assert holds(language_of("date"), text) == reads_date(text)
    assert holds(language_of("date"), date)


@given(st.datetimes(timezones=st.just(datetime.timezone(datetime.timedelta(minutes=-330)))))
def test_moments_are_date_times(moment: datetime.datetime) -> None:
    assert holds(language_of("date-time"), moment.isoformat())
    assert holds(language_of("time"), moment.timetz().isoformat())
    assert not holds(language_of("date-time"), moment.replace(tzinfo=None).isoformat())


def reads_address(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


PIECES = st.sampled_from(["::", ":", "1", "ab0", "FFFF", "12345", "1.2.3.4", "1.2.3.256"])


@given(
    st.lists(PIECES, max_size=16).map("".join),
    st.lists(PIECES.filter(str.isalnum), min_size=1, max_size=8),
    st.integers(0, 7),
)
def test_addresses_are_those_of_ipaddress(text: str, groups: list[str], at: int) -> None:
    left_out = ":".join(groups[:at]) + "::" + ":".join(groups[at:])
    for address in (text, ":".join(groups), left_out, left_out + ":1.2.3.4"):
        assert holds(language_of("ipv6"), address) == reads_address(address), address


@given(st.emails(), st.from_regex(r"\A[a-z]{1,9}(\.[a-z0-9]{1,9}){0,3}\Z"))
def test_common_addresses_are_accepted(email: str, host: str) -> None:
    if re.fullmatch(r".*@[^_]*", email) and len(email) <= 254:
        assert holds(language_of("email"), email)
    assert holds(language_of("hostname"), host)
    assert holds(language_of("uri"), f"https://{host}/a?b=c#d")
