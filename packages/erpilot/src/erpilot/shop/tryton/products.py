"""Products: found by code, barcode or words, read with their units.

Invariant: a code or a barcode decides and is never matched in part; the server proposes by words and pieces of words,
the same ranking as everywhere decides. Costs are read only for who may see them.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from ..catalogue import Product
from ..errors import NotFound
from ..matching import Candidate, decided, query_grams, rank, squeezed
from ..values import ZERO
from ..verbs.reading import Found, Hit
from .desk import Base, Desk, plain

PROPOSED = 400
"""Records of which the ranking picks; a query that fits more says too little to be decided anyway."""
FIELDS = [
    "code",
    "name",
    "description",
    "active",
    "salable",
    "default_uom",
    "list_price_used",
    "identifiers.type",
    "identifiers.code",
    "categories.name",
    "account_category.customer_taxes.type",
    "account_category.customer_taxes.rate",
    "template",
    "_timestamp",
]
LIGHT = ["code", "name", "description", "active", "salable", "identifiers.type", "identifiers.code"]
GOODS = [["type", "=", "goods"]]
"""What has stock; services and fees are no products of the shop."""
EVERY: dict[str, Any] = {"active_test": False}


def product_of(row: dict[str, Any], base: Base) -> Product:
    """A product from a row with ``FIELDS``."""
    units = base.units_of(row["default_uom"])
    taxes = (row.get("account_category.") or {}).get("customer_taxes.") or []
    names = row["categories."]
    return Product(
        sku=row["code"] or f"#{row['id']}",
        name=row["name"],
        specification=" ".join((row["description"] or "").split()),
        category=names[0]["name"] if names else "",
        units=units,
        tax_rate=sum((Decimal(tax["rate"]) for tax in taxes if tax["type"] == "percentage"), ZERO),
        list_price=Decimal(row["list_price_used"] or 0),
        currency=base.company.currency,
        min_order=base.units[row["default_uom"]].rounding,
        cost=row.get("cost_price"),
        active=bool(row["active"] and row["salable"]),
        aliases=_aliases(row),
        version=str(row["_timestamp"]),
    )


def _aliases(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(each["code"] for each in row["identifiers."] if not each["type"])


async def rows_of(desk: Desk, skus: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Rows of products, by SKU as asked. Raises ``NotFound``."""
    known = await by_code(desk, skus, barcodes=False)
    for sku in skus:
        if sku not in known:
            raise NotFound(f"There is no product {sku[:40]}.")
    return known


async def by_code(desk: Desk, codes: Sequence[str], *, barcodes: bool = True) -> dict[str, dict[str, Any]]:
    """Rows by exact code or barcode, under the text asked for."""
    wanted = {code: code.strip() for code in codes if code.strip()}
    if not wanted:
        return {}
    fields = await _fields(desk)
    texts = sorted({*wanted.values(), *(text.upper() for text in wanted.values())})
    either: list[Any] = ["OR", ["code", "in", texts]]
    if barcodes:
        either.append([["identifiers.code", "in", texts], ["identifiers.type", "=", "ean"]])
    rows = await desk.rpc.search_read("product.product", [either, *GOODS], fields, context=EVERY)
    await desk.base_knowing(row["default_uom"] for row in rows)
    by_text: dict[str, dict[str, Any]] = {}
    for row in rows:
        for each in row["identifiers."]:
            if each["type"] == "ean":
                by_text.setdefault(each["code"], row)
    by_text |= {row["code"].casefold(): row for row in rows if row["code"]}
    return {code: by_text[text.casefold()] for code, text in wanted.items() if text.casefold() in by_text}


async def _fields(desk: Desk) -> list[str]:
    return [*FIELDS, "cost_price"] if "see_cost" in await desk.rights() else FIELDS


async def find(
    desk: Desk, text: str, *, category: str | None, in_stock: bool, limit: int, offset: int
) -> Found[Product]:
    """Products that ``text`` can mean; without a text all of them, by code."""
    narrowed = list(GOODS)
    if category and category.strip():
        narrowed.append(["categories.name", "ilike", f"%{escaped(category.strip())}%"])
    asked = text.strip()
    proposals = await desk.rpc.search_read(
        "product.product",
        [_proposing(asked), *narrowed] if asked else narrowed,
        LIGHT,
        order=[("code", "ASC")],
        limit=PROPOSED,
        context=EVERY,
    )
    hits = _decisive(proposals, asked)
    if hits is None:
        ranked = rank(asked, [_candidate(row) for row in proposals]) if asked else []
        shown = [each for each in ranked if each.coverage >= 0.5 * ranked[0].coverage]
        matches = [(int(each.key), "name" if each.whole else "fuzzy", each.score) for each in shown]
        certain = decided(shown)
        if not asked:
            matches, certain = [(row["id"], "name", 1.0) for row in proposals], False
    else:
        matches, certain = hits, True
    if in_stock and matches:
        from .stock import available

        there = await available(desk, [row for row, _, _ in matches])
        matches = [each for each in matches if there.get(each[0], ZERO) > 0]
    page = matches[offset : offset + limit]
    rows = await desk.rpc.read("product.product", [row for row, _, _ in page], await _fields(desk), context=EVERY)
    by_id = {row["id"]: row for row in rows}
    base = await desk.base_knowing(row["default_uom"] for row in rows)
    return Found(
        tuple(
            Hit(product_of(by_id[row], base), match, score)  # type: ignore[arg-type]
            for row, match, score in page
            if row in by_id
        ),
        len(matches),
        certain and bool(matches),
    )


def _decisive(rows: Sequence[dict[str, Any]], text: str) -> list[tuple[int, str, float]] | None:
    """The one record whose code or barcode the text is; None when there is none."""
    flat = text.casefold()
    for row in rows:
        if (row["code"] or "").casefold() == flat:
            return [(row["id"], "code", 1.0)]
    for row in rows:
        if any(each["type"] == "ean" and each["code"] == text for each in row["identifiers."]):
            return [(row["id"], "barcode", 1.0)]
    return None


def _proposing(text: str) -> list[Any]:
    """A domain for everything that shares a word or a piece of one with the text."""
    clauses: list[Any] = [["code", "ilike", escaped(text)], ["identifiers.code", "=", text]]
    for gram in sorted(pieces(text)):
        like = f"%{escaped(gram)}%"
        clauses += [
            ["template.name", "ilike", like],
            ["description", "ilike", like],
            ["identifiers.code", "ilike", like],
        ]
    return ["OR", *clauses]


def pieces(text: str) -> set[str]:
    """What a record that is meant has at least one of: words, and pairs of Chinese characters."""
    found = {gram.partition(":")[2] or gram for gram in query_grams(text) if not gram.startswith("t:")}
    return {gram for gram in found if gram} or {squeezed(text) or text}


def escaped(text: str) -> str:
    """A text for ``like``, without wildcards of its own."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _candidate(row: dict[str, Any]) -> Candidate:
    detail = " ".join((row["description"] or "").split())
    return Candidate(str(row["id"]), (row["name"], *_aliases(row)), detail, bool(row["active"] and row["salable"]))


def in_unit(base: Base, quantity: Decimal, default: int, unit: int) -> Decimal:
    """Base units in another unit."""
    return plain(quantity * base.units[default].factor / base.units[unit].factor)
