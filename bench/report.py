"""What the measurements come to: lines with a figure, a ratio, and the target beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Line(NamedTuple):
    """One line of the table. A ratio without a target is there for comparison."""

    name: str
    figure: str
    ratio: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None when there is none."""
        if self.at_most is not None:
            return self.ratio <= self.at_most
        return None if self.at_least is None else self.ratio >= self.at_least


def table(lines: Iterable[Line]) -> str:
    """The lines as a Markdown table."""
    rows = ["| measured | figure | ratio | target | |", "|---|---:|---:|---:|---|"]
    for line in lines:
        target = "" if line.at_most is None else f"≤ {line.at_most:.2f}"
        target = target if line.at_least is None else f"≥ {line.at_least:.2f}"
        said = {True: "met", False: "**missed**", None: ""}[line.met]
        rows.append(f"| {line.name} | {line.figure} | {line.ratio:.3f} | {target} | {said} |")
    return "\n".join(rows)


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean."""
    return sum(values) / len(values)
