"""Charts as data: a Vega-Lite specification for the page, and the same bars for a terminal.

Invariant: a chart shows values that stand in the report, with their currency or unit; it loads nothing from elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

MEDIA_TYPE = "application/vnd.vegalite.v5+json"
MOST_BARS, MOST_POINTS = 60, 400


@dataclass(frozen=True, slots=True)
class Bar:
    """A value under a name; ``compared``: that of the other span."""

    name: str
    value: Decimal
    compared: Decimal | None = None


def vega_lite(
    bars: Sequence[Bar],
    *,
    title: str,
    unit: str,
    shape: Literal["bar", "line"] = "bar",
    labels: tuple[str, str] = ("", ""),
) -> dict[str, Any]:
    """A specification with its data inside. ``labels``: of the span and of the one it is compared with. Of a line of
    time the newest points are shown, of bars the first; the title says how many of how many when not all fit.
    """
    shown = _told_apart(bars[-MOST_POINTS:] if shape == "line" else bars[:MOST_BARS])
    if len(shown) < len(bars):
        title = f"{title} ({len(shown)} / {len(bars)})"
    with_compared = any(bar.compared is not None for bar in shown)
    values: list[dict[str, Any]] = []
    for place, bar in enumerate(shown):
        values.append({"name": bar.name, "place": place, "series": labels[0], "value": float(bar.value)})
        if bar.compared is not None:
            values.append({"name": bar.name, "place": place, "series": labels[1], "value": float(bar.compared)})
    order = {"field": "place", "op": "min"}
    across = {"field": "name", "type": "ordinal", "sort": order, "title": None}
    along = {"field": "value", "type": "quantitative", "title": unit}
    encoding: dict[str, Any] = {"x": across, "y": along} if shape == "line" else {"y": across, "x": along}
    encoding["tooltip"] = [
        {"field": "name", "type": "nominal"},
        {"field": "value", "type": "quantitative", "format": ","},
    ]
    if with_compared:
        encoding["color"] = {"field": "series", "type": "nominal", "title": None}
        if shape == "bar":
            encoding["yOffset"] = {"field": "series"}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": title,
        "width": "container",
        "data": {"values": values},
        "mark": {"type": "line", "point": True} if shape == "line" else {"type": "bar"},
        "encoding": encoding,
    }


def _told_apart(bars: Sequence[Bar]) -> list[Bar]:
    """The bars under names of their own: two things of one name would be drawn as one bar."""
    often = Counter(bar.name for bar in bars)
    seen = Counter[str]()
    apart = []
    for bar in bars:
        seen[bar.name] += 1
        apart.append(bar if often[bar.name] == 1 else replace(bar, name=f"{bar.name} #{seen[bar.name]}"))
    return apart
