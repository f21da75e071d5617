"""A span of days, and the steps of the calendar from one to another.

Invariant: a step to a shorter month ends on its last day, never in the month behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta


@dataclass(frozen=True, slots=True)
class Span:
    """From ``start`` to ``end``, both included. ``kind``: day, week, month, quarter, half, year, days, end (the last
    day of something) or range. ``until``: up to its end, whatever it began with."""

    start: date
    end: date
    kind: str
    until: bool = False

    def shifted(self, years: int = 0, months: int = 0) -> Span:
        """The same days so many years or months before; the last day of a shorter month where there is none."""
        return Span(back(self.start, years, months), back(self.end, years, months), self.kind)


def back(day: date, years: int, months: int) -> date:
    """The same day so many years and months before, or the last one of a shorter month."""
    count = day.year * 12 + day.month - 1 - years * 12 - months
    year, month = divmod(count, 12)
    return date(year, month + 1, min(day.day, month_end(date(year, month + 1, 1)).day))


def month_end(day: date) -> date:
    """The last day of the month that ``day`` is in."""
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
