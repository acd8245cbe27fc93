"""The page in a browser: what it sends, what it shows, and that nothing hostile runs."""

import json
import re
import shutil
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest

from page_stub import HOSTILE, MODEL, Answer, Stub, hostile, serving
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
def test_hostile_names_and_values_are_text(tab: Any, stub: Stub) -> None:
    tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in HOSTILE]
    tab.get_by_label("Tools").fill(json.dumps(tools))
    tab.get_by_label("Messages").fill(HOSTILE[1])
    answer = hostile()
    body = send(tab, stub, answer)
    assert body["tools"] == tools and body["messages"][0]["content"] == HOSTILE[1]
    assert body["model"] == MODEL and body["tooldecoding"] == {"tokens": True, "min_confidence": 0.8}

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
    send(tab, stub, hostile())
    for answer, words, field in cases:
        send(tab, stub, answer)
        for word in words:
            expect(alert).to_contain_text(word)
        assert texts(tab.locator("#results")) == [""]  # nothing of an answer before
        assert tab.locator("[aria-invalid]").evaluate_all("nodes => nodes.map((n) => n.id)") == [field] * bool(field)
    send(tab, stub, hostile())
    expect(alert).to_be_empty()
