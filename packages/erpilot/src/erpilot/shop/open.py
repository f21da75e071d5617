"""Where the embedded shop of an installation is, and which day it lives on."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

from .embedded.shop import EmbeddedShop
from .errors import Invalid

TODAY_VARIABLE = "ERPILOT_TODAY"


def open_shop(home: Path, today: date | None = None) -> EmbeddedShop:
    """The shop in ``home/shop.db``, made on first use. ``today`` wins over ``$ERPILOT_TODAY`` (YYYY-MM-DD).

    Raises ``DamagedShop``, ``Unavailable`` (no right to write there) or ``Invalid`` (a setting that is no date).
    """
    written = os.environ.get(TODAY_VARIABLE, "").strip()
    if today is None and written:
        try:
            today = date.fromisoformat(written)
        except ValueError:
            raise Invalid(
                f"{TODAY_VARIABLE} is {written!r}, which is not a date.", hint="Write it as 2026-11-30."
            ) from None
    return EmbeddedShop(home / "shop.db", today=today)
