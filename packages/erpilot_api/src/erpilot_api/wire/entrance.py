"""Who asks."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from msgspec import Meta

from .base import Answer, Body, Role


class Enter(Body, frozen=True):
    """The one-time code of a link that ``erpilot serve`` printed."""

    code: Annotated[str, Meta(min_length=1, max_length=500)]


class Me(Answer, frozen=True):
    """Whose requests these are, and what the server runs with. ``approves``: tiers this person may approve."""

    user: str
    role: Role
    approves: tuple[str, ...]
    sees_all: bool
    """Sessions of everybody, not only one's own."""
    model: str
    offline: bool
    profiles: tuple[str, ...]
    currency: str | None = None
    exchange_rate: Decimal | None = None
    """CNY per USD, where it was set."""


class Entered(Answer, frozen=True):
    """``token``: for programs, as ``Authorization: Bearer``; a browser has it as a cookie already."""

    token: str
    expires: float
    me: Me
