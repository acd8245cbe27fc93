"""The page as the server sends it: its bytes, and headers that let nothing run but the page's own script."""

import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files


def page() -> tuple[bytes, dict[str, str]]:
    """Return the page in UTF-8, and the headers of the response.

    The policy allows the inline script and style by their SHA-256 alone, and requests to the same origin. The image
    is the icon, which is a data URL.
    """
    html = files(__name__).joinpath("index.html").read_text(encoding="utf-8")
    policy = (
        "default-src 'none'",
        f"script-src {_hashes(html, 'script')}",
        f"style-src {_hashes(html, 'style')}",
        "img-src data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
    return html.encode(), {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": "; ".join(policy),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-cache",
    }


def _hashes(html: str, tag: str) -> str:
    """Return the sources of a policy that allow what stands inside the elements of one tag."""
    blocks = re.findall(rf"<{tag}(?: [^>]*)?>(.*?)</{tag}>", html, re.DOTALL)
    return " ".join(f"'sha256-{b64encode(sha256(block.encode()).digest()).decode()}'" for block in blocks)
