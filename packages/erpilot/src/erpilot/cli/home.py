"""Where the data of an installation are.

Invariant: finding the folder out touches nothing; it is made, for its owner alone, when something is to be written.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

CONFIG_NAME = "config.toml"
LOG_NAME = "erpilot.db"


def home_of(environment: Mapping[str, str]) -> Path:
    """``$ERPILOT_HOME``, else the platform's folder for user data; it need not exist yet."""
    if chosen := environment.get("ERPILOT_HOME", "").strip():
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("erpilot", appauthor=False))


def prepare_home(home: Path) -> Path:
    """Makes the folder and sees that it can be written."""
    import tempfile

    from .problems import STORAGE, Problem

    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home):
            pass
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise Problem(STORAGE, "home_unusable", home=home, why=why) from None
    return home
