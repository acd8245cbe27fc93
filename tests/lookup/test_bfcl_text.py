"""BFCL's XML and Python docstrings: the tools that are read equal the tools that were printed."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data import bfcl_entries, needs_data
from growth import assert_linear
from lookup.dictionary import MISSING
from lookup.errors import MisreadError
from lookup.forms.corpora.bfcl_python import FORM as PYTHON
from lookup.forms.corpora.bfcl_xml import FORM as XML
from parity.renderings import bfcl_python, bfcl_xml, python_type, xml_type


def tools(form, text):
    found = [entry.tool for entry in form.find(text)]
    assert not [tool for tool in found if isinstance(tool, MisreadError)]
    return found


def tool(form, text):
    [found] = tools(form, text)
    return found


def without_commas(value):
    """A default after its commas were deleted, even inside texts."""
    if isinstance(value, str):
        return value.replace(",", "")
    if isinstance(value, Mapping):
        return {without_commas(key): without_commas(member) for key, member in value.items()}
    return [without_commas(member) for member in value] if isinstance(value, list) else value


def demand_same(found, printed, required, xml):
    assert [key.name for key in found] == list(printed)
    for key, spec in zip(found, printed.values(), strict=True):
        default = spec.get("default", MISSING)
        assert key.raw_type == (xml_type(spec) if xml else python_type(spec))
        assert key.enum == (tuple(spec["enum"]) if "enum" in spec else None), key
        assert repr(key.default) == repr(without_commas(default) if xml else default)
        assert key.description.strip() == spec.get("description", "").strip()
        if xml:
            assert (key.required, key.rule) == (required is None or key.name in required, "flag")
        elif key.rule != "prose":
            assert key.required is (False if "default" in spec else None)
        nested = spec.get("properties", {})
        if nested or key.type.properties:
            demand_same(key.type.properties, nested, spec.get("required"), xml)


@needs_data
@pytest.mark.parametrize(("form", "printed"), [(XML, bfcl_xml), (PYTHON, bfcl_python)], ids=["xml", "python"])
@pytest.mark.parametrize("pattern", ["live_*", "[!l]*"])
def test_every_function_of_bfcl_reads_as_printed(form, printed, pattern):
    checked = 0
    for entry in bfcl_entries(pattern):
        found = tools(form, f"Tools:\n{printed(entry['function'])}\nQuestion: what now?")
        for spec, function in zip(found, entry["function"], strict=True):
            schema = function["parameters"]
            assert (spec.name, spec.description) == (function["name"], function["description"].strip())
            demand_same(spec.parameters, schema["properties"], schema.get("required"), form is XML)
            assert not spec.notes
            checked += 1
    assert checked > 1000


KEYS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n(),<>=:\"'"), min_size=1).map(str.strip)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n<")).map(str.strip)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
PLAIN = SCALARS | st.text(st.characters(codec="utf-8", exclude_characters=",<"))
VALUES = st.recursive(PLAIN, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text("ab'\""), v, max_size=3))
ENUMS = st.lists(PLAIN, min_size=1, max_size=4)
SPECS = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "number", "any", "dict", "array"])},
    optional={"description": TEXTS, "enum": ENUMS, "default": VALUES},
)


def schemas(depth):
    specs = SPECS
    if depth:
        nested = st.builds(lambda spec, schema: {**spec, **schema, "type": "dict"}, SPECS, schemas(depth - 1))
        specs = SPECS | nested
    keys = st.dictionaries(KEYS.filter(bool), specs, min_size=1, max_size=3)
    return st.builds(lambda k: {"properties": k, "required": list(k)[:1]}, keys)


@given(schemas(2), TEXTS)
def test_what_is_printed_reads_as_itself(schema, description):
    function = {"name": "a.b", "description": description, "parameters": schema}
    for form, printed in ((XML, bfcl_xml), (PYTHON, bfcl_python)):
        found = tool(form, f"Use:\n{printed([function])}\nNow.")
        assert (found.name, found.description) == ("a.b", description)
        demand_same(found.parameters, schema["properties"], schema["required"], form is XML)


def outline(keys):
    """``name:type:required`` of all keys, with nested keys in parentheses."""
    return " ".join(
        f"{key.name}:{key.raw_type}:{key.required}"
        + (f"({outline(key.type.properties)})" if key.type.properties is not None else "")
        for key in keys
    )


XML_VARIANTS = {
    "one line": (
        '<function name="f"><desc>d</desc><params><param name="a" type="int" required="true"><desc>x</desc></param>'
        '<param name="b" type="str" required="false"></param></params></function>',
        "a:int:True b:str:False",
    ),
    "attributes in any order and quotes": (
        "<tool name='f'>\n<params><param required='True' type='int' name='a'/><param name='b' /></params></tool>",
        "a:int:True b::False",
    ),
    "long names": (
        '<tool name="f"><description>d</description><parameters><parameter name="a" type="int">'
        "<description>x</description></parameter></parameters></tool>",
        "a:int:None",
    ),
    "keys without <params>": (
        '<function name="f"><param name="a"><param name="b"/></param></function>',
        "a::None(b::None)",
    ),
    "no keys": ('<function name="f"><desc>d</desc><params/></function>', ""),
    "no keys, no description": ('<function name="f">\n<params></params>\n</function>', ""),
    "attributes say everything": (
        '<function description="d" name="f"><param name="a" type="int" required description="x"/></function>',
        "a:int:True",
    ),
    "text in the place of a description": (
        '<function name="f"><params><param name="a" type="int" required="false">x</param></params></function>',
        "a:int:False",
    ),
    "windows lines": (
        '<function name="f">\r\n  <desc>d</desc>\r\n  <params>\r\n    <param name="a" type="int" required="true">\r\n'
        "      <desc>x</desc>\r\n    </param>\r\n  </params>\r\n</function>\r\n",
        "a:int:True",
    ),
    "tags in descriptions": (
        '<function name="f"><desc>at <ip>, <params> or <TYPE>.class & "x"</desc><params><param name="a" type="int" '
        'required="true"><desc><b>x</b> <desc></desc></param></params></function>',
        "a:int:True",
    ),
    "no end": ('<function name="f"><desc>d</desc><params><param name="a"/></params>\n\nQuestion', "a::None"),
}


@pytest.mark.parametrize("variant", XML_VARIANTS)
def test_variants_of_the_xml(variant):
    text, expected = XML_VARIANTS[variant]
    found = tool(XML, f"```xml\n{text}\n```")
    assert (found.name, outline(found.parameters)) == ("f", expected)


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("\"'km'\"", "km"),
        ('""it\'s""', "it's"),
        ('"">\'""', ">'"),
        ("\"['a' 'b' [\"c'\" 1]]\"", ["a", "b", ["c'", 1]]),
        ("\"{'a': 1 'b': {'c': -2.5}}\"", {"a": 1, "b": {"c": -2.5}}),
        ('"(1 2)"', (1, 2)),
        ('"None"', None),
        ('"plain text"', "plain text"),
        ('""', ""),
        ("'\"a\"'", "a"),
        ('"[<object>]"', "[<object>]"),
    ],
)
@pytest.mark.parametrize("behind", ["", ' required="false"', " type='int'", ' type=""'])
def test_defaults_in_an_attribute(printed, value, behind):
    found = tool(XML, f'<function name="f"><param name="a" default={printed}{behind}><desc>x</desc></param></function>')
    [key] = found.parameters
    assert (key.default, key.required, key.description) == (value, False, "x")
    assert bool(found.notes) is (value == "[<object>]")


@pytest.mark.parametrize(
    "text",
    [
        '<function name="f"></function>',
        "<function=f><parameter=city>Berlin</parameter></function>",
        '<function name="f"><parameters><parameter name="city">Berlin</parameter></parameters></function>',
        '<function name="f"><parameter name="city" type="str">Berlin</parameter></function>',
        'Write <function name="f"> and <param name="x"> as you like.',
        "# Function: f\nmakes tea",
        "Write # Function: f above it.\n",
        '# Function: f\n"""',
        "def f(): ...",
    ],
)
def test_what_only_resembles_documentation(text):
    assert not [*XML.find(text), *PYTHON.find(text)]


@pytest.mark.parametrize(
    ("form", "text", "found"),
    [
        (XML, '<function name="f"><desc>d</desc><params><param name="a" type="int"', "complete"),
        (XML, '<function name="f"><desc>d</desc><params><param name="a"></param>', "</function>"),
        (XML, '<function name="f"><desc>d</desc><params><param type="int"></param></params></function>', "name"),
        (XML, '<function name="f"><desc>d</desc><params><param name="a">\n</params></function>', "</param>"),
        (XML, '<function name="f"><desc>d', "</desc>"),
        (XML, '<function name="f"><params>' + '<param name="a"><params>' * 20, "levels"),
        (PYTHON, '# Function: f\n    """\n    d\n\n    Args:\n        a (int): x\n', '"""'),
    ],
)
def test_documentation_that_is_cut_or_broken_names_the_tool(form, text, found):
    [entry] = form.find(text)
    assert isinstance(entry.tool, MisreadError)
    assert "tool 'f'" in str(entry.tool)
    assert found in str(entry.tool)


FRAGMENTS = [
    "<function name='f'>", "</function>", "<desc>", "</desc>", "<desc/>", "<params>", "</params>", "<params/>", ">",
    "<param name=\"a\" type='x'>", "</param>", "<param name='b' default=\"['x' 1]\"/>", "<param ", '"',
    'required="perhaps">', " Enum values: ['a'].", "# Function: f\n", '    """\n', '"""', "    Args:\n", "text", "\n",
    "        a (int): x\n", "            b (): y\n", "        c (str, default='", "'): z\n", "[", "(", "'",
]  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS)).map("".join))
def test_any_text_gives_stretches_in_order(text):
    for form in (XML, PYTHON):
        position = 0
        for entry in form.find(text):
            assert position <= entry.start < entry.end <= len(text)
            position = entry.end


def test_stretches_hold_the_tools_and_nothing_else():
    function = {"name": "f", "description": "d", "parameters": {"properties": {"a": {"type": "string"}}}}
    for form, printed in ((XML, bfcl_xml), (PYTHON, bfcl_python)):
        block = printed([function])
        text = f"Tools:\n{block}\n\n{block}\nGo on."
        assert [text[entry.start : entry.end] for entry in form.find(text)] == [block.rstrip("\n")] * 2


PYTHON_TEXT = '''
# Function: f
    """
    First line.

    Args:
        none of mine (yet): not the last section

    Args:
        a line that is no key
        Content-Type (str, default='a): b'): The type (str): of it. Enum values: ['a', "b'], ["].
            q (float): inside
                    too (deep): a key
going on (int): here
        año (): without a type
        users('Name') (list[dict[str, int]], default=<x>): odd. Enum values: [1. Enum values: ['a', "b'], ["].
        año (int): again
    Returns:
        int (int): no key
    """
'''


@pytest.mark.parametrize("indent", ["", "      "])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_docstring_lines(indent, line_end):
    text = "".join(f"{indent if line[:1] in (' ', '#') else ''}{line}{line_end}" for line in PYTHON_TEXT.split("\n"))
    found = tool(PYTHON, text)
    assert outline(found.parameters) == (
        "Content-Type:str:False(q:float:None) año::None users('Name'):list[dict[str, int]]:False"
    )
    first, _, users = found.parameters
    assert (first.default, first.enum) == ("a): b", ("a", "b'], ["))
    [inside] = first.type.properties
    assert (first.type.kind, " ".join(inside.description.split())) == (
        "dict",
        "inside too (deep): a key going on (int): here",
    )
    assert (users.default, users.description) == ("<x>", "odd. Enum values: [1.")
    assert str(users.type) == "list[dict[int]]"
    assert "Args:" in found.description
    assert len(found.notes) == 3


XML_KEY = '<function name="a"><desc>d</desc><params><param name="b" '
WORST = {
    "tools": lambda n: '<function name="a">' * n,
    "tools with texts": lambda n: '<function name="a"><desc>' * n,
    "keys": lambda n: '<function name="a"><desc>' + "<param " * n,
    "named keys": lambda n: '<function name="a"><params>' + '<param name="b">' * n,
    "one tag": lambda n: '<function name="a' + '" "' * n,
    "spaces": lambda n: '<function name="a" ' + " " * n + '"' + " " * n,
    "attributes": lambda n: '<function name="a"' + ' b="' * n,
    "defaults": lambda n: '<function name="a"><params>' + '<param name="b" default="[\'' * n,
    "quotes in a default": lambda n: XML_KEY + 'default="' + "['' \"" * n,
    "defaults of one key": lambda n: XML_KEY + "default=\"'a' " * n,
    "brackets in a default": lambda n: XML_KEY + 'default="' + "[" * n,
    "closing texts": lambda n: '<function name="a"><desc>' + "</desc><desc>" * n,
    "enums": lambda n: XML_KEY + "><desc>" + " Enum values: ['" * n + "</desc></param></function>",
    "headings": lambda n: "# Function: a\n" * n,
    "docstrings": lambda n: '# Function: a\n"""\n' * n,
    "blank lines": lambda n: "# Function: a\n" + "\n " * n,
    "arguments": lambda n: '# Function: a\n"""\n' + "Args:\n" * n + '"""',
    "brackets in a line": lambda n: '# Function: a\n"""\nArgs:\n    a' + " (b, default='" * n + '\n"""',
    "keys with brackets": lambda n: (
        '# Function: a\n"""\nArgs:\n' + ("    a" + " (" * 50 + "b): c\n") * (n // 50) + '"""'
    ),
}


def read(text):
    for form in (XML, PYTHON):
        list(form.find(text))


@pytest.mark.parametrize("worst", WORST)
def test_doubling_the_text_doubles_the_time(worst):
    assert_linear(read, WORST[worst], 4000)
