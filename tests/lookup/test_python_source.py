"""Python functions and signature lines extract to the documented tools; other text does not look like them."""

import functools
import keyword
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field
from seams import key_text, only, tool_text

from lookup import MISSING, DocumentationError, ParameterSpec, ToolSpec, extract
from lookup.documents.parameters.requiredness import prose
from lookup.literals.syntaxes import escape, render_literal
from lookup.type_names import value_type

KEYS = st.from_regex(r"[^\W\d]\w{0,8}", fullmatch=True).filter(
    lambda key: key.isidentifier() and not keyword.iskeyword(key.rstrip("\u02bc")) and key not in ("self", "cls")
) | st.sampled_from(["\u02bc", "a\u02bc"])
NAMES = st.from_regex(r"[a-zA-Z]\w{0,8}", fullmatch=True).filter(lambda name: not keyword.iskeyword(name))
TYPES = st.sampled_from(
    [
        *("int", "str", "float", "bool", "list[str]", "Dict[str, int]", "Optional[int]", "str | None"),
        *("Union[int, str]", "tuple[int, ...]", "List[Dict[str, Any]]", "Unit", "datetime", "a.B[c, 'd']", "Any"),
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" "))
DEFAULTS = st.recursive(
    SCALARS | TEXTS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2), max_leaves=4
)
LINES = st.builds(
    lambda first, rest: (first + rest).rstrip(),
    st.sampled_from("abcxyzÄ城"),
    st.text(st.sampled_from("abc xyzÄ城 .,;()[]{}'\"`#:|<>*\\$%-=0123456789\u2014")),
)


@st.composite
def tools(draw, first=TYPES):
    specs = []
    for key in draw(st.lists(KEYS, unique=True, max_size=5)):
        raw_type, description = draw(TYPES if specs else first), draw(st.just("") | LINES)
        default = draw(st.just(MISSING) | DEFAULTS)
        said = prose(description)
        required = False if default is not MISSING else True if said is None else said
        specs.append(ParameterSpec(key, value_type(raw_type), raw_type, required, description, None, default))
    return ToolSpec(draw(NAMES), draw(LINES), tuple(specs))


def listed(tool, joint=", "):
    return joint.join(
        f"{p.name}: {p.raw_type}" + ("" if p.default is MISSING else f" = {render_literal(p.default)}")
        for p in tool.parameters
    )


def google(tool, typed=False):
    keys = "".join(f"    {p.name}{f' ({p.raw_type})' if typed else ''}: {p.description}\n" for p in tool.parameters)
    return f"{tool.description}\n\nArgs:\n{keys}\nReturns:\n    fake: Is no key.\n"


def numpy(tool):
    keys = "".join(f"{p.name} : {p.raw_type}\n    {p.description}\n" for p in tool.parameters)
    return f"{tool.description}\n\nParameters\n----------\n{keys}\nReturns\n-------\nfake : int\n    Is no key.\n"


def sphinx(tool):
    keys = "".join(f":param {p.name}: {p.description}\n:type {p.name}: {p.raw_type}\n" for p in tool.parameters)
    return f"{tool.description}\n\n{keys}:returns: No key.\n:rtype: int\n"


def indented(text, by="    "):
    return "".join(by + line if line.strip() else line for line in text.splitlines(keepends=True))


def function(tool, style, parameters):
    docstring = "\n".join(escape(line, '"') for line in style(tool).split("\n"))
    docstring = indented(f'"""{docstring}"""\n')
    return f"def {tool.name}({parameters}) -> dict[str, int]:\n{docstring}    return call(x='def fake(a: int)')\n"


@pytest.mark.parametrize("style", [google, numpy, sphinx])
@given(tools())
def test_a_function_extracts_to_itself(style, tool):
    source = function(tool, style, listed(tool))
    several = function(tool, style, f"\n    self,  # a, b: (\n    {listed(tool, ',  # it(s' + chr(10) + '    ')}\n")
    method = (
        f"class A:\n    '''Doc.'''\n\n    @tool('x',\n        y=1)\n    async {indented(several).lstrip()}    x = 1\n"
    )
    stub = source.partition("\n")[0]
    for text in (source, several, method, f"Use:\n```python\n{source}```\nGo.", source.replace("\n", "\r\n")):
        assert only(text) == tool
    typed = functools.partial(style, typed=True) if style is google else style
    untyped = only(function(tool, typed, ", ".join(p.name for p in tool.parameters)))
    assert [(p.name, p.raw_type, p.type) for p in untyped.parameters] == [
        (p.name, p.raw_type, p.type) for p in tool.parameters
    ]
    undocumented = ToolSpec(tool.name, "", tuple(bare(p) for p in tool.parameters))
    for text in (f"{stub} ...", stub.removesuffix(":"), f"1. `{stub.removesuffix(':')}`", f"{stub}\n    pass\n\nEnd."):
        assert only(text) == undocumented


def bare(p):
    return ParameterSpec(p.name, p.type, p.raw_type, p.default is MISSING, "", None, p.default)


@given(tools(first=st.sampled_from(["int", "Any", "list[str]"])))
def test_a_signature_line_extracts_to_itself(tool):
    """Without a known type, the words may be the values of a call."""
    head = f"{tool.name}({listed(tool)}) -> dict[str, int]"
    undescribed = ToolSpec(tool.name, tool.description, tuple(bare(p) for p in tool.parameters))
    lines = [f"{head} - {tool.description}", f"- `{head}` \u2014 {tool.description}", f"{head}  # {tool.description}"]
    lines.append(f"* **{tool.name}**{head.removeprefix(tool.name)} - {tool.description}")
    if not tool.description.endswith((";", "{", "=>")):
        lines.append(f"{head}: {tool.description}")
    for line in lines:
        for text in (line, f"Tools:\n{line}\nEnd: (x: y)", f"  {line}\r\n"):
            assert only(text) == undescribed
    block = google(tool).removeprefix(tool.description)
    for text in (f"{lines[0]}{indented(block)}", f"* {lines[0]}{indented(block)}\nEnd."):
        assert only(text) == tool


@pytest.mark.parametrize(
    ("signature", "docstring", "expected"),
    [
        ("x: Literal['a', 'b'] = 'a'", "", 'x: str in ["a", "b"] = "a"'),
        ("x: Optional[Literal[1, 2]] = None", "", "x: int? in [1, 2] = null"),
        ("x: Annotated[int, 'The (x), it\\'s.']", "", "x!: int # The (x), it's."),
        ("x: Annotated[list[int], Field(description='The ' 'x', ge=1)] = []", "", "x: list[int] = [] # The x"),
        ("x: int = Field(5, description='(x)')", "", "x: int = 5 # (x)"),
        ("x: int = Field(..., description=(\n 'a '\n 'b'))", "", "x!: int # a b"),
        ("x=Field(5, description='A.')", "", "x: any = 5 # A."),
        ("x: 'int' = 1_000", "", "x: int = 1000"),
        ("x=r'\\d' '\\t'", "", 'x: any = "\\\\d\\t"'),
        ("x: (\n int\n | None # or not\n) = 0x10", "", "x: int? = 16"),
        ("x: str = None, \\\n  /", "", "x: str = null"),
        ("x: Union[int, str, None]", "", "x!: int | str?"),
        ("x: Dict[str, List[float]] = {'a': [1.0]}", "", 'x: dict[list[float]] = {"a": [1.0]}'),
        ("x: Tuple[int, ...] = (1, 2)", "", "x: tuple[int] = [1, 2]"),
        ("x: tuple[int, str] = (1, 'x')", "", 'x: tuple[int | str] = [1, "x"]'),
        ("x: list[dict[str, Any]] = [{'k': None}]", "", 'x: list[dict] = [{"k": null}]'),
        ("x: Sequence[str] = ()", "", "x: list[str] = []"),
        ("x: set[int] = {1}", "", "x: list[int]"),
        ("x: list[Literal['x', 'y']] = []", "", 'x: list[str in ["x", "y"]] = []'),
        ("*, x: Literal['a', 3, None] = None", "", 'x: str | int? in ["a", 3, null] = null'),
        ("x: Literal[True]", "", "x!: bool in [true]"),
        ("x: 'Optional[List[str]]'", "", "x!: list[str]?"),
        ("x: Annotated[Optional[str], Field(description='A.')] = None", "Args:\n x: Not this.", "x: str? = null # A."),
        ("x: Optional[int]", "Args:\n x (str): The x (first).", "x!: int? # The x (first)."),
        ("x: int = 1", "Args:\n    x (str, required, default 2): The x.", "x: int = 1 # The x."),
        ("x: int", "Args:\n    x (int, optional): The x.", "x: int # The x."),
        ("x", "Args:\n  x (str, default='a (b): c'): The x.", 'x: str = "a (b): c" # The x.'),
        ("x", 'Args:\n x (`str`, *optional*, defaults to `"a"`):\n  The x.\n  More.', 'x: str = "a" # The x. More.'),
        ("x", "Args:\n    x (the user's): The x.", "x!: any # The x."),
        ("x", 'Args:\n    x: The x. (choices: ["a", "b"])', 'x!: any in ["a", "b"] # The x. (choices: ["a", "b"])'),
        ("x", "Args:\n    **x** - The x, e.g. a: b.\n\n    y: No.", "x!: any # The x, e.g. a: b."),
        ("x", "Args:\nx: The x.\ny: No.", "x!: any # The x."),
        ("x", "Args:\n    example:\n        No.\n    x: The x\n    https://a.b", "x!: any # The x https://a.b"),
        ("x", "Args:\n    x: One of\n      - a\n      - b\n\n      More.", "x!: any # One of\n- a\n- b\nMore."),
        ("x", ":type x: Literal['a', 'b']", 'x!: str in ["a", "b"]'),
        ("x", "参数:\n    x: 城市, 必填", "x!: any # 城市, 必填"),
        ("x", "- `x` (int): The x.", "x!: int # The x."),
        ("x", "Parameters\n----------\nx : {'b', 'a'}, default 'a'\n    The x.", 'x: str in ["b", "a"] = "a" # The x.'),
        ("x", "Parameters\n---\nx, y : int or None, optional (default: 5)", "x: int? = 5"),
        ("x", "Parameters\n---\nx\n  The x.\n\nNotes\n-----\ny : int", "x!: any # The x."),
        ("x", ":param int x: The x\n    and more.\n:raises x: No.", "x!: int # The x and more."),
        ("x", ":param x: [Optional] The x.\n:type x: list of str", "x: list[str] # [Optional] The x."),
        ("x", "Returns:\n    x: The result.", "x!: any"),
    ],
)  # fmt: skip
def test_what_signature_and_docstring_say_in_a_source_and_live(signature, docstring, expected):
    docstring = indented(f'"""\n{docstring}\n"""\n') if docstring else ""
    source, names = f"def f({signature}):\n{docstring}    pass", {**vars(typing), "Field": Field}
    exec(source, names)
    tool, live = only(source), only([names["f"]])
    (found,) = tool.parameters
    assert key_text(found) == expected
    assert found.rule == ("prose" if "optional" in docstring.lower() and found.default is MISSING else found.rule)
    assert live == tool and live.parameters[0].rule == found.rule


@pytest.mark.parametrize(
    "default", ["now()", "Unit.C", "lambda a, b=1: (a, b)", "...", "{1, 2}", "b'x'", "1 + 2", "f'{x}'", "float('inf')"]
)
def test_a_default_that_no_literal_writes_is_noted(default):
    tool = only(f"def f(x: int = {default}, y: int = 1): ...")
    assert tool_text(tool) == "f(x: int, y: int = 1)"
    assert len(tool.notes) == 1 and default in tool.notes[0]


def test_what_is_no_key_is_noted():
    tool = only("def f(a, *args, **kwargs):\n  '''F.\n\n  Args:\n    b: B.\n    *args: All.\n  '''")
    assert tool_text(tool) == "f(a!: any) -> F."
    assert [note.split(" ")[0] for note in tool.notes] == ["*args", "**kwargs", "the"]


SOURCE = '''
class Car:
    """A car."""

    def __init__(self, x: int): ...
    @property
    def speed(self) -> int:
        """No tool."""
    @overload
    def drive(self, to: int): ...
    @log
    # comment
    @tool("drive")
    def drive(self, to: str):
        r\'\'\'Drive \\d.\'\'\'
        text = """
def fake(x: int): ...
"""
        def inner(x: int): ...
        return inner
def _private(x):
    def inner(y): ...
@overload
x = 1
def joins(x): 'a'.join(x)
def later(x: int)
"""At the margin."""
def last(x: str) -> str: return x
'''


def test_functions_of_a_source_and_their_places():
    found = extract(SOURCE)
    assert list(map(tool_text, found.tools)) == [
        "drive(to!: str) -> Drive \\d.", "joins(x!: any)", "later(x!: int) -> At the margin.", "last(x!: str)",
    ]  # fmt: skip
    span = found["drive"].source.span
    lines = SOURCE.split("\n")
    assert (lines[span.line - 1].strip(), lines[span.end_line - 1].strip()) == ("@log", "return inner")


@pytest.mark.parametrize(
    "text",
    ["def f(a: int, b\ndef g(a): ...", "def f(a: int, a: str): ...", "def f(a: int, (b, c)): ...", "def f(a: int"],
)
def test_a_function_that_loses_keys_is_misread(text):
    with pytest.raises(DocumentationError, match="'f'"):
        extract(text)
    assert only("def f(this is prose\ndef g(a): ...").name == "g"


def test_signature_lines_in_a_row():
    text = (
        "1. **uber.ride(loc: str)**: Rides\n   home.\n   - loc (str): Where.\n   - other: x\n2. now() -> str\n"
        "\u67e5\u8be2(\u57ce\u5e02: str)\uff1a\u67e5\u5929\u6c14\nf(\n    a: int,  # b)\n) -> a list - F.\n"
        "add(a: number)\nTools(a: int)\n    inner(b: int) -> int: Inner.\n"
    )
    assert list(map(tool_text, extract(text).tools)) == [
        "uber.ride(loc!: str # Where.) -> Rides\nhome.", "now()",
        "\u67e5\u8be2(\u57ce\u5e02!: str) -> \u67e5\u5929\u6c14",
        "f(a!: int) -> F.", "add(a!: float)", "Tools(a!: int)", "inner(b!: int) -> Inner.",
    ]  # fmt: skip
