"""One digest for one JSON value, another one for every other."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.tools.canonical import canonical, digest

_numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
_values = st.recursive(
    st.none() | st.booleans() | _numbers | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def meaning(value: Any) -> Any:
    """The JSON value itself: numbers by their exact value, booleans apart from them, keys without an order."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    if isinstance(value, int | float):
        return ("number", Decimal(value))
    if isinstance(value, list):
        return ("list", tuple(meaning(item) for item in value))
    return ("dict", frozenset((key, meaning(item)) for key, item in value.items()))


def shuffled(value: Any, order: random.Random) -> Any:
    """The same value with the keys of its objects in another order."""
    if isinstance(value, dict):
        items = [(key, shuffled(item, order)) for key, item in value.items()]
        order.shuffle(items)
        return dict(items)
    return [shuffled(item, order) for item in value] if isinstance(value, list) else value


@settings(max_examples=50)
@given(_values, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(value: Any, order: random.Random) -> None:
    assert canonical(shuffled(value, order)) == canonical(value)


@settings(max_examples=50)
@given(_values, _values)
def test_two_values_have_one_text_exactly_if_they_mean_the_same(one: Any, other: Any) -> None:
    assert (canonical(one) == canonical(other)) == (meaning(one) == meaning(other))


@settings(max_examples=50)
@given(_values)
def test_the_text_is_json_and_means_the_same(value: Any) -> None:
    text = canonical(value)
    assert meaning(json.loads(text)) == meaning(value)
    assert canonical(json.loads(text)) == text


def has_large_number(value: Any) -> bool:
    """Whether a number is in there from which on not every whole number has a double."""
    if isinstance(value, dict | list):
        return any(map(has_large_number, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int | float) and abs(value) >= 2**53


@settings(max_examples=50)
@given(_values)
def test_up_to_large_numbers_the_text_is_that_of_rfc_8785(value: Any) -> None:
    if not has_large_number(value):
        assert canonical(value) == rfc8785.dumps(value).decode()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1,"b":2}', '{"b":2,"a":1}'),
        ('{"a":1.0}', '{"a":1}'),
        ('{"a":1e2}', '{"a":100}'),
        ('{"a":0.10}', '{"a":0.1}'),
        ('{"a":-0.0}', '{"a":0}'),
        ('{"a":1e22}', '{"a":10000000000000000000000}'),
        ('{"a":9007199254740992.0}', '{"a":9007199254740992}'),
        ('{"\\u0061":1}', '{"a":1}'),
        ('{ "a" : [ 1 , 2 ] }', '{"a":[1,2]}'),
    ],
)
def test_spelling_does_not_matter(one: str, other: str) -> None:
    assert canonical(json.loads(one)) == canonical(json.loads(other))
    assert digest(canonical(json.loads(one))) == digest(canonical(json.loads(other)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": "1"}),
        ({"a": 1}, {"a": True}),
        ({"a": None}, {}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": "x "}, {"a": "x"}),
        ({"a": 2**53 + 1}, {"a": 2**53 + 2}),
        ({"a": 44880805539375768}, {"a": 44880805539375770}),
        ({"a": 44880805539375768.0}, {"a": 44880805539375770}),
        ({"a": 2**53 + 1}, {"a": float(2**53)}),
        ({"a": 2**53 + 1}, {"a": str(2**53 + 1)}),
        ({"a": 2**53 + 1}, {"a": f"\x00int:{2**53 + 1}"}),
        ({"a": -(2**64)}, {"a": 2**64}),
        ({"a": "e\u0301"}, {"a": "\u00e9"}),
        ({"a": "\u212b"}, {"a": "\u00c5"}),
        ({"a": float("inf")}, {"a": "Infinity"}),
        ({"a": float("nan")}, {"a": None}),
        ({"a": float("inf")}, {"a": float("-inf")}),
    ],
)
def test_distinct_values_stay_distinct(one: Any, other: Any) -> None:
    assert canonical(one) != canonical(other)
