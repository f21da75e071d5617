"""Prices that change from a day on.

Invariant: a price ends the day before the next one of its tier begins; prices of the past stay as they were; a change
names the price that it replaces.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal

from ..catalogue import Product
from ..errors import Conflict, Invalid, NotFound, Refused
from ..pricing import HUNDRED, PriceList
from ..values import rounded
from ..verbs.control import PriceChange, PricePlan, PriceRule
from ..verbs.outcome import FieldChange, Write
from . import prices, products
from .acting import Acting
from .effects import Made
from .schema import stored
from .series import following

LAST_DAY = date(9999, 12, 31)


def plan(connection: sqlite3.Connection, acting: Acting, rule: PriceRule) -> PricePlan:
    """What a rule comes to."""
    _check(rule, acting)
    rows = _goods(connection, rule)
    known = prices.lists(connection)
    chosen = (
        [prices.named(known, each) for each in rule.price_lists]
        if rule.price_lists
        else [each for each in known if each.currency == known[0].currency]
    )
    goods: dict[int, Product] = {}
    for at in range(0, len(rows), 500):
        goods.update(products.load(connection, rows[at : at + 500]))
    changes, unchanged = [], 0
    below: dict[str, None] = {}
    for row in rows:
        product = goods[row]
        for price_list in chosen:
            for from_qty, before in _tiers(connection, row, price_list, rule):
                after = _after(rule, before, price_list)
                if after == before:
                    unchanged += 1
                    continue
                changes.append(PriceChange(product.sku, price_list.code, from_qty, before, after, rule.start))
                if _below_cost(product, price_list, after):
                    below[product.sku] = None
    shown = tuple(below) if "see_cost" in acting.rights else ()
    return PricePlan(rule, tuple(changes), shown, unchanged)


def _check(rule: PriceRule, acting: Acting) -> None:
    if bool(rule.skus) == bool(rule.category):
        raise Invalid("A price rule names products or a category, and not both.")
    if (rule.percent is None) == (rule.price is None):
        raise Invalid("A price rule has a percentage or a price, and not both.")
    if rule.percent is not None and (not rule.percent.is_finite() or not -100 < rule.percent <= 1000):
        raise Invalid(f"A change by {rule.percent} % cannot be meant.")
    if rule.price is not None and (not rule.price.is_finite() or rule.price <= 0):
        raise Invalid(f"A price of {rule.price} cannot be.")
    if rule.start < acting.today:
        raise Invalid(f"The day {rule.start} is past: today is {acting.today}.")
    if not rule.rounding.is_finite() or rule.rounding <= 0:
        raise Invalid(f"Prices cannot be rounded to {rule.rounding}.")


def _goods(connection: sqlite3.Connection, rule: PriceRule) -> list[int]:
    if rule.skus:
        return list(products.rows_of(connection, rule.skus).values())
    wanted = products.categories(connection, rule.category or "")
    marks = ", ".join("?" * len(wanted))
    return [
        row
        for (row,) in connection.execute(
            f"SELECT id FROM product WHERE active AND category IN ({marks}) ORDER BY sku", wanted
        )
    ]


def _tiers(
    connection: sqlite3.Connection, row: int, price_list: PriceList, rule: PriceRule
) -> list[tuple[Decimal, Decimal | None]]:
    """The tiers that a rule touches, with what they cost on the day before it takes effect changes them."""
    valid = [
        (tier.from_qty, tier.price)
        for tier in prices.tiers_of(connection, row, price_list.code)
        if tier.valid_from <= rule.start <= tier.valid_until
    ]
    valid.sort()
    if rule.from_qty is not None:
        same = [each for each in valid if each[0] == rule.from_qty]
        return [*same] or ([(rule.from_qty, None)] if rule.price is not None else [])
    if rule.price is not None:
        return list(valid[:1]) or [(Decimal(1), None)]
    return list(valid)


def _after(rule: PriceRule, before: Decimal | None, price_list: PriceList) -> Decimal:
    if rule.price is not None:
        return rounded(rule.price, price_list.currency)
    assert rule.percent is not None, "a rule has a price or a percentage"
    assert before is not None, "a percentage is of a price that exists"
    raised = before * (HUNDRED + rule.percent) / HUNDRED
    steps = (raised / rule.rounding).quantize(Decimal(1), ROUND_HALF_UP)
    return rounded(max(steps, Decimal(1)) * rule.rounding, price_list.currency)


def _below_cost(product: Product, price_list: PriceList, price: Decimal) -> bool:
    if product.cost is None or product.currency != price_list.currency:
        return False
    net = price / (1 + product.tax_rate) if price_list.tax_included and price_list.taxed else price
    return net < product.cost


def set_all(
    connection: sqlite3.Connection, acting: Acting, changes: Sequence[PriceChange], reason: str | None, write: Write
) -> Made:
    """Sets prices, all or none."""
    del write
    if not changes:
        raise Invalid("There is no price to change.")
    lists = {each.code: each for each in prices.lists(connection)}
    rows = products.rows_of(connection, dict.fromkeys(each.sku for each in changes))
    if len({(each.sku, each.price_list, each.from_qty, each.start) for each in changes}) != len(changes):
        raise Invalid("A price is changed twice.")
    known = _spans(connection, list(rows.values()))
    done = []
    for each in changes:
        _check_change(each, lists, acting)
        row, from_qty = rows[each.sku], stored(each.from_qty)
        spans = known.setdefault((row, each.price_list, from_qty), {})
        now = _at(spans, each.start)
        if now != each.before:
            raise Conflict(
                f"{each.sku} costs {now} in {each.price_list} from {each.from_qty.normalize():f} on, not {each.before} "
                "as was shown; nothing was changed.",
                hint="Plan it again.",
            )
        after = rounded(each.after, lists[each.price_list].currency)
        _put(spans, each.start, after)
        subject = f"{each.sku}@{each.price_list}@{each.from_qty.normalize():f}"
        done.append(FieldChange(subject, f"price from {each.start}", each.before, after))
    _store(connection, {(rows[each.sku], each.price_list, stored(each.from_qty)) for each in changes}, known)
    connection.executemany(
        "UPDATE product SET version = version + 1 WHERE id = ?", [(row,) for row in set(rows.values())]
    )
    number, _ = following(connection, "PR")
    return Made(number, tuple(done), undoable=True, reason=reason.strip() if reason else None)


def _check_change(each: PriceChange, lists: Mapping[str, PriceList], acting: Acting) -> None:
    if each.price_list not in lists:
        raise NotFound(f"There is no price list {each.price_list!r}.", nearest=list(lists))
    if each.start < acting.today:
        raise Refused(f"The price of {each.sku} cannot change on {each.start}, which is past.")
    if not each.after.is_finite() or each.after <= 0 or each.from_qty <= 0:
        raise Invalid(f"A price of {each.after} from {each.from_qty} of {each.sku} on cannot be.")


_Tier = tuple[int, str, int]
_Span = dict[date, tuple[Decimal, date]]
"""The prices of one tier: the first day of each, with the price and its last day."""


def _spans(connection: sqlite3.Connection, rows: Sequence[int]) -> dict[_Tier, _Span]:
    found: dict[_Tier, _Span] = {}
    for at in range(0, len(rows), 500):
        some = rows[at : at + 500]
        for product, price_list, from_qty, first, price, last in connection.execute(
            "SELECT product_id, list, from_qty, valid_from, price, valid_until FROM price "
            f"WHERE product_id IN ({', '.join('?' * len(some))})",
            some,
        ):
            spans = found.setdefault((product, price_list, from_qty), {})
            spans[date.fromisoformat(first)] = (Decimal(price), date.fromisoformat(last))
    return found


def _at(spans: _Span, day: date) -> Decimal | None:
    """What the tier costs on a day."""
    first = max((first for first, (_, last) in spans.items() if first <= day <= last), default=None)
    return None if first is None else spans[first][0]


def _put(spans: _Span, start: date, price: Decimal) -> None:
    """The tier costs ``price`` from ``start`` on, until the next price that is planned for it, else as long as the one
    before was to hold.
    """
    following_ = min((first for first in spans if first > start), default=None)
    before = max((first for first, (_, last) in spans.items() if first <= start <= last), default=None)
    last = LAST_DAY if before is None else spans[before][1]
    if following_ is not None:
        last = following_ - timedelta(1)
    if before is not None and before < start:
        spans[before] = (spans[before][0], start - timedelta(1))
    spans[start] = (price, last)


def _store(connection: sqlite3.Connection, tiers: Iterable[_Tier], known: Mapping[_Tier, _Span]) -> None:
    connection.executemany(
        "INSERT INTO price (product_id, list, valid_from, from_qty, price, valid_until) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (product_id, list, valid_from, from_qty) DO UPDATE SET price = excluded.price, "
        "valid_until = excluded.valid_until",
        (
            (product, price_list, first.isoformat(), from_qty, str(price), last.isoformat())
            for product, price_list, from_qty in tiers
            for first, (price, last) in known[product, price_list, from_qty].items()
        ),
    )


def set_tier(
    connection: sqlite3.Connection, row: int, price_list: str, from_qty: int, price: Decimal, start: date
) -> None:
    """One tier costs ``price`` from ``start`` on."""
    key = (row, price_list, from_qty)
    known = _spans(connection, [row])
    _put(known.setdefault(key, {}), start, price)
    _store(connection, [key], known)
