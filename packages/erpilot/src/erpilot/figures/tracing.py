"""Traces the figures of an answer: to a value that a tool gave, to the question, or by a derivation that is named.

Invariant: pure. A figure is traced when its value stands in something the model could read, or follows from such a
value by one of ``DERIVATIONS``; the model's own arithmetic is none of them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from agent_core.answers import Evidence, Findings
from agent_core.values import Figure

from .reading import GOODS, STOCK, Mention, currencies, mentions, normal
from .sources import Leaf, Link, Text, leaves, path_of, stands_in

MOST = 2_000
"""Figures of one answer that are traced; what more there are counts as untraced."""
MORE = "…"

DERIVATIONS = ("read", "question", "percent", "discount", "without_sign", "text", "count", "rounded")
"""How a figure follows from its source, the surest first: as it stands there; from what a person said (or today's
date); a share as per cent; a price cut in 折 from one in per cent; a difference without its sign; a number within a
text; how many a list holds; a value rounded, where the answer says that it is approximate."""
_READ, _QUESTION, _PERCENT, _DISCOUNT, _SIGN, _TEXT, _COUNT, _ROUNDED = range(8)


class _Figures:
    """Traces with the meanings of this module; another meaning needs another name."""

    name = "figures/2"

    def check(self, evidence: Evidence) -> Findings:
        """See ``AnswerChecker``."""
        found = mentions(normal(evidence.answer))
        traced = _Trace(normal(evidence.answer), found[:MOST])
        for text in reversed(evidence.said):
            traced.said(text)
        for result in reversed(evidence.results):
            if traced.done:
                break
            traced.read(result.call_id, result.content)
        return traced.findings(more=len(found) > MOST)


_Source = tuple[int, str | None, Link | None]
"""How sure it is, the call, the place in its result."""
_NOWHERE: _Source = (len(DERIVATIONS), None, None)


def _rank(source: _Source) -> int:
    return source[0]


FIGURES = _Figures()
"""The checker of the product."""


_NAMES = frozenset({"name", "specification", "sku", "barcode", "product", "category", "number", "key", "id", "table"})
_PIECES = frozenset("件个条只本块片枚")
_OF_HUNDRED = re.compile("percent|share|rate|ratio|margin|discount|growth|change|pct")
_CHANGES = re.compile("change|difference")


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is being read: a number of a result, or one within a text. ``behind``: what stands behind it there;
    ``named``: the text is a name or a code, whose figures say nothing of quantities.
    """

    number: Decimal | None = None
    money: frozenset[str] | None = None
    text: str = ""
    behind: str | None = None
    named: bool = False

    def fits(self, figure: Mention, link: Link | None) -> bool:
        """Whether the figure can mean this, by what stands beside it."""
        if figure.currency is not None and self.money is not None and figure.currency not in self.money:
            return False
        counts_things = _is_measured(figure) or figure.unit in _PIECES
        if self.named and counts_things and (figure.unit or "_")[0] not in (self.behind or ""):
            return False
        if self.number is None:
            return figure.kind != "percent" or not self.text or "%" in self.text or "per" in self.text
        name = _name_of(link)
        if figure.kind == "percent" and name and not _OF_HUNDRED.search(name):
            return False
        if figure.direction and figure.values and figure.values[0] > 0:
            return not (self.number < 0 < figure.direction or (figure.direction < 0 < self.number and _is_change(name)))
        return True


def _is_change(name: str) -> bool:
    return _CHANGES.search(name) is not None


def _name_of(link: Link | None) -> str:
    while link is not None and isinstance(link[1], int):
        link = link[0]
    return str(link[1]) if link is not None else ""


def _is_named(leaf: Text) -> bool:
    return _name_of(leaf.link) in _NAMES


def _is_measured(figure: Mention) -> bool:
    """Whether it is money, stock, or so much of something that is no record."""
    unit = figure.unit or ""
    return bool(figure.currency or figure.stock) or unit in GOODS or (unit != "" and unit.isascii())


class _Trace:
    """The figures of one answer and the best source found so far for each: (rank, call, place)."""

    def __init__(self, answer: str, figures: Sequence[Mention]) -> None:
        self._answer, self._figures = answer, figures
        self._best: list[_Source] = [_NOWHERE] * len(figures)
        self._pieces: dict[int, dict[Decimal, _Source]] = {}
        """Of what looks like a code and may be several numbers ("10-20"), by figure: the source of each."""
        self._starts = [figure.start for figure in figures]
        self._values: dict[Decimal, list[tuple[int, int]]] = {}
        """Value to (figure, rank): what a number of a result has to be."""
        self._dates: list[int] = []
        self._codes: dict[str, list[int]] = {}
        self._counts: dict[int, list[int]] = {}
        self._about: list[int] = []
        self._seen: set[str] = set()
        self._read_now = _Reading()
        self._open = len(figures)
        for place, figure in enumerate(figures):
            self._want(place, figure)

    @property
    def done(self) -> bool:
        """Every figure has a source that none is better than."""
        return self._open == 0

    def _want(self, place: int, figure: Mention) -> None:
        def value(wanted: Decimal, rank: int) -> None:
            self._values.setdefault(wanted, []).append((place, rank))

        for each in figure.values:
            if figure.kind != "discount":
                value(each, _READ)
                value(-each, _SIGN)
            if figure.kind == "percent":
                value(each / 100, _PERCENT)
                value(-each / 100, _PERCENT)
            if figure.kind == "discount":
                for wanted in (each, each / 100, 100 - each, 1 - each / 100):
                    value(wanted, _DISCOUNT)
        if figure.numbers:
            self._pieces[place] = dict.fromkeys(figure.numbers, _NOWHERE)
            for number in figure.numbers:
                self._values.setdefault(number, []).append((~place, _READ))
        if figure.kind in ("date", "time"):
            self._dates.append(place)
        elif figure.kind == "code":
            self._codes.setdefault(figure.text.casefold(), []).append(place)
        elif figure.kind == "number" and (whole := figure.values[0]) == int(whole) and not _is_measured(figure):
            self._counts.setdefault(int(whole), []).append(place)
        if figure.about or figure.kind == "percent":
            self._about.append(place)

    def _trace(self, place: int, rank: int, call_id: str | None, link: Link | None) -> None:
        stock = self._figures[place].stock
        if stock is not None and link is not None and link[1] in STOCK and link[1] != stock:
            return  # the number of another word for stock
        if not self._read_now.fits(self._figures[place], link):
            return
        before = self._best[place][0]
        if rank < before:
            self._best[place] = (rank, call_id, link)
            self._open -= before > _READ >= rank

    def said(self, text: str) -> None:
        """Something that a person said, with the date that was frozen into it."""
        text = normal(text)
        self._read_now = _Reading()
        for each in mentions(text):
            for value in (*each.values, *each.numbers):
                self._found(value, None, None, _QUESTION)
            if each.kind in ("date", "time"):
                self._date(each.kind, each.parts, _QUESTION, None, None)
        self._named(Text(text, None), _QUESTION, None)

    def read(self, call_id: str, content: str) -> None:
        """The result of a call."""
        for leaf in leaves(content):
            self._read_now = _Reading()
            match leaf:
                case Leaf(number=Decimal() as number):
                    money = frozenset((leaf.currency,)) if leaf.currency else None
                    self._read_now = _Reading(number, money)
                    self._number(number, call_id, leaf.link)
                case Leaf(size=int() as size):
                    for place in self._counts.get(size, ()):
                        self._trace(place, _COUNT, call_id, leaf.link)
                case Leaf(date=tuple() as parts):
                    self._date("date", parts[:3], _READ, call_id, leaf.link)
                    self._date("time", parts[3:], _READ, call_id, leaf.link)
                case Text():
                    self._text(leaf, call_id)

    def _number(self, number: Decimal, call_id: str, link: Link | None) -> None:
        self._found(number, call_id, link)
        for place in self._about:
            if self._best[place][0] > _ROUNDED and _rounds_to(number, self._figures[place]):
                self._trace(place, _ROUNDED, call_id, link)

    def _found(self, number: Decimal, call_id: str | None, link: Link | None, least: int = _READ) -> None:
        for place, rank in self._values.get(number, ()):
            if place >= 0:
                self._trace(place, max(rank, least), call_id, link)
            elif max(rank, least) < self._pieces[~place][number][0]:
                self._pieces[~place][number] = (max(rank, least), call_id, link)

    def _date(
        self, kind: str, parts: tuple[int | None, ...], rank: int, call_id: str | None, link: Link | None
    ) -> None:
        if not parts:
            return
        for place in self._dates:
            figure = self._figures[place]
            if figure.kind == kind and all(
                asked is None or asked == there for asked, there in zip(figure.parts, parts, strict=True)
            ):
                self._trace(place, rank, call_id, link)

    def _text(self, leaf: Text, call_id: str) -> None:
        """A name that holds figures, as a whole where the answer has it whole; else what stands within it."""
        if leaf.text in self._seen:
            return
        self._seen.add(leaf.text)
        text = normal(leaf.text)
        if 2 < len(text) <= 200:
            at = self._answer.find(text)
            while at >= 0:
                for place in range(bisect_left(self._starts, at), len(self._starts)):
                    if self._figures[place].end > at + len(text):
                        break
                    self._trace(place, _READ, call_id, leaf.link)
                at = self._answer.find(text, at + len(text))
        money = currencies(text) or None
        for number, behind in leaf.numbers().items():
            self._read_now = _Reading(None, money, text, None if leaf.whole else behind, _is_named(leaf))
            self._found(number, call_id, leaf.link, leaf.rank(_TEXT))
        self._read_now = _Reading()
        self._named(leaf, leaf.rank(_TEXT), call_id)
        for date in leaf.dates():
            self._date("date", date, leaf.rank(_TEXT), call_id, leaf.link)

    def _named(self, leaf: Text, rank: int, call_id: str | None) -> None:
        folded = leaf.text.casefold()
        for code, places in self._codes.items():
            if stands_in(code, folded):
                for place in places:
                    self._trace(place, _READ if code == folded else rank, call_id, leaf.link)

    def findings(self, *, more: bool) -> Findings:
        """What came of it. What looked like a code and is not found as one is traced by its numbers."""
        figures: dict[Figure, None] = {}
        untraced: dict[str, None] = {}
        for place, figure in enumerate(self._figures):
            rank, call_id, link = max(self._pieces.get(place, {}).values(), default=_NOWHERE, key=_rank)
            if self._best[place][0] < rank:
                rank, call_id, link = self._best[place]
            if rank < len(DERIVATIONS):
                derivation = DERIVATIONS[rank] if rank else None
                figures[Figure(figure.text, call_id, path_of(link), derivation)] = None
            else:
                untraced[figure.text] = None
        if more:
            untraced[MORE] = None
        return Findings(tuple(figures), tuple(untraced))


def _rounds_to(number: Decimal, figure: Mention) -> bool:
    """Whether the figure is the number, rounded to the last digit that was written, or that much less ("300 多")."""
    numbers = (number, number * 100) if figure.kind == "percent" else (number,)
    for value in figure.values:
        step = Decimal(1).scaleb(int(value.normalize().as_tuple().exponent)) if value else Decimal(1)
        for each in numbers:
            if abs(abs(each) - value) * 2 <= step or (figure.kind != "percent" and 0 <= abs(each) - value < step):
                return True
    return False
