"""What suppliers charge in the example shop.

Invariant: each product has its usual supplier at its cost; some have a second one, a little cheaper or dearer, who
takes larger orders only.
"""

from __future__ import annotations

from decimal import Decimal

from ..values import Money, rounded
from ..verbs.buying import SupplierOffer
from .trade import Trade

LEAD_DAYS = (5, 7, 3, 10, 14, 8)


def offers(trade: Trade) -> list[SupplierOffer]:
    """All offers, by product."""
    own = [each for each in trade.parties.suppliers if each.id.startswith("S0")]
    found = []
    for at, goods in enumerate(trade.goods):
        product, supplier = goods.product, trade.supplier[goods.supplier]
        if product.cost is None:
            continue
        unit = next((each for each in product.units if each.name == "箱"), product.base)
        price = rounded(product.cost * unit.factor, "CNY")
        lead = LEAD_DAYS[trade.parties.suppliers.index(supplier) % len(LEAD_DAYS)]
        least = Decimal(5) if unit is not product.base and product.list_price < 100 else Decimal(1)
        found.append(
            SupplierOffer(
                product.sku, supplier.id, supplier.name, unit.name, Money(price, "CNY"), least, Decimal(1), lead
            )
        )
        if goods.everyday and at % 3 == 0:
            other = own[(own.index(supplier) + 1) % len(own)] if supplier in own else own[0]
            factor = Decimal("0.97") if at % 2 else Decimal("1.04")
            dearer = Money(price * factor, "CNY")
            found.append(
                SupplierOffer(product.sku, other.id, other.name, unit.name, dearer, least * 4, Decimal(1), lead + 4)
            )
    return found
