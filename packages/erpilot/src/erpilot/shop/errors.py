"""What a shop may answer instead of a result, the same for every ERP behind it.

Invariant: ``message`` is one sentence for whoever asked, ``hint`` says what to try, ``nearest`` what exists instead.
None of them says anything about a record that the person may not see. Only reads and ``find_by_key`` may be repeated
blindly.
"""

from __future__ import annotations

from collections.abc import Sequence


class ShopError(Exception):
    """The shop refuses, or cannot be asked."""

    def __init__(self, message: str, *, hint: str | None = None, nearest: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.nearest = tuple(nearest)


class NotFound(ShopError):
    """There is no such record; ``nearest`` names those that are like it."""


class Invalid(ShopError):
    """The request cannot be right (unknown unit, negative quantity); repeating it changes nothing."""


class Refused(ShopError):
    """The request is well formed, but a rule or the state of a document forbids it."""


class Denied(ShopError):
    """The person lacks a right; ``hint`` names it."""


class NeedsConfirmation(ShopError):
    """The shop warns; sent again with ``token`` the warning is passed over."""

    def __init__(self, message: str, *, token: str) -> None:
        super().__init__(message)
        self.token = token


class Conflict(ShopError):
    """The record changed since the version the request was based on, or a key was used for something else."""


class Unavailable(ShopError):
    """The shop cannot be reached now; nothing was changed."""


class Unauthenticated(ShopError):
    """The credentials are not accepted."""


class UnknownOutcome(ShopError):
    """A write was sent and its answer was lost: ask with ``find_by_key``."""


class DamagedShop(ShopError):
    """The shop's file cannot be used: damaged, of a newer version, or not a shop."""
