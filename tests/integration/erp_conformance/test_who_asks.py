"""Who asks, what the ERP can do, and what the person may."""

from __future__ import annotations

from contextlib import suppress

import pytest

from erpilot.shop.backend import READS, VERBS, Capability
from erpilot.shop.errors import Denied, Invalid, NotFound, Refused, Unsupported
from erpilot.shop.rights import RIGHTS, Role
from tests.support.erp_samples import SAMPLES
from tests.support.erp_world import World, needs, refused

RIGHT_OF: dict[Capability, str] = {
    "create_quotation": "sell",
    "update_draft": "sell",
    "confirm_quotation": "sell",
    "create_order": "sell",
    "cancel_order": "sell",
    "deliver_order": "stock",
    "return_order": "stock",
    "create_customer": "sell",
    "adjust_stock": "stock",
    "transfer_stock": "stock",
    "create_purchase": "buy",
    "record_payment": "money",
    "refund": "money",
    "set_prices": "prices",
    "import_products": "catalogue",
    "import_customers": "catalogue",
    "get_account": "see_money",
    "list_receivables": "see_money",
    "list_payables": "see_money",
    "statement": "see_money",
    "sales": "see_reports",
    "margin": "see_reports",
    "quiet_customers": "see_reports",
    "history": "see_history",
    "plan_prices": "prices",
    "supplier_offers": "see_cost",
}


async def test_the_person_the_company_and_the_rights_are_told(world: World) -> None:
    me = await world.backend.whoami()
    assert me.user
    assert me.backend
    assert me.company.currency
    assert me.company.zone
    assert me.rights == frozenset(RIGHTS)


async def test_the_time_of_the_shop_has_a_zone(world: World) -> None:
    now = world.backend.now()
    assert now.tzinfo is not None
    assert now.utcoffset() is not None


async def test_capabilities_are_names_of_verbs(world: World) -> None:
    me = await world.backend.whoami()
    assert me.capabilities <= {*VERBS, *READS}
    assert {"find_products", "get_stock", "get_prices", "find_customers", "list_orders", "get_order"} <= me.capabilities


@pytest.mark.parametrize("capability", sorted(SAMPLES))
async def test_a_verb_is_offered_or_refused_in_the_one_documented_way(world: World, capability: Capability) -> None:
    me = await world.backend.whoami()
    if capability not in me.capabilities:
        await refused(world.backend, capability)
        return
    # The sample names nothing that exists, so an offered verb answers, or refuses as a shop does.
    with suppress(NotFound, Invalid, Refused):
        await SAMPLES[capability](world.backend)


@pytest.mark.parametrize(("capability", "right"), sorted(RIGHT_OF.items()))
async def test_without_the_right_a_verb_names_it_and_says_no_more(
    world: World, capability: Capability, right: str
) -> None:
    nobody = world.person()
    if capability not in (await nobody.whoami()).capabilities:
        with pytest.raises(Unsupported):
            await SAMPLES[capability](nobody)
        return
    with pytest.raises(Denied) as caught:
        await SAMPLES[capability](nobody)
    assert caught.value.right == right
    assert right in caught.value.message
    assert "NONE" not in caught.value.message


@pytest.mark.parametrize("role", ["clerk", "warehouse", "buyer", "money"])
async def test_no_role_but_the_owner_and_the_manager_may_sell_past_the_limits(world: World, role: Role) -> None:
    rights = (await world.person(role).whoami()).rights
    assert not rights & {"discount_over", "credit_over", "prices"}


@needs("find_products")
async def test_what_something_costs_is_only_seen_by_who_may(world: World) -> None:
    product = await world.product()
    hidden = (await world.person("clerk").find_products(product.sku)).hits[0].record
    assert hidden.cost is None
    assert (await world.person("clerk").get_products([product.sku]))[product.sku].cost is None


@needs("find_customers")
async def test_how_to_reach_a_customer_is_only_seen_by_who_may(world: World) -> None:
    customer = await world.customer()
    assert (await world.person().find_customers(customer.id)).hits[0].record.contact is None
