"""What a product is besides its price and stock: units, minimum, who supplies it and for how much.

Invariant: what is paid to suppliers is told only to those who may see it; prices stand per unit with their currency.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..shop.catalogue import Product
from ..shop.verbs.buying import SupplierOffer
from .shop_results import Amount, Fact, Qty, Rate


class UnitDetail(Fact):
    """One ``unit`` is ``factor`` base units. ``whole``: not sold in fractions."""

    unit: str
    factor: Qty
    barcode: str | None = None
    whole: bool


class OfferFact(Fact):
    """What a supplier charges per ``unit``, tax not included; at least ``min_qty``, in packs of ``pack``."""

    sku: str
    supplier_id: str
    supplier: str
    unit: str
    price: Amount
    currency: str
    min_qty: Qty
    pack: Qty
    lead_days: int


class ProductDetail(Fact):
    """One product. ``min_order`` in ``base_unit``; ``list_price`` per base unit, tax included. ``suppliers``: the
    cheapest first; empty also where the person may not see them."""

    sku: str
    name: str
    specification: str | None = None
    category: str
    base_unit: str
    units: list[UnitDetail]
    min_order: Qty
    tax_rate: Rate
    list_price: Amount
    currency: str
    active: bool
    stocked: bool
    other_names: list[str]
    suppliers: list[OfferFact]
    as_of: str


class Offers(Fact):
    """Offers of suppliers, the cheapest per base unit first."""

    offers: list[OfferFact]
    total_count: int
    as_of: str


def offer_fact(offer: SupplierOffer) -> OfferFact:
    """An offer as answered."""
    return OfferFact(
        sku=offer.sku,
        supplier_id=offer.supplier_id,
        supplier=offer.supplier,
        unit=offer.unit,
        price=offer.price.amount,
        currency=offer.price.currency,
        min_qty=offer.min_qty,
        pack=offer.pack,
        lead_days=offer.lead_days,
    )


def product_detail(product: Product, offers: Sequence[SupplierOffer], as_of: str) -> ProductDetail:
    """One product as answered."""
    units = [UnitDetail(unit=u.name, factor=u.factor, barcode=u.barcode, whole=u.whole) for u in product.units]
    return ProductDetail(
        sku=product.sku,
        name=product.name,
        specification=product.specification or None,
        category=product.category,
        base_unit=product.base.name,
        units=units,
        min_order=product.min_order,
        tax_rate=product.tax_rate,
        list_price=product.list_price,
        currency=product.currency,
        active=product.active,
        stocked=product.stocked,
        other_names=list(product.aliases),
        suppliers=[offer_fact(each) for each in offers],
        as_of=as_of,
    )
