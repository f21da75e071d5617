"""Finding products, customers, suppliers: codes decide, names are ranked, nothing is invented."""

from __future__ import annotations

from decimal import Decimal

from tests.support.erp_world import Goods, World, fresh, needs


@needs("find_products")
async def test_a_code_decides(world: World) -> None:
    product = await world.product()
    found = await world.backend.find_products(product.sku)
    assert found.decided
    assert found.total_count == 1
    assert found.hits[0].record.sku == product.sku
    assert found.hits[0].match == "code"


@needs("find_products")
async def test_a_code_decides_in_any_case_and_with_spaces_around_it(world: World) -> None:
    product = await world.product()
    for written in (product.sku.lower(), f"  {product.sku}  "):
        found = await world.backend.find_products(written)
        assert found.decided
        assert found.hits[0].record.sku == product.sku


@needs("find_products")
async def test_a_part_of_a_code_does_not_decide_as_a_code(world: World) -> None:
    product = await world.product()
    found = await world.backend.find_products(product.sku[:-1])
    assert not any(hit.match == "code" for hit in found.hits)


@needs("find_products")
async def test_a_name_finds_the_product(world: World) -> None:
    word = fresh("Zinnober")
    product = await world.product(Goods(name=word))
    found = await world.backend.find_products(word)
    assert product.sku in [hit.record.sku for hit in found.hits]


@needs("find_products")
async def test_two_products_of_one_name_are_not_decided(world: World) -> None:
    word = fresh("Doppel")
    first, second = await world.product(Goods(name=word)), await world.product(Goods(name=word))
    found = await world.backend.find_products(word, limit=10)
    assert not found.decided
    assert {first.sku, second.sku} <= {hit.record.sku for hit in found.hits}
    assert found.total_count >= 2


@needs("find_products")
async def test_nothing_found_is_an_empty_answer(world: World) -> None:
    found = await world.backend.find_products("qqxxqqzz99881")
    assert (found.hits, found.total_count, found.decided) == ((), 0, False)


@needs("find_products")
async def test_pages_of_hits_do_not_overlap_and_count_all(world: World) -> None:
    word = fresh("Seite")
    made = {(await world.product(Goods(name=word))).sku for _ in range(3)}
    pages = [await world.backend.find_products(word, limit=2, offset=offset) for offset in (0, 2)]
    shown = [hit.record.sku for page in pages for hit in page.hits]
    assert len(shown) == len(set(shown))
    assert made <= set(shown)
    assert pages[0].total_count == pages[1].total_count >= 3


@needs("find_products", "get_stock")
async def test_only_what_is_available_is_found_in_stock(world: World) -> None:
    word = fresh("Vorrat")
    there = await world.product(Goods(name=word, stock={"main": Decimal(5)}))
    await world.product(Goods(name=word))
    found = await world.backend.find_products(word, in_stock=True)
    assert [hit.record.sku for hit in found.hits] == [there.sku]


@needs("get_products")
async def test_exact_codes_are_looked_up_together_and_unknown_ones_are_left_out(world: World) -> None:
    first, second = await world.product(), await world.product()
    found = await world.backend.get_products([first.sku, second.sku, "NONE-0"])
    assert set(found) == {first.sku, second.sku}


@needs("get_products")
async def test_a_product_has_its_units_with_the_base_unit_first(world: World) -> None:
    product = await world.product()
    assert product.base.factor == 1
    assert {unit.name: unit.factor for unit in product.units} == {"个": 1, "箱": 24}


@needs("find_customers")
async def test_an_id_of_a_customer_decides(world: World) -> None:
    customer = await world.customer()
    found = await world.backend.find_customers(customer.id)
    assert found.decided
    assert found.hits[0].record.id == customer.id


@needs("find_customers")
async def test_a_customer_is_found_by_name(world: World) -> None:
    name = fresh("Kundenname")
    customer = await world.customer(name=name)
    found = await world.backend.find_customers(name)
    assert found.hits[0].record.id == customer.id
    assert found.decided


@needs("find_customers")
async def test_two_customers_whose_names_fit_as_well_are_not_decided(world: World) -> None:
    word = fresh("Zwilling")
    first, second = await world.customer(name=f"{word} Nord"), await world.customer(name=f"{word} Sued")
    found = await world.backend.find_customers(word)
    assert not found.decided
    assert {first.id, second.id} <= {hit.record.id for hit in found.hits}


@needs("find_customers")
async def test_no_customer_is_an_empty_answer(world: World) -> None:
    found = await world.backend.find_customers("qqxxqqzz99882")
    assert (found.total_count, found.decided) == (0, False)


@needs("find_customers", "find_suppliers")
async def test_a_supplier_is_not_found_among_the_customers(world: World) -> None:
    supplier = await world.supplier()
    assert (await world.backend.find_suppliers(supplier.id)).hits[0].record.id == supplier.id
    among = await world.backend.find_customers(supplier.id)
    assert supplier.id not in [hit.record.id for hit in among.hits]


@needs("price_lists")
async def test_the_list_of_the_customers_is_among_the_price_lists(world: World) -> None:
    lists = {each.code: each for each in await world.backend.price_lists()}
    assert lists[world.price_list].currency == world.currency


@needs("warehouses")
async def test_both_warehouses_are_known(world: World) -> None:
    codes = [each.code for each in await world.backend.warehouses()]
    assert {world.main, world.second} <= set(codes)
