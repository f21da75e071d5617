"""How what is on hand of a product is shared out over the orders that are owed it, on a Tryton server."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from erpilot.shop.tryton.sharing import Owed, shared_out

DAY = date(2026, 3, 1)


def _owed(sale: int | None, days: int, quantity: int, assigned: int = 0) -> Owed:
    return Owed(sale, DAY + timedelta(days), Decimal(quantity), Decimal(assigned))


def test_the_oldest_promise_has_it_all_and_the_next_the_rest() -> None:
    assert shared_out(Decimal(10), [_owed(1, 9, 8), _owed(2, 3, 8)]) == {2: 8, 1: 2}


def test_of_two_promises_for_one_day_the_older_order_comes_first() -> None:
    assert shared_out(Decimal(10), [_owed(2, 3, 8), _owed(1, 3, 8)]) == {1: 8, 2: 2}


def test_what_the_server_has_assigned_comes_before_an_older_promise() -> None:
    assert shared_out(Decimal(10), [_owed(1, 3, 8), _owed(2, 9, 8, 6)]) == {1: 4, 2: 6}


def test_more_than_is_there_is_not_shared_out_though_it_was_assigned() -> None:
    assert shared_out(Decimal(5), [_owed(1, 3, 8, 8), _owed(2, 9, 8, 6)]) == {1: 5, 2: 0}


def test_of_less_than_nothing_nobody_has_anything() -> None:
    assert shared_out(Decimal(-3), [_owed(1, 3, 8, 8), _owed(None, 3, 2)]) == {1: 0, None: 0}


CLAIMS = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(1, 4)), st.integers(0, 5), st.integers(0, 20), st.integers(0, 20)).map(
        lambda each: _owed(each[0], each[1], each[2], min(each[2], each[3]))
    ),
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(here=st.integers(-5, 60), owed=CLAIMS)
def test_the_shares_come_to_what_is_reserved_and_nobody_has_more_than_is_owed(here: int, owed: list[Owed]) -> None:
    shares = shared_out(Decimal(here), owed)
    total = sum((each.quantity for each in owed), Decimal(0))
    assert sum(shares.values(), Decimal(0)) == min(total, max(Decimal(here), Decimal(0)))
    for sale, share in shares.items():
        assert 0 <= share <= sum((each.quantity for each in owed if each.sale == sale), Decimal(0))
