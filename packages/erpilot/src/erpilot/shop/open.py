"""Where the embedded shop of an installation is, which day it lives on, and as whom it is opened."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

from .embedded.shop import EmbeddedShop
from .errors import Invalid

TODAY_VARIABLE = "ERPILOT_TODAY"
PERSON_VARIABLE = "ERPILOT_PERSON"
OWNER = "owner"


def open_shop(home: Path, today: date | None = None, person: str | None = None) -> EmbeddedShop:
    """The shop in ``home/shop.db``, made on first use. ``today`` wins over ``$ERPILOT_TODAY`` (YYYY-MM-DD), ``person``
    (who works there, with the rights of their roles) over ``$ERPILOT_PERSON``; else it is opened as the owner.

    Raises ``DamagedShop``, ``Unavailable`` (no right to write there), ``Invalid`` (a setting that is no date) or
    ``Unauthenticated`` (somebody who does not work there).
    """
    written = os.environ.get(TODAY_VARIABLE, "").strip()
    if today is None and written:
        try:
            today = date.fromisoformat(written)
        except ValueError:
            raise Invalid(
                f"{TODAY_VARIABLE} is {written!r}, which is not a date.", hint="Write it as 2026-11-30."
            ) from None
    person = person or os.environ.get(PERSON_VARIABLE, "").strip() or OWNER
    return EmbeddedShop(home / "shop.db", today=today, user=person)
