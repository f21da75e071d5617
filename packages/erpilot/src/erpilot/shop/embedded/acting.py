"""Who acts, when, and with which rights: what every write and every guarded read of the embedded shop is given.

Invariant: the time of a write is read once; a right is asked for before anything is read for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from ..concerns import Concern
from ..errors import Denied, NeedsConfirmation
from ..rights import MEANINGS, Right, require
from ..values import Company
from ..verbs.outcome import Write


@dataclass(frozen=True, slots=True)
class Acting:
    """A person of the shop at a moment."""

    user: str
    rights: frozenset[Right]
    now: datetime
    company: Company

    @property
    def today(self) -> date:
        """The shop's day."""
        return self.now.date()

    def require(self, *rights: Right) -> None:
        """Raises ``Denied`` unless one of them is held."""
        if not any(right in self.rights for right in rights):
            require(self.rights, rights[0])

    def settle(self, concerns: list[Concern], write: Write) -> None:
        """Raises for the first concern that stops the write: ``Denied`` without the right to accept it,
        ``NeedsConfirmation`` when nobody has accepted it.
        """
        for concern in concerns:
            if concern.token is None:
                continue
            said = ", ".join(f"{name} {value}" for name, value in concern.values.items())
            if concern.right is not None and concern.right not in self.rights:
                raise Denied(
                    f"This needs the right {concern.right!r} ({MEANINGS[concern.right]}): {concern.code} ({said}).",
                    hint="Ask somebody who has it.",
                    right=concern.right,
                )
            if concern.token not in write.accepted:
                raise NeedsConfirmation(f"To be confirmed: {concern.code} ({said}).", token=concern.token)
