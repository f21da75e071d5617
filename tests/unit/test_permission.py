"""Rules, tiers and suspicion: who may call what unasked (A3, J3)."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.config import LoopConfig, Rule, ToolRules
from agent_core.errors import ToolError
from agent_core.loop import AgentLoop
from agent_core.permission import leaks, standing
from agent_core.testing import ScriptedModel
from agent_core.tools.tool import Tier, Tool, tool

SCOPES = ("user", "project", "session")
EFFECTS = ("deny", "ask", "allow")
READ, WRITE, DANGEROUS = ToolRules(), ToolRules("WRITE"), ToolRules("DANGEROUS")
SENDING = ToolRules("WRITE", egress=True)
FETCHING = ToolRules("READ", egress=True, untrusted=True)
TOOL, TARGET = "update_price", "product:5"

_rule = st.builds(
    Rule,
    effect=st.sampled_from(EFFECTS),
    tool=st.sampled_from([TOOL, "update_*", "*", "delete_order", "update_pric?"]),
    target=st.sampled_from([None, TARGET, "product:*", "*", "customer:1", "PRODUCT:5"]),
    scope=st.sampled_from(SCOPES),
)
_rules = st.lists(_rule, max_size=8).map(tuple)


def decision(rules: tuple[Rule, ...], known: ToolRules, target: str | None = TARGET, *, read: bool = False) -> str:
    return standing(rules, TOOL, known, target, untrusted_read=read).decision


def about(rule: Rule, target: str | None) -> bool:
    """Whether a rule is about a call of the tool: written out, so that it is another way to say it."""
    names_tool = rule.tool in (TOOL, "update_*", "*", "update_pric?")
    if rule.target is None:
        return names_tool
    if target is None:
        return False
    exact = rule.target in (TARGET, "product:*", "*")
    return names_tool and (exact or (rule.target == "PRODUCT:5" and rule.effect != "allow"))


@given(_rules, st.sampled_from([READ, WRITE, DANGEROUS, SENDING, FETCHING]), st.booleans())
def test_deny_beats_ask_beats_allow_whatever_the_order_and_the_scope(
    rules: tuple[Rule, ...], known: ToolRules, read: bool
) -> None:
    effects = {rule.effect for rule in rules if about(rule, TARGET)}
    found = decision(rules, known, read=read)
    if "deny" in effects:
        assert found == "deny"
    elif "ask" in effects or known.tier == "DANGEROUS":
        assert found == "ask"
    elif not (known.egress and read):
        assert found == ("run" if known.tier == "READ" or "allow" in effects else "ask")


@given(_rules, st.sampled_from([READ, WRITE, DANGEROUS, SENDING]), st.randoms(), st.booleans())
def test_neither_the_order_of_the_rules_nor_their_scopes_change_a_verdict(
    rules: tuple[Rule, ...], known: ToolRules, chance: Any, read: bool
) -> None:
    shuffled = list(rules)
    chance.shuffle(shuffled)
    moved = tuple(msgspec.structs.replace(rule, scope=chance.choice(SCOPES)) for rule in shuffled)
    assert decision(rules, known, read=read) == decision(moved, known, read=read)


@given(_rules, _rule, st.sampled_from([READ, WRITE, DANGEROUS, SENDING, FETCHING]), st.booleans())
def test_one_more_rule_that_denies_or_asks_never_lets_more_through(
    rules: tuple[Rule, ...], rule: Rule, known: ToolRules, read: bool
) -> None:
    careful = {"run": 0, "ask": 1, "deny": 2}
    more = (*rules, msgspec.structs.replace(rule, effect="ask" if rule.effect == "allow" else rule.effect))
    assert careful[decision(more, known, read=read)] >= careful[decision(rules, known, read=read)]


@pytest.mark.parametrize("order", list(itertools.permutations(zip(EFFECTS, SCOPES, strict=True))))
def test_the_three_rules_in_every_order_deny(order: Any) -> None:
    rules = tuple(Rule(effect=effect, tool=TOOL, scope=scope) for effect, scope in order)
    for known in (READ, WRITE, DANGEROUS):
        assert decision(rules, known) == "deny"


@pytest.mark.parametrize("scope", SCOPES)
def test_a_dangerous_call_is_asked_whatever_allows_it(scope: Any) -> None:
    rules = tuple(
        Rule(effect="allow", tool=name, target=target, scope=scope)
        for name in (TOOL, "*")
        for target in (None, TARGET, "*")
    )
    assert decision(rules, DANGEROUS) == "ask"
    assert decision(rules, ToolRules("DANGEROUS", egress=True), read=True) == "ask"


@pytest.mark.parametrize("written", ["product:5", "Product:5", "PRODUCT:5", " product:5", "ｐroduct:5"])
def test_another_spelling_of_a_target_does_not_slip_past_a_rule_that_forbids_it(written: str) -> None:
    for effect, found in (("deny", "deny"), ("ask", "ask")):
        rule = Rule(effect=effect, tool=TOOL, target="product:5")  # type: ignore[arg-type]
        assert decision((rule, Rule(effect="allow", tool=TOOL)), WRITE, written) == found
    exact = Rule(effect="allow", tool=TOOL, target="product:5")
    assert decision((exact,), WRITE, written) == ("run" if written == "product:5" else "ask")


def test_a_write_that_does_not_say_what_it_is_about_is_asked_where_some_targets_are_forbidden() -> None:
    rules = (Rule(effect="deny", tool=TOOL, target="product:5"), Rule(effect="allow", tool=TOOL))
    assert decision(rules, WRITE, None) == "ask"
    assert decision(rules, WRITE, "product:6") == "run"
    assert decision(rules, READ, None) == "run", "a read that names no target is not what the rule is about"


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (None, "ask"),
        ("*", "ask"),
        ("?*", "ask"),
        ("**", "ask"),
        ("*.*", "ask"),
        ("[!x]*", "ask"),
        ("[a-z]*", "ask"),
        ("*://*", "ask"),
        ("", "ask"),
        ("api.example.com/*", "run"),
        ("api.example.com/v1/items", "run"),
        ("other.example.com/*", "ask"),
    ],
)
def test_once_untrusted_text_was_read_only_a_rule_that_names_the_target_lets_text_out(
    pattern: str | None, found: str
) -> None:
    target = "api.example.com/v1/items"
    rules = (Rule(effect="allow", tool=TOOL, target=pattern),)
    for known in (SENDING, FETCHING):
        verdict = standing(rules, TOOL, known, target, untrusted_read=True)
        assert verdict.decision == found
        assert found == "run" or verdict.why == "egress"
    assert decision((), FETCHING, read=False) == "run", "before, a read that sends is a read"


@pytest.mark.parametrize(
    "broken",
    [
        {"effect": "alow"},
        {"effect": "ALLOW"},
        {"effect": ""},
        {"effect": "grant"},
        {"effect": None},
        {"effect": "allow", "scope": "planet"},
        {"effect": "allow", "scope": ""},
    ],
    ids=str,
)
def test_a_rule_that_says_something_unknown_is_refused_wherever_it_comes_from(broken: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="one of"):
        Rule(tool="*", **broken)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode({"tool": "*", **broken}), type=Rule)


@pytest.mark.parametrize("unknown", [{"efect": "deny"}, {"effect": "deny", "tools": "*"}, {"effect": "deny"}])
def test_a_rule_with_a_misspelled_field_or_without_a_tool_is_refused(unknown: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode(unknown), type=Rule)


@pytest.mark.parametrize("tier", ["write", "ADMIN", "", "READ ", None, 1])
def test_a_tool_of_an_unknown_tier_cannot_be_made(tier: Any) -> None:
    async def handler() -> str:
        return "never"

    with pytest.raises(ValueError):
        Tool.from_schema("probe", "A probe.", {}, handler, tier=tier)

    def described() -> str:
        """Probes."""
        return "never"

    with pytest.raises(ValueError):
        tool(tier=tier)(described)


def test_a_tier_given_as_text_is_the_tier() -> None:
    @tool(tier="WRITE")  # type: ignore[call-overload, untyped-decorator]
    def change() -> str:
        """Changes."""
        return "changed"

    assert change.tier is Tier.WRITE
    assert not change.repeatable


def test_an_unknown_tier_in_a_recorded_environment_is_no_grant() -> None:
    strange = ToolRules("OPEN")  # type: ignore[arg-type]
    assert standing((), TOOL, strange, None, untrusted_read=False).decision == "ask"
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"tier":"OPEN"}', type=ToolRules)


def test_a_tool_cannot_fail_with_an_error_of_an_unknown_type() -> None:
    with pytest.raises(ValueError, match="no type"):
        ToolError("oh", type="weird")  # type: ignore[arg-type]


# --- what an agent refuses to start with


@tool
async def read_mail() -> str:
    """Reads what others wrote."""
    return "text"


MAIL = Tool.from_schema("read_mail", "Mail.", {}, read_mail.handler, untrusted=True)
SEND = Tool.from_schema("send_mail", "Sends.", {}, read_mail.handler, tier=Tier.WRITE, egress=True)
FETCH = Tool.from_schema("fetch_url", "Fetches.", {}, read_mail.handler, egress=True, untrusted=True)
STOCK = Tool.from_schema("read_stock", "Stock.", {}, read_mail.handler)


def agent(*tools: Tool, rules: tuple[Rule, ...] = (), **settings: Any) -> AgentLoop:
    return AgentLoop(model=ScriptedModel(), tools=tools, config=LoopConfig(rules=rules, **settings))


def test_a_rule_that_names_no_tool_is_refused_with_the_name() -> None:
    for effect in EFFECTS:
        with pytest.raises(ValueError, match="read_stok"):
            agent(STOCK, rules=(Rule(effect=effect, tool="read_stok"),))  # type: ignore[arg-type]
        with pytest.raises(ValueError):
            agent(STOCK, rules=(Rule(effect=effect, tool=""),))  # type: ignore[arg-type]
    agent(STOCK, rules=(Rule(effect="deny", tool="mcp_*"), Rule(effect="ask", tool="read_stock")))


def test_a_rule_about_targets_of_a_tool_that_tells_none_is_refused_since_it_would_never_hold() -> None:
    with pytest.raises(ValueError, match="targets"):
        agent(STOCK, rules=(Rule(effect="deny", tool="read_stock", target="product:5"),))
    agent(STOCK, rules=(Rule(effect="deny", tool="*", target="product:5"),))


@pytest.mark.parametrize("pattern", [None, "*", "?*", "*.*", "[!a]*"])
@pytest.mark.parametrize("named", ["send_mail", "send_*", "*"])
def test_private_data_untrusted_text_and_unasked_sending_do_not_start_together(named: str, pattern: str | None) -> None:
    sending = Tool.from_schema(
        "send_mail", "Sends.", {}, read_mail.handler, tier=Tier.WRITE, egress=True, target=lambda: "x"
    )
    rule = Rule(effect="allow", tool=named, target=pattern)
    for tools in ((STOCK, MAIL, sending), (STOCK, FETCH, sending)):
        with pytest.raises(ValueError, match="send_mail"):
            agent(*tools, rules=(rule,))
        agent(*tools, rules=(rule,), private_data=False)
        agent(*tools)
        agent(*tools, rules=(Rule(effect="allow", tool="send_mail", target="boss@example.com"),))
    agent(STOCK, sending, rules=(rule,))


def test_one_tool_that_fetches_anything_unasked_is_enough() -> None:
    fetching = {"fetch_url": ToolRules("READ", egress=True, untrusted=True)}
    rules = (Rule(effect="allow", tool="fetch_*"),)
    assert "fetch_url" in (leaks(fetching, rules, private_data=True) or "")
    assert leaks(fetching, (), private_data=True) is None
    assert leaks(fetching, rules, private_data=False) is None


@pytest.mark.parametrize(
    "tools",
    [
        [Tool.from_schema("lo\u200bok", "x", {}, read_mail.handler)],
        [Tool.from_schema("look", "x", {"properties": {"na\u202eme": {"type": "string"}}}, read_mail.handler)],
        [STOCK, STOCK],
    ],
    ids=["name", "argument", "twice"],
)
def test_names_that_cannot_be_told_apart_are_refused(tools: list[Tool]) -> None:
    with pytest.raises(ValueError):
        agent(*tools)
