"""Customers and suppliers.

Invariant: an id (the party's code) decides; who only sells to the shop is no customer. Contacts are read only for who
may see them.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal

from ..documents import Customer
from ..errors import NotFound
from ..matching import Candidate, decided, rank
from ..values import Money
from ..verbs.reading import Found, Hit
from .desk import Base, Desk, together
from .failures import ServerRefused
from .products import escaped, pieces

Role = Literal["customer", "supplier"]
PROPOSED = 300
LIGHT = ["code", "name", "identifiers.type", "identifiers.code"]


async def _fields(desk: Desk) -> list[str]:
    fields = [
        *LIGHT,
        "sale_price_list",
        "addresses.city",
        "customer_payment_term.lines.type",
        "customer_payment_term.lines.relativedeltas.days",
        "_timestamp",
    ]
    if await _has_limits(desk):
        fields.append("credit_limit_amount")
    if "see_contacts" in await desk.rights():
        fields.append("addresses.attn")
    return fields


async def _has_limits(desk: Desk) -> bool:
    """Whether the module that knows credit limits is installed."""
    return await desk.has_field("party.party", "credit_limit_amount")


def customer_of(row: dict[str, Any], base: Base) -> Customer:
    """A party as who buys."""
    addresses = row["addresses."]
    limit, chosen = row.get("credit_limit_amount"), row["sale_price_list"]
    lists = base.lists
    retail = next(iter(lists.values())).code if lists else ""
    return Customer(
        id=row["code"] or f"#{row['id']}",
        name=row["name"] or row["code"] or f"#{row['id']}",
        short_names=_short_names(row),
        price_list=lists[chosen].code if chosen in lists else retail,
        currency=base.company.currency,
        terms=_days(row.get("customer_payment_term.")),
        credit_limit=None if limit is None else Money(Decimal(limit), base.company.currency),
        contact=(addresses[0].get("attn") or None) if addresses else None,
        city=(addresses[0].get("city") or None) if addresses else None,
        version=str(row["_timestamp"]),
    )


def _short_names(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(each["code"] for each in row["identifiers."] if not each["type"])


def _days(term: dict[str, Any] | None) -> int:
    """Days until the last part of a payment term is due."""
    lines = (term or {}).get("lines.") or []
    spans = [sum(delta["days"] or 0 for delta in line["relativedeltas."]) for line in lines]
    return max(spans, default=0)


async def row_of(desk: Desk, party_id: str, role: Role) -> dict[str, Any]:
    """The party with that id: Tryton lets every party buy and sell. Raises ``NotFound``, as of that role."""
    found = await desk.rpc.search_read("party.party", _exactly(party_id), await _fields(desk), limit=1)
    if not found:
        raise NotFound(f"There is no {role} {party_id[:40]}.")
    return found[0]


def _exactly(party_id: str) -> list[Any]:
    text = party_id.strip()
    if text.startswith("#") and text[1:].isdigit():
        return [["id", "=", int(text[1:])]]
    return [["code", "ilike", escaped(text)]]


async def get(desk: Desk, party_id: str, role: Role) -> Customer:
    """The party with that id. Raises ``NotFound``."""
    return customer_of(await row_of(desk, party_id, role), await desk.base())


async def find(desk: Desk, role: Role, text: str, limit: int, offset: int) -> Found[Customer]:
    """Parties that ``text`` can mean; without a text all of them, by id."""
    base, asked = await desk.base(), text.strip()
    domain: list[Any] = [["id", "!=", base.company_party]]
    if asked:
        domain.append(_proposing(asked))
    proposals = await desk.rpc.search_read("party.party", domain, LIGHT, order=[("code", "ASC")], limit=PROPOSED)
    suppliers = await _suppliers(desk, *(row["id"] for row in proposals))
    proposals = [row for row in proposals if (row["id"] in suppliers) == (role == "supplier")]
    exact = [row for row in proposals if (row["code"] or "").casefold() == asked.casefold()] if asked else []
    if exact:
        matches, certain = [(exact[0]["id"], "code", 1.0)], True
    elif asked:
        ranked = rank(asked, [Candidate(str(row["id"]), (row["name"] or "", *_short_names(row))) for row in proposals])
        shown = [each for each in ranked if each.coverage >= 0.5 * ranked[0].coverage]
        matches = [(int(each.key), "name" if each.whole else "fuzzy", each.score) for each in shown]
        certain = decided(shown)
    else:
        matches, certain = [(row["id"], "name", 1.0) for row in proposals], False
    page = matches[offset : offset + limit]
    rows = await desk.rpc.read("party.party", [row for row, _, _ in page], await _fields(desk))
    by_id = {row["id"]: row for row in rows}
    hits = tuple(
        Hit(customer_of(by_id[row], base), match, score)  # type: ignore[arg-type]
        for row, match, score in page
        if row in by_id
    )
    return Found(hits, len(matches), certain)


def _proposing(text: str) -> list[Any]:
    clauses: list[Any] = [["code", "ilike", escaped(text)]]
    for gram in sorted(pieces(text)):
        like = f"%{escaped(gram)}%"
        clauses += [["name", "ilike", like], ["identifiers.code", "ilike", like]]
    return ["OR", *clauses]


async def _suppliers(desk: Desk, *parties: int) -> frozenset[int]:
    """Those of the parties that the shop buys from and does not sell to."""
    if not parties:
        return frozenset()
    among = [["party", "in", list(parties)]]
    offers, bought, sold = await together(
        _parties(desk, "purchase.product_supplier", among),
        _parties(desk, "purchase.purchase", among),
        _parties(desk, "sale.sale", among),
    )
    return frozenset((offers | bought) - sold)


async def _parties(desk: Desk, model: str, domain: Sequence[Any]) -> set[int]:
    """Whose records there are; none where the person may not read them."""
    try:
        return {row["party"] for row in await desk.rpc.search_read(model, list(domain), ["party"], limit=5000)}
    except ServerRefused:
        return set()
