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
    """The person lacks ``right`` (one of ``rights.Right``, or the ERP's own word for it)."""

    def __init__(self, message: str, *, right: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.right = right


class Unsupported(ShopError):
    """This ERP cannot do it through Erpilot; ``capability`` is what ``Whoami.capabilities`` lacks."""

    def __init__(self, capability: str, backend: str, *, detail: str | None = None) -> None:
        what = capability.replace("_", " ")
        super().__init__(
            f"The ERP {backend!r} does not offer {what!r} through Erpilot{f': {detail}' if detail else ''}.",
            hint="Do it in the ERP itself.",
        )
        self.capability = capability


class NeedsConfirmation(ShopError):
    """The shop warns; sent again with ``token`` among ``Write.accepted`` the warning is passed over."""

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
