"""Where the shared data lies, and how it is read; tests skip where it is absent."""

from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the shared data is not at {DATA}")
