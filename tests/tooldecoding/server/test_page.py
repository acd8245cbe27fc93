"""The page in a browser: what it sends, what it shows, and that nothing hostile runs."""

import json
import re
import shutil
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest

from page_stub import HOSTILE, MODEL, Answer, Stub, completion, hostile, parameter, plain, serving, weather
from tooldecoding.server.page.page import page as served

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
expect = sync_api.expect
ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def error(message: str, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": None}}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Stub]:
    with serving() as stub:
        yield stub


@pytest.fixture
def stub(server: Stub) -> Stub:
    server.answers.clear()
    server.requests.clear()
    server.models = Answer({"object": "list", "data": [{"id": MODEL}]})
    return server


@pytest.fixture
def complaints() -> list[str]:
    """What the console said about errors, but for statuses that a test asked for."""
    return []


@pytest.fixture
def tab(browser: Any, stub: Stub, complaints: list[str]) -> Iterator[Any]:
    """The page, which must ask no other origin, break no policy and raise nothing."""
    context = browser.new_context()
    tab = context.new_page()
    tab.set_default_timeout(5000)
    urls: list[str] = []
    tab.on("request", lambda request: urls.append(request.url))
    tab.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    tab.on("pageerror", lambda raised: complaints.append(str(raised)))
    tab.goto(stub.url)
    expect(tab.get_by_label("Model")).to_have_value(MODEL)
    yield tab
    foreign = [url for url in urls if not url.startswith(f"{stub.url}/")]
    assert not foreign
    assert not [c for c in complaints if not c.startswith("error: Failed to load resource")]
    assert tab.title() == "tooldecoding"
    context.close()


def send(tab: Any, stub: Stub, answer: dict[str, Any] | Answer | None) -> Any:
    """The body that the page sends for this answer."""
    stub.answers[:] = [Answer(answer) if isinstance(answer, dict) else answer]
    tab.get_by_role("button", name="Send").click()
    expect(tab.locator("#results")).to_have_attribute("aria-busy", "false")
    return stub.sent[-1]


def texts(locator: Any) -> list[str]:
    return locator.evaluate_all("nodes => nodes.map((node) => node.textContent)")


def test_the_policy_allows_the_blocks_of_the_page_alone() -> None:
    body, headers = served()
    directives = dict(each.split(" ", 1) for each in headers["Content-Security-Policy"].split("; "))
    for tag in ("script", "style"):
        (block,) = re.findall(rb"<%s\b[^>]*>(.*?)</%s>" % (tag.encode(), tag.encode()), body, re.DOTALL)
        assert directives[f"{tag}-src"] == f"'sha256-{b64encode(sha256(block).digest()).decode()}'"
    assert directives["connect-src"] == "'self'"
    for name in ("default-src", "base-uri", "form-action", "frame-ancestors"):
        assert directives[name] == "'none'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert not re.search(rb"\b(src|href)=\"(?!data:)", body)


def test_the_script_writes_no_markup() -> None:
    body, _ = served()
    sinks = (
        rb"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|localStorage|sessionStorage|cookie"
    )
    assert not re.search(sinks, body)


@needs_chromium
def test_an_answer_is_shown_with_labels_votes_and_cost(tab: Any, stub: Stub) -> None:
    answer = weather()
    body = send(tab, stub, answer)
    assert body["model"] == MODEL and body["tool_choice"] == "required" and body["temperature"] == 0
    assert body["messages"] == [{"role": "user", "content": "What is the weather in Rome for the next 3 days?"}]
    assert body["tooldecoding"] == {"tokens": True, "min_confidence": 0.8}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["get_weather"]

    extra = answer["tooldecoding"]
    sequences = [extra["tokens"], *(candidate["tokens"] for candidate in extra["candidates"])]
    boxes = tab.locator("#results .tokens").all()
    assert len(boxes) == len(sequences)
    for box, sequence in zip(boxes, sequences, strict=True):
        shown = box.locator(".token").evaluate_all(
            "nodes => nodes.map((n) => ({text: n.textContent, label: n.title, known: n.classList.contains(n.title)}))"
        )
        assert shown == [token | {"known": True} for token in sequence]
    rows = tab.get_by_role("table", name="Vote").get_by_role("row").all()
    for row, voted in zip(rows[1:], extra["calls"][0]["parameters"], strict=True):
        name, value, vote, confidence = texts(row.locator("th, td"))
        assert (name, json.loads(value)) == (voted["name"], voted["value"])
        assert vote == f"{voted['votes']} of 4 ({100 * voted['share']:.0f} %)"
        assert confidence.startswith(f"{voted['confidence']:.3f}")
        assert ("needs confirmation" in confidence) == voted["needs_confirmation"]
    expect(tab.get_by_role("status")).to_contain_text("21 forward passes")
    expect(tab.get_by_role("list", name="Orders").get_by_role("listitem")).to_have_count(4)

    stub.answers[:] = [Answer(plain())]
    tab.get_by_role("button", name="Compare with plain greedy").click()
    passes = tab.get_by_role("row", name="Forward passes")
    expect(passes).to_contain_text("57")
    assert texts(passes.locator("td")) == ["21", "57", f"{21 / 57:.2f} \N{MULTIPLICATION SIGN}"]
    assert stub.sent[-1] == body | {
        "tool_choice": "none",
        "max_completion_tokens": weather()["usage"]["completion_tokens"],
    }


@needs_chromium
def test_settings_are_sent_and_the_key_stays_in_memory(tab: Any, stub: Stub) -> None:
    for label, value in {"Most orders": "4", "Most tokens": "99", "Confirm below": "", "API key": "s3cret"}.items():
        tab.get_by_label(label).fill(value)
    tab.get_by_label("Stop early").select_option("exact")
    tab.get_by_label("Tool choice").select_option("get_weather")
    tab.get_by_label("JSON", exact=True).check()
    messages = json.loads(tab.get_by_label("Messages").input_value())
    tab.get_by_label("Messages").fill(json.dumps([{"role": "system", "content": "Be brief."}, *messages]))
    body = send(tab, stub, weather())
    assert body["tool_choice"] == {"type": "function", "function": {"name": "get_weather"}}
    assert body["max_completion_tokens"] == 99
    assert body["tooldecoding"] == {"tokens": True, "order_limit": 4, "stopping": "exact"}
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert stub.requests[-1][1]["Authorization"] == "Bearer s3cret"
    kept = tab.evaluate("async () => [localStorage.length, sessionStorage.length, document.cookie, location.href]")
    assert kept == [0, 0, "", f"{stub.url}/"]
    tab.get_by_label("User's text").click()  # two messages are no single text
    expect(tab.get_by_role("alert")).to_contain_text("stay JSON")
    expect(tab.get_by_label("JSON", exact=True)).to_be_checked()


@needs_chromium
def test_numbers_stay_as_they_are_written(tab: Any, stub: Stub) -> None:
    schema = '{"const": 12345678901234567890, "multipleOf": 1.0}'
    tab.get_by_label("Tools").fill(f'[{{"type": "function", "function": {{"name": "f", "parameters": {schema}}}}}]')
    call = {"name": "f", "orders_used": 1, "orders_possible": 1, "parameters": [parameter("id", 2**60 + 1, 1, 1)]}
    body = send(tab, stub, completion([call], []))
    assert json.dumps(body["tools"][0]["function"]["parameters"]) == schema
    expect(tab.get_by_role("cell").nth(0)).to_have_text(str(2**60 + 1))


@needs_chromium
def test_hostile_names_and_values_are_text(tab: Any, stub: Stub) -> None:
    tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in HOSTILE]
    tab.get_by_label("Tools").fill(json.dumps(tools))
    tab.get_by_label("Messages").fill(HOSTILE[1])
    answer = hostile()
    body = send(tab, stub, answer)
    assert body["tools"] == tools and body["messages"][0]["content"] == HOSTILE[1]

    written = [re.sub("[\u202a-\u202e\u2066-\u2069]", lambda c: f"⟨U+{ord(c[0]):04X}⟩", text) for text in HOSTILE]
    rows = tab.get_by_role("table", name="Vote").locator("tbody tr")
    assert texts(rows.locator("th"))[:-1] == written
    assert [json.loads(value) for value in texts(rows.locator("td:nth-child(2)"))[:-1]] == written
    assert (
        json.loads(texts(rows.locator("td:nth-child(2)"))[-1])
        == answer["tooldecoding"]["calls"][0]["parameters"][-1]["value"]
    )
    shown = texts(tab.locator("#results .tokens").first.locator(".token"))
    assert shown == written
    assert texts(tab.locator("#tool_choice optgroup option")) == written
    assert tab.evaluate("({}).polluted") is None
    assert not tab.locator("#results :is(img, script, a, iframe, [onerror], [src], [href])").count()
    assert not stub.answers and tab.title() == "tooldecoding"


@needs_chromium
def test_the_browser_enforces_the_policy(tab: Any, complaints: list[str]) -> None:
    attempts = {
        "fetch('http://127.0.0.1:1/')": "connect-src",
        "document.body.innerHTML = '<b>'": "trusted",
        "document.body.append(Object.assign(document.createElement('style'), {textContent: 'b {}'}))": "style-src",
        "location.href = 'javascript:document.title = 1'": "script",
    }
    for attempt, directive in attempts.items():
        with tab.expect_console_message(lambda message, name=directive: name in message.text.lower()):
            tab.evaluate(f"async () => {{ try {{ await ({attempt}) }} catch {{}} }}")
    complaints.clear()


@needs_chromium
def test_the_keyboard_reaches_everything(tab: Any, stub: Stub) -> None:
    reached = []
    wanted = tab.locator(":is(button, input, select, textarea, summary):visible").evaluate_all(
        "nodes => nodes.map((node) => node.id)"
    )
    for _ in range(len(wanted) + 2):
        tab.keyboard.press("Tab")
        focused = tab.evaluate("[document.activeElement.id, getComputedStyle(document.activeElement).outlineStyle]")
        if not focused[0]:
            break
        reached.append(focused[0])
        assert focused[1] != "none", focused
    assert reached == [name for name in wanted if name != "as-json"]  # arrows reach the other choice of a group
    tab.get_by_label("User's text").focus()
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_label("JSON", exact=True)).to_be_checked()

    tab.get_by_label("Tools").focus()
    stub.answers[:] = [Answer(weather()), Answer(plain())]
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_role("status")).to_contain_text("1 call")
    tab.get_by_role("button", name="Send").focus()
    for _ in range(2):  # over the whole answer as JSON
        tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Compare with plain greedy"
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("status")).to_contain_text("57 forward passes")


@needs_chromium
def test_errors_are_announced_in_words(tab: Any, stub: Stub) -> None:
    alert = tab.get_by_role("alert")
    cases = [
        (Answer(error("unknown field", "tools"), 400), ["refused", "400", "unknown field", "tools"], "tools"),
        (Answer(error("too low", "tooldecoding.order_limit"), 400), ["too low"], "order_limit"),
        (Answer(error("odd", "constructor"), 400), ["odd", "constructor"], None),
        (Answer(error("wrong key"), 401), ["API key", "401", "wrong key"], "key"),
        (Answer(error("queue is full"), 429, {"Retry-After": "7"}), ["busy", "429", "in 7 s"], None),
        (Answer(error("out of memory"), 500, {"X-Request-Id": "r-1"}), ["failed", "500", "out of memory", "r-1"], None),
        (Answer(b"<html>", 502), ["failed", "502"], None),
        (Answer(b"<html>"), ["not JSON"], None),
        (Answer({}), ["no choices"], None),
        (Answer(error(HOSTILE[0]), 400), [HOSTILE[0]], None),
        (None, ["cannot be reached"], None),
    ]
    send(tab, stub, weather())
    for answer, words, field in cases:
        send(tab, stub, answer)
        for word in words:
            expect(alert).to_contain_text(word)
        assert texts(tab.locator("#results")) == [""]  # nothing of an answer before
        assert tab.locator("[aria-invalid]").evaluate_all("nodes => nodes.map((n) => n.id)") == [field] * bool(field)
    send(tab, stub, weather())
    expect(alert).to_be_empty()


@needs_chromium
@pytest.mark.parametrize(
    ("label", "value", "words"),
    [
        ("Tools", '[{"name": }]', "Tools are not valid JSON"),
        ("Tools", "{}", "Tools must be a list"),
        ("Most orders", "1.5", "whole number"),
        ("Confirm below", "2", "from 0 to 1"),
        ("API key", "schlüssel", "ASCII"),
    ],
)
def test_wrong_input_is_named_and_nothing_is_sent(tab: Any, stub: Stub, label: str, value: str, words: str) -> None:
    tab.get_by_label(label).fill(value)
    tab.keyboard.press("Control+Enter")
    expect(tab.get_by_role("alert")).to_contain_text(words)
    expect(tab.get_by_label(label)).to_be_focused()
    expect(tab.get_by_label(label)).to_have_attribute("aria-invalid", "true")
    assert not stub.sent


@needs_chromium
def test_a_missing_key_is_asked_for_and_then_the_model_is_named(tab: Any, stub: Stub) -> None:
    models, stub.models = stub.models, Answer(error("no key"), 401)
    tab.reload()
    expect(tab.get_by_role("alert")).to_contain_text("API key")
    expect(tab.get_by_label("API key")).to_be_focused()
    stub.models = models
    tab.keyboard.type("s3cret")
    tab.keyboard.press("Tab")
    expect(tab.get_by_label("Model")).to_have_value(MODEL)
    expect(tab.get_by_role("alert")).to_be_empty()
    assert stub.requests[-1][1]["Authorization"] == "Bearer s3cret"


@needs_chromium
def test_a_request_can_be_cancelled(tab: Any, stub: Stub, complaints: list[str]) -> None:
    tab.route("**/chat/completions", lambda route: None)  # never answered
    tab.get_by_role("button", name="Send").click()
    tab.get_by_role("button", name="Cancel").click()
    expect(tab.get_by_role("status")).to_have_text("Cancelled.")
    expect(tab.get_by_role("alert")).to_be_empty()
    tab.unroute("**/chat/completions")
    send(tab, stub, weather())
    expect(tab.get_by_role("status")).to_contain_text("1 call")


@needs_chromium
def test_light_dark_narrow_and_wide(tab: Any, stub: Stub) -> None:
    tools = [{"type": "function", "function": {"name": f"tool_{i}" * 8, "parameters": {}}} for i in range(128)]
    tab.get_by_label("Tools").fill(json.dumps(tools))
    send(tab, stub, hostile())
    for scheme, width in (("light", 360), ("dark", 360), ("light", 1400), ("dark", 800)):
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size({"width": width, "height": 800})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        colours = tab.evaluate("['color', 'backgroundColor'].map((name) => getComputedStyle(document.body)[name])")
        ink, paper = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours)
        assert (ink < paper) == (scheme == "light")
    styles = tab.locator(".legend .token").evaluate_all(
        "nodes => nodes.map((n) => getComputedStyle(n).borderBottomStyle)"
    )
    assert len(set(styles)) == 3  # labels differ by more than colour
