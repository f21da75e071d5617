"""A standing grant covers what the person saw when giving it, and nothing wider (J2, A3)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent_core import events as ev
from agent_core.commands import decision, revocation
from agent_core.config import ToolRules
from agent_core.errors import Refused
from agent_core.permission import covering_grant, offer
from agent_core.state import State
from tests.support.logs import answer, asked, begun, call, decided, folded

NOW = 1_760_000_000.0
WRITE, DANGEROUS, READ = ToolRules("WRITE"), ToolRules("DANGEROUS"), ToolRules()
VARIES = ("price",)
SEEN: dict[str, Any] = {"sku": "A1", "price": "12.50", "customer": "C-7", "notify": False, "lines": [1, 2]}
MEASURES = {"price": Decimal("12.50"), "percent": Decimal(5)}

_json = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


def granted(
    arguments: dict[str, Any] = SEEN, measures: dict[str, Decimal] = MEASURES, varies: tuple[str, ...] = VARIES
) -> State:
    """A session in which somebody said "always" to a call."""
    offered = offer("update_price", "product:A1", arguments, varies, measures)
    limits = msgspec.json.decode(msgspec.json.encode(offered.limits))
    grant = ev.TrustGranted(
        grant_id="g", tool="update_price", by="boss", target=offered.target, limits=limits, expires=NOW + 60
    )
    return State(session_id="s", grants={"g": grant})


def covered(
    state: State,
    arguments: dict[str, Any] = SEEN,
    measures: dict[str, Decimal] = MEASURES,
    *,
    tool: str = "update_price",
    rules: ToolRules = WRITE,
    target: str | None = "product:A1",
    varies: tuple[str, ...] = VARIES,
    now: float = NOW,
) -> bool:
    return covering_grant(state, tool, rules, target, arguments, varies, measures, now) is not None


def test_the_very_call_that_was_granted_is_covered_and_so_is_less() -> None:
    state = granted()
    assert covered(state)
    assert covered(state, {**SEEN, "price": "9.99"}, {"price": Decimal("9.99"), "percent": Decimal(0)})


@pytest.mark.parametrize(
    "change",
    [
        {"arguments": {**SEEN, "sku": "A2"}},
        {"arguments": {**SEEN, "customer": "C-8"}},
        {"arguments": {**SEEN, "notify": True}},
        {"arguments": {**SEEN, "notify": 0}},
        {"arguments": {**SEEN, "lines": [2, 1]}},
        {"arguments": {**SEEN, "lines": [1, 2, 3]}},
        {"arguments": {**SEEN, "lines": [1, True]}},
        {"arguments": {**SEEN, "sku": "A1 "}},
        {"arguments": {**SEEN, "recipient": "mallory@example.com"}},
        {"arguments": {key: SEEN[key] for key in SEEN if key != "customer"}},
        {"arguments": {}},
        {"measures": {**MEASURES, "price": Decimal("1250.00")}},
        {"measures": {**MEASURES, "price": Decimal("12.51")}},
        {"measures": {**MEASURES, "price": Decimal("-0.01")}},
        {"measures": {**MEASURES, "price": Decimal("NaN")}},
        {"measures": {**MEASURES, "price": Decimal("sNaN")}},
        {"measures": {**MEASURES, "price": Decimal("-Infinity")}},
        {"measures": {**MEASURES, "percent": Decimal(6)}},
        {"measures": {"price": Decimal(1)}},
        {"measures": {**MEASURES, "amount": Decimal(1)}},
        {"measures": {}},
        {"target": "product:A2"},
        {"target": "product:A1 "},
        {"target": "product:a1"},
        {"target": "product:*"},
        {"target": None},
        {"tool": "update_prices"},
        {"tool": "*"},
        {"rules": DANGEROUS},
        {"rules": READ},
        {"varies": ()},
        {"now": NOW + 60},
        {"now": NOW + 61},
    ],
    ids=str,
)
def test_anything_else_asks(change: dict[str, Any]) -> None:
    assert not covered(granted(), **change)


@given(st.dictionaries(st.sampled_from([*SEEN, "extra", "to"]), _json))
def test_no_other_set_of_arguments_is_covered_whatever_it_is(arguments: dict[str, Any]) -> None:
    fixed = {name: value for name, value in SEEN.items() if name not in VARIES}
    changed = {**SEEN, **arguments}
    same = msgspec.json.encode({name: changed.get(name) for name in fixed}) == msgspec.json.encode(fixed)
    assert covered(granted(), changed) is (same and set(changed) <= set(SEEN))


@given(st.decimals("0", "100000", places=2), st.decimals("0", "100000", places=2))
def test_a_limit_holds_to_the_last_cent(limit: Decimal, amount: Decimal) -> None:
    state = granted(measures={"total": limit})
    assert covered(state, measures={"total": amount}) is (amount <= limit)


@pytest.mark.parametrize("limit", ["", "much", None, [], {"a": 1}, "NaN", "Infinity"])
def test_a_limit_that_cannot_be_read_covers_nothing(limit: Any) -> None:
    state = granted(measures={"total": Decimal(5)})
    state.grants["g"] = msgspec.structs.replace(
        state.grants["g"], limits={**state.grants["g"].limits, "max": {"total": limit}}
    )
    assert not covered(state, measures={"total": Decimal(1)})


def test_a_tool_that_lets_more_vary_by_now_does_not_widen_what_was_granted() -> None:
    assert covered(granted(), varies=("price", "customer"))
    assert not covered(granted(), {**SEEN, "customer": "C-8"}, varies=("price", "customer"))


def test_an_argument_that_the_tool_has_got_since_is_not_covered() -> None:
    assert not covered(granted(), {**SEEN, "force": False})
    assert covered(granted(), {**SEEN, "force": False}, varies=("price", "force"))


@given(st.lists(st.sampled_from(["A1", "A2", "A3"]), max_size=4), st.sampled_from(["A1", "A2", "A3"]))
def test_of_several_grants_one_has_to_cover_the_call_alone(skus: list[str], sku: str) -> None:
    state = State(session_id="s")
    for number, one in enumerate(skus):
        grant = granted({**SEEN, "sku": one}).grants["g"]
        state.grants[str(number)] = msgspec.structs.replace(grant, target=f"product:{one}")
    assert covered(state, {**SEEN, "sku": sku}, target=f"product:{sku}") is (sku in skus)
    assume(sku != "A1")
    assert not covered(state, {**SEEN, "sku": sku}, target="product:A1")


def test_the_offer_says_in_words_what_it_covers() -> None:
    words = offer("update_price", "product:A1", SEEN, VARIES, MEASURES)
    for part in ("update_price", "product:A1", "price 12.50", "percent 5", "24 hours"):
        assert part in words.sentence
    assert "exactly these arguments" in offer("close", None, {}, (), {}).sentence
    assert words.seconds == 86_400.0


# --- in a log


def test_a_grant_ends_with_its_revocation_and_is_not_inherited_by_a_fork() -> None:
    grant = ev.TrustGranted(grant_id="g", tool="change", by="boss", origin="c1")
    log = [*begun(), answer(None, call(name="change")), asked(), decided(), grant]
    assert "g" in folded(*log).grants
    assert folded(*log, ev.TrustRevoked(grant_id="g", by="boss")).grants == {}
    fork = ev.SessionStarted(owner="boss", parent=ev.Parent("elsewhere", 6), salt="other")
    assert folded(*log, fork).grants == {}


def test_a_grant_cannot_be_revoked_twice_or_before_it_was_given() -> None:
    with pytest.raises(Refused, match="g1"):
        revocation(folded(*begun()), "g1", by="boss")


def test_a_question_about_a_dangerous_call_offers_nothing_to_say_always_to() -> None:
    state = folded(*begun(), answer(None, call(name="drop")), asked(tool="drop"))
    with pytest.raises(Refused, match="advance"):
        decision(state, "c1", approve=True, always=True, by="boss", now=0.0)
    with pytest.raises(Refused, match="advance"):
        decision(state, "c1", approve=False, always=True, by="boss", now=0.0)
