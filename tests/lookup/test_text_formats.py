"""Formats: what the standard library reads, and nothing else."""

import pytest
from seams import grammar_of, literal

from lookup.schema.value_schema import value_schema

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


SCHEMAS = {name: value_schema({"type": "string", "format": name}) for name in CASES}
GRAMMARS = {name: grammar_of(schema) for name, schema in SCHEMAS.items()}


def holds(name: str, text: str) -> bool:
    """Whether a text has a format; grammar and check agree."""
    grammar = GRAMMARS[name]
    assert grammar
    found = grammar.complete(literal(text))
    assert SCHEMAS[name].allows(text) == found
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_format_has_its_texts_and_no_others(name: str) -> None:
    inside, outside = CASES[name]
    assert [text for text in (*inside, *outside) if holds(name, text)] == inside
    grammar = GRAMMARS[name]
    for text in inside:
        begun = literal(text)[: 1 + len(text) // 2]
        assert grammar and grammar.complete(begun + grammar.close(begun))


@pytest.mark.parametrize("name", ["regex", "iri", "int32"])
def test_an_unknown_format_is_an_annotation(name: str) -> None:
    assert value_schema({"type": "string", "format": name}).allows("any")
