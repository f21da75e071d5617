"""Results of reads: kept for whom they were read, until something touches them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.tools.cache import ResultCache

KEY = ("tenant", "boss", "shop", "read_stock", "digest")


def cache(**settings: Any) -> ResultCache:
    return ResultCache(**{"seconds": 30.0, "clock": lambda: 0.0, **settings})


def kept(store: ResultCache, key: Any = KEY) -> str | None:
    entry = store.get(key)
    return None if entry is None else entry.content


@pytest.mark.parametrize(
    "other",
    [
        ("other tenant", *KEY[1:]),
        (None, *KEY[1:]),
        (KEY[0], "staff", *KEY[2:]),
        (*KEY[:2], "other shop", *KEY[3:]),
        (*KEY[:3], "read_price", KEY[4]),
        (*KEY[:4], "other arguments"),
    ],
)
def test_nobody_else_and_no_other_call_gets_a_result(other: Any) -> None:
    store = cache()
    store.put(KEY, "seven", ["shop:stock"], generation=0)
    assert kept(store) == "seven"
    assert kept(store, other) is None


def test_a_result_grows_old() -> None:
    now = [0.0]
    store = ResultCache(seconds=30.0, clock=lambda: now[0])
    store.put(KEY, "seven", None, generation=0)
    now[0] = 29.9
    assert kept(store) == "seven"
    now[0] = 30.0
    assert kept(store) is None
    off = cache(seconds=0.0)
    off.put(KEY, "seven", None, generation=0)
    assert kept(off) is None


def test_a_read_that_began_before_a_write_is_not_kept() -> None:
    store = cache()
    began = store.generation
    store.written("shop", ["shop:stock"])
    store.put(KEY, "old", ["shop:stock"], generation=began)
    assert kept(store) is None
    during = store.generation
    store.put(KEY, "read while it was written", ["shop:stock"], generation=during)
    store.written("shop", ["shop:stock"])
    assert kept(store) is None
    store.put(KEY, "new", ["shop:stock"], generation=store.generation)
    assert kept(store) == "new"


_records = st.none() | st.frozensets(st.sampled_from(["shop:a", "shop:b", "shop:c"]), max_size=3)


@given(_records, _records, st.booleans())
def test_a_write_drops_what_it_touches_and_whatever_it_may_touch(reads: Any, writes: Any, elsewhere: bool) -> None:
    store = cache()
    store.put(KEY, "seven", reads, generation=0)
    store.written("other" if elsewhere else "shop", writes)
    touched = not elsewhere and (reads is None or writes is None or bool(reads & writes))
    assert (kept(store) is None) == touched


def test_the_least_used_go_first() -> None:
    store = cache(size=2)
    for name in ("a", "b"):
        store.put((*KEY[:4], name), name, None, generation=0)
    assert kept(store, (*KEY[:4], "a")) == "a"
    store.put((*KEY[:4], "c"), "c", None, generation=0)
    assert [kept(store, (*KEY[:4], name)) for name in "abc"] == ["a", None, "c"]
