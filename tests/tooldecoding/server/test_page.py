"""The page in a browser: what it sends, what it shows, and that nothing hostile runs."""

import json
import re
import shutil
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest

from running_server import MODEL, called, running, tool
from tooldecoding.server.exchange import Answerer
from tooldecoding.server.page import page as served

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
expect = sync_api.expect
ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


HOSTILE = (
    "<img src=x onerror=\"document.title='executed'\">",
    "</script><script>document.title='executed'</script>",
    "javascript:document.title='executed'",
    "\u202eevil\u202c \u2067rtl\u2069",
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "x" * 10_000,
    "__proto__",
    "天气预报是什么样的呢" * 12,
    "ما هو الطقس في روما اليوم؟ " * 6,
)


def hostile() -> dict[str, Any]:
    """Each hostile text as a key, a value, a token, a label, an error and an order."""
    nested = {"__proto__": {"polluted": True}, "constructor": [HOSTILE[1]]}
    voted = {"votes": 1, "share": 0.5, "logprob": -0.02, "confidence": 0.45, "needs_confirmation": True}
    voted |= {"runner_up": {"value": HOSTILE, "votes": 1, "confidence": 0.1}}
    said = {"said": [{"message": 0, "start": 2, "end": 9}, {"message": 0, "start": 5, "end": 10**9}], "missing": [""]}
    voted |= {"grounding": said}
    parameters = [{"name": text, "value": text, "truncated": True, **voted} for text in HOSTILE]
    parameters.append({"name": "nested", "value": nested, "truncated": False, **voted})
    call = {"name": HOSTILE[0], "orders_used": 2, "parameters": parameters}
    call |= {"ungrounded": HOSTILE, "left_out": [{"name": text, "value": text} for text in HOSTILE]}
    candidates = [
        {
            "call": 0,
            "order": list(keys),
            "text": "".join(keys),
            "tokens": [{"text": key, "label": label} for key in keys for label in ("forced", "free")],
        }
        for keys in (HOSTILE, HOSTILE[::-1])
    ]
    arguments = json.dumps({each["name"]: each["value"] for each in parameters})
    calls = [called("call_0", HOSTILE[0], arguments)]
    message = {"role": "assistant", "content": "".join(HOSTILE), "tool_calls": calls}
    return {
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "tooldecoding": {
            "valid": False,
            "errors": list(HOSTILE),
            "format": HOSTILE[1],
            "calls": [call],
            "candidates": candidates,
            "tokens": [{"text": text, "label": text} for text in HOSTILE],
            "counters": {"forward_passes": 21, "seconds": 0.41},
        },
    }


@pytest.fixture
def tab() -> Iterator[Any]:
    """The page, which must ask no other origin, break no policy and raise nothing."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    urls: list[str] = []
    complaints: list[str] = []
    with running(Answerer()) as server, sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS])
        tab = browser.new_page()
        tab.set_default_timeout(5000)
        tab.on("request", lambda request: urls.append(request.url))
        tab.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        tab.on("pageerror", lambda raised: complaints.append(str(raised)))
        tab.goto(server.url)
        expect(tab.get_by_label("Model")).to_have_value(MODEL)
        yield tab
        assert not complaints and all(each.startswith(f"{server.url}/") for each in urls)
        assert tab.title() == "tooldecoding"
        browser.close()


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
    sinks = rb"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|(local|session)Storage|cookie"
    assert not re.search(sinks, body)


def test_hostile_names_and_values_are_text(tab: Any) -> None:
    tools = [tool(name) for name in HOSTILE]
    tab.get_by_label("Tools").fill(json.dumps(tools))
    tab.get_by_label("Messages").fill(HOSTILE[1])
    answer, sent = hostile(), list[Any]()

    def take(route: Any) -> None:
        sent.append(route.request.post_data_json)
        route.fulfill(status=200, headers={"Content-Type": "application/json"}, body=json.dumps(answer))

    tab.route("**/v1/chat/completions", take)
    tab.get_by_role("button", name="Send").click()
    expect(tab.locator("#results")).to_have_attribute("aria-busy", "false")
    [body] = sent
    assert body["tools"] == tools and body["messages"][0]["content"] == HOSTILE[1]
    assert body["model"] == MODEL and body["tooldecoding"] == {"tokens": True}

    written = [re.sub("[\u202a-\u202e\u2066-\u2069]", lambda c: f"⟨U+{ord(c[0]):04X}⟩", text) for text in HOSTILE]
    rows = tab.get_by_role("table", name="Vote").locator("tbody tr")
    assert rows.locator("th").all_text_contents()[:-1] == written
    *values, nested = map(json.loads, rows.locator("td:nth-child(2)").all_text_contents())
    assert values == written
    assert nested == answer["tooldecoding"]["calls"][0]["parameters"][-1]["value"]
    shown = tab.locator("#results .tokens").first.locator(".token").all_text_contents()
    assert shown == written
    conversation = tab.locator("section", has=tab.get_by_role("heading", name="Conversation")).last
    assert conversation.locator("mark").all_text_contents() == [HOSTILE[1][2:9]]
    assert conversation.locator("p bdi").count() == 2 * len(HOSTILE)
    assert tab.locator("#tool_choice optgroup option").all_text_contents() == written
    assert tab.evaluate("({}).polluted") is None
    assert not tab.locator("#results :is(img, script, a, iframe, [onerror], [src], [href])").count()
