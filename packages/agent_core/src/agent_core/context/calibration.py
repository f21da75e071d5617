"""What models turned out to take for a text: tokens per character by script, learnt from the usage they report.

Invariant: a run estimates with the rates it was begun with (``RunStarted.calibration``), whatever is learnt meanwhile.
Rates are a weighted least-squares fit of reported tokens to what was sent, drawn to the careful ones while little is
known; older reports fade, a report that cannot be true is left out, and what is given out errs a little on the high
side.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from ..files import replace_file
from ..sizes import CONSERVATIVE

NAMES = ("wide", "latin", "message", "tools")
_CAREFUL = (CONSERVATIVE.wide, CONSERVATIVE.latin, CONSERVATIVE.message, CONSERVATIVE.tools)
_LEAST = (0.2, 0.08, 0.0, 0.2)
_MOST = (2.5, 1.2, 40.0, 2.0)
_NOISE, _SPREAD = 0.03, 0.5
"""Relative: how far a report is from the fit, and how far a rate may be from the careful one."""
_FADE = 0.98
_MARGIN = 1.02
_GROWS = 1.005
"""What a model was found to take is taken for so much more after each request that it took: servers are set up anew."""
_TOLD = 0.02
"""Relative change of a rate that is worth writing down."""
_LEAST_TOKENS = 20


class Calibration(Struct, frozen=True):
    """Sums over the reports of one model: of the products of what was sent (four by four, row by row), and of what was
    sent alone, both in parts of the reported tokens; how many reports; and the tokens it was found to take, if any.
    """

    products: tuple[float, ...] = (0.0,) * 16
    sent: tuple[float, ...] = (0.0,) * 4
    reports: int = 0
    window: int | None = None


def observed(known: Calibration, features: Mapping[str, float], reported: int) -> Calibration:
    """With one more report: ``features`` as ``build.features`` gives them, ``reported`` prompt tokens."""
    sizes = [float(features.get(name, 0)) for name in NAMES]
    careful = sum(size * rate for size, rate in zip(sizes, _CAREFUL, strict=True))
    if reported < _LEAST_TOKENS or not 0.15 * careful <= reported <= 2.5 * careful:
        return known
    parts = [size / reported for size in sizes]
    products = (one * other for one in parts for other in parts)
    return msgspec.structs.replace(
        known,
        products=tuple(old * _FADE + new for old, new in zip(known.products, products, strict=True)),
        sent=tuple(old * _FADE + new for old, new in zip(known.sent, parts, strict=True)),
        reports=known.reports + 1,
        window=None if known.window is None else math.ceil(known.window * _GROWS),
    )


def overflowed(known: Calibration, estimated: int) -> Calibration:
    """With a request of so many estimated tokens that was too long."""
    return msgspec.structs.replace(known, window=min(estimated, known.window or estimated))


def rates(known: Calibration) -> dict[str, float]:
    """What ``RunStarted.calibration`` holds: empty before the first report."""
    found: dict[str, float] = {"window": float(known.window)} if known.window else {}
    if not known.reports:
        return found
    noise = _NOISE**2
    matrix = [list(known.products[row * 4 : row * 4 + 4]) for row in range(4)]
    right = list(known.sent)
    for place, careful in enumerate(_CAREFUL):
        pull = noise / (_SPREAD * careful) ** 2
        matrix[place][place] += pull
        right[place] += pull * careful
    for name, value, low, high in zip(NAMES, _solved(matrix, right), _LEAST, _MOST, strict=True):
        found[name] = round(min(max(value * _MARGIN, low), high), 4)
    return found


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Gauss, for a positive definite matrix."""
    size = len(right)
    for place in range(size):
        for row in range(place + 1, size):
            factor = matrix[row][place] / matrix[place][place]
            right[row] -= factor * right[place]
            for column in range(place, size):
                matrix[row][column] -= factor * matrix[place][column]
    values = [0.0] * size
    for place in reversed(range(size)):
        rest = sum(matrix[place][column] * values[column] for column in range(place + 1, size))
        values[place] = (right[place] - rest) / matrix[place][place]
    return values


class Calibrations:
    """By model (``origin`` of the client, else its name); kept in one JSON file, if ``path`` is given. A file that
    cannot be read counts as empty, one that cannot be written is left: all of it is learnt anew.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._known: dict[str, Calibration] = {}
        self._told: dict[str, dict[str, float]] = {}
        """The rates that the file gives."""
        self._read = False

    def get(self, model: str) -> dict[str, float]:
        """The rates of a model."""
        self._load()
        return rates(self._known.get(model, Calibration()))

    def observe(self, model: str, features: Mapping[str, float], reported: int) -> None:
        """Learns from one report."""
        self._load()
        self._known[model] = observed(self._known.get(model, Calibration()), features, reported)

    def overflow(self, model: str, estimated: int) -> None:
        """Learns that a request was too long."""
        self._load()
        self._known[model] = overflowed(self._known.get(model, Calibration()), estimated)

    def took(self, model: str) -> None:
        """Learns that a request went through which was longer than what the model was found to take: that was wrong."""
        self._load()
        self._known[model] = msgspec.structs.replace(self._known.get(model, Calibration()), window=None)

    def save(self) -> None:
        """Writes the file, in one step, if a rate has changed noticeably."""
        if self.path is None:
            return
        now = {model: rates(known) for model, known in self._known.items()}
        if all(_same(found, self._told.get(model, {})) for model, found in now.items()):
            return
        content = msgspec.json.format(msgspec.json.encode(dict(sorted(self._known.items()))))
        with contextlib.suppress(OSError):
            replace_file(self.path, content)
            self._told = now

    def _load(self) -> None:
        if self._read or self.path is None:
            return
        self._read = True
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            kept = msgspec.json.decode(self.path.read_bytes(), type=dict[str, Calibration])
            self._known = {model: one for model, one in kept.items() if len(one.products) == 16 and len(one.sent) == 4}
        self._told = {model: rates(one) for model, one in self._known.items()}


def _same(found: Mapping[str, float], told: Mapping[str, float]) -> bool:
    return found.keys() == told.keys() and all(
        abs(found[name] - told[name]) <= _TOLD * max(told[name], 0.01) for name in found
    )
