"""Products and customers that come from a file or from a conversation: added once, changed by what differs."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from erpilot.shop.catalogue import Product, Unit
from erpilot.shop.errors import Conflict, Denied, Invalid, NeedsConfirmation, Refused
from erpilot.shop.values import Money
from erpilot.shop.verbs.control import ImportedCustomer
from erpilot.shop.verbs.selling import CustomerDraft
from tests.support.erp_cases import pieces, quotation
from tests.support.erp_world import Goods, World, fresh, needs, write


def _product(name: str = "新品", **more: object) -> Product:
    sku = fresh("I")
    values: dict[str, object] = {
        "sku": sku,
        "name": f"{name} {sku}",
        "specification": "",
        "category": "导入",
        "units": (Unit("个", Decimal(1)), Unit("箱", Decimal(12))),
        "tax_rate": Decimal("0.13"),
        "list_price": Decimal("5.00"),
        "cost": Decimal("3.00"),
        **more,
    }
    return Product(**values)  # type: ignore[arg-type]


@needs("import_products")
async def test_an_imported_product_is_found_and_priced(world: World) -> None:
    product = _product()
    await world.backend.import_products([product], write=write())
    found = await world.backend.find_products(product.name)
    assert found.hits[0].record.sku == product.sku
    assert found.hits[0].record.list_price == Decimal("5.00")


@needs("import_products")
async def test_an_import_of_what_is_equal_changes_nothing(world: World) -> None:
    product = _product()
    await world.backend.import_products([product], write=write())
    before = (await world.backend.get_products([product.sku]))[product.sku]
    again = await world.backend.import_products([product], write=write())
    assert again.changes == ()
    assert (await world.backend.get_products([product.sku]))[product.sku] == before


@needs("import_products")
async def test_an_import_says_what_differs(world: World) -> None:
    product = _product()
    await world.backend.import_products([product], write=write())
    changed = replace(product, list_price=Decimal("6.00"), category="别的")
    made = await world.backend.import_products([changed], write=write())
    assert {each.field: (each.before, each.after) for each in made.changes} == {
        "list_price": (Decimal("5.00"), Decimal("6.00")),
        "category": ("导入", "别的"),
    }


@needs("import_products")
async def test_one_wrong_product_keeps_all_of_them_out(world: World) -> None:
    good, bad = _product(), _product(tax_rate=Decimal(2))
    with pytest.raises(Invalid):
        await world.backend.import_products([good, bad], write=write())
    assert await world.backend.get_products([good.sku]) == {}


@needs("import_products")
async def test_adding_only_refuses_what_is_there_already(world: World) -> None:
    product = _product()
    await world.backend.import_products([product], write=write())
    with pytest.raises(Refused):
        await world.backend.import_products([replace(product, name="x")], mode="add", write=write())


@needs("import_products", "undo")
async def test_an_import_is_undone_as_long_as_nothing_was_built_on_it(world: World) -> None:
    old, new = _product(), _product()
    await world.backend.import_products([old], write=write())
    key = fresh("key-")
    changed = replace(old, list_price=Decimal("6.00"), units=(Unit("个", Decimal(1)),), aliases=("别名",))
    await world.backend.import_products([changed, new], write=write(key=key))
    await world.backend.undo(key, reason="wrong file", write=write())
    left = await world.backend.get_products([old.sku, new.sku])
    assert set(left) == {old.sku}
    assert replace(left[old.sku], version="1") == replace(old, version="1")


@needs("import_products", "undo", "create_quotation")
async def test_an_imported_product_that_was_sold_stays(world: World) -> None:
    product = _product()
    key = fresh("key-")
    await world.backend.import_products([product], write=write(key=key))
    other = await world.product()
    customer = await world.customer()
    if (await world.backend.whoami()).backend == "embedded":
        from erpilot.shop.verbs.control import PriceChange

        today = world.backend.now().date()
        change = PriceChange(product.sku, world.price_list, Decimal(1), None, Decimal("5.00"), today)
        await world.backend.set_prices([change], write=write())
    await quotation(world, customer, (product, pieces(1)), (other, pieces(1)))
    with pytest.raises(Conflict):
        await world.backend.undo(key, reason="wrong file", write=write())
    assert set(await world.backend.get_products([product.sku])) == {product.sku}


@needs("import_customers")
async def test_customers_are_added_and_changed_by_their_id(world: World) -> None:
    number = fresh("K")
    draft = CustomerDraft(f"导入 {number}", world.price_list, (number.lower(),), 30)
    await world.backend.import_customers([ImportedCustomer(number, draft)], write=write())
    changed = replace(draft, terms=45, credit_limit=Money(Decimal(500), world.currency))
    made = await world.backend.import_customers([ImportedCustomer(number, changed)], write=write())
    assert {each.field for each in made.changes} == {"terms", "credit_limit"}
    customer = (await world.backend.find_customers(number)).hits[0].record
    assert (customer.terms, customer.credit_limit) == (45, Money(Decimal(500), world.currency))


@needs("import_customers", "undo")
async def test_imported_customers_are_undone(world: World) -> None:
    first, second = fresh("K"), fresh("K")
    draft = CustomerDraft(f"导入 {first}", world.price_list, (), 30)
    await world.backend.import_customers([ImportedCustomer(first, draft)], write=write())
    key = fresh("key-")
    both = [
        ImportedCustomer(first, replace(draft, terms=45)),
        ImportedCustomer(second, CustomerDraft(f"导入 {second}", world.price_list)),
    ]
    await world.backend.import_customers(both, write=write(key=key))
    await world.backend.undo(key, reason="wrong file", write=write())
    assert (await world.backend.find_customers(first)).hits[0].record.terms == 30
    assert second not in [hit.record.id for hit in (await world.backend.find_customers(second)).hits]


@needs("create_customer")
async def test_a_new_customer_has_an_id_and_is_found(world: World) -> None:
    name = fresh("Neukunde")
    made = await world.backend.create_customer(CustomerDraft(name, world.price_list, terms=14), write=write())
    found = (await world.backend.find_customers(name)).hits[0].record
    assert (found.id, found.name, found.terms) == (made.number, name, 14)


@needs("create_customer")
async def test_a_customer_of_nearly_that_name_is_asked_about(world: World) -> None:
    name = fresh("Doppelkunde")
    first = await world.backend.create_customer(CustomerDraft(name, world.price_list), write=write())
    with pytest.raises(NeedsConfirmation) as caught:
        await world.backend.create_customer(CustomerDraft(name, world.price_list), write=write())
    second = await world.backend.create_customer(
        CustomerDraft(name, world.price_list), write=write(None, caught.value.token)
    )
    assert first.number != second.number


@needs("create_customer")
async def test_a_customer_without_a_name_or_with_impossible_terms_is_not_made(world: World) -> None:
    for draft in (CustomerDraft("  ", world.price_list), CustomerDraft(fresh("x"), world.price_list, terms=-1)):
        with pytest.raises(Invalid):
            await world.backend.create_customer(draft, write=write())


@needs("create_customer", "undo")
async def test_a_new_customer_is_undone_until_somebody_sold_to_them(world: World) -> None:
    name, key = fresh("Neukunde"), fresh("key-")
    made = await world.backend.create_customer(CustomerDraft(name, world.price_list), write=write(key=key))
    customer = (await world.backend.find_customers(made.number)).hits[0].record
    await quotation(world, customer, (await world.product(Goods()), pieces(1)))
    with pytest.raises((Conflict, Refused)):
        await world.backend.undo(key, reason="x", write=write())


@needs("import_products")
async def test_the_catalogue_is_not_everybody_s(world: World) -> None:
    with pytest.raises(Denied) as caught:
        await world.person("clerk").import_products([_product()], write=write())
    assert caught.value.right == "catalogue"
