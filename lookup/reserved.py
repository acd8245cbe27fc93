"""Characters that stand for special tokens while a call is decoded."""

import re
from typing import Final

RESERVED: Final = range(0xF0000, 0xF0100)
"""Code points of these characters. No value, name or key may have one."""

RESERVED_CHARACTER: Final = re.compile(f"[{chr(RESERVED.start)}-{chr(RESERVED.stop - 1)}]")
"""One of them."""
