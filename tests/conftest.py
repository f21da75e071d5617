"""Settings for every test: no test reads a person's model, key, data or language."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _nobody_in_particular(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No model in the environment, a home of its own; what a test needs of these it sets itself."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ERPILOT_MODEL", "ERPILOT_LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ERPILOT_HOME", str(tmp_path / "erpilot-home"))
