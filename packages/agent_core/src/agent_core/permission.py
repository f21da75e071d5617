"""Whether a call may run: rules, tiers, standing grants and the suspicion that untrusted text raises.

Invariant: pure. Deny beats ask beats grant, whatever scope each comes from; a DANGEROUS call is asked every time; a
grant covers what the person saw when giving it (tool, target, arguments, limits, until then) and nothing wider. Where
it cannot be told whether something holds, the careful answer is taken.
"""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import msgspec
from msgspec import Struct

from . import events as ev
from .config import Rule, ToolRules
from .state import State

Why = Literal["tier", "rule", "egress", "changed"]
_SETS = re.compile(r"\[[^\]]*\]")
"""Sets of characters in a pattern."""


class Verdict(Struct, frozen=True):
    """``run`` at once, ``ask`` a person (``why``), or ``deny`` with what the model is told."""

    decision: Literal["run", "ask", "deny"]
    why: Why = "tier"
    rule: Rule | None = None


def standing(
    rules: tuple[Rule, ...], tool: str, tool_rules: ToolRules, target: str | None, *, untrusted_read: bool
) -> Verdict:
    """What rules and tiers alone say of a call; a grant may still turn an ``ask`` for the tier into a run."""
    about = [rule for rule in rules if _matches_tool(rule, tool)]
    denied = next((rule for rule in about if rule.effect == "deny" and _may_match(rule, target)), None)
    if denied is not None:
        return Verdict("deny", "rule", denied)
    asked = next((rule for rule in about if _asks(rule, target, tool_rules)), None)
    if asked is not None:
        return Verdict("ask", "rule", asked)
    allowing = [rule for rule in about if rule.effect == "allow" and _matches_target(rule, target)]
    allowed = next(iter(sorted(allowing, key=_names_targets, reverse=True)), None)  # in any order of the rules
    if tool_rules.egress and untrusted_read and not (allowed is not None and _names_targets(allowed)):
        return Verdict("ask", "egress")
    if tool_rules.tier == "READ":
        return Verdict("run")
    if allowed is not None and tool_rules.tier == "WRITE":
        return Verdict("run", "rule", allowed)
    return Verdict("ask", "tier")


def covering_grant(
    state: State,
    tool: str,
    tool_rules: ToolRules,
    target: str | None,
    arguments: dict[str, Any],
    varies: tuple[str, ...],
    measures: dict[str, Decimal],
    now: float,
) -> ev.TrustGranted | None:
    """The standing grant that covers exactly this call, if there is one: no argument but those in ``varies`` has
    another value than it had then, or was not there. Never for DANGEROUS."""
    if tool_rules.tier != "WRITE":
        return None
    for grant in state.grants.values():
        if grant.tool != tool or grant.target != target or (grant.expires is not None and now >= grant.expires):
            continue
        same, most = grant.limits.get("same", {}), grant.limits.get("max", {})
        if arguments_differ(same, arguments) or not set(arguments) - set(same) <= set(varies):
            continue
        if set(measures) == set(most) and all(_within(measures[name], most[name]) for name in measures):
            return grant
    return None


def offer(
    tool: str, target: str | None, arguments: dict[str, Any], varies: tuple[str, ...], measures: dict[str, Decimal]
) -> ev.Offer:
    """What saying "always" to a question would cover: this tool and target, these fixed arguments, up to these amounts,
    for the rest of the day."""
    same = {name: value for name, value in arguments.items() if name not in varies}
    most = {name: str(value) for name, value in measures.items()}
    words = [f"always {tool}"]
    if target is not None:
        words.append(f"for {target}")
    if most:
        words.append("up to " + ", ".join(f"{name} {value}" for name, value in most.items()))
    if not varies:
        words.append("with exactly these arguments")
    return ev.Offer(" ".join([*words, "for 24 hours"]), target, {"same": same, "max": most}, 86_400.0)


def arguments_differ(same: dict[str, Any], arguments: dict[str, Any]) -> bool:
    """Whether one of the arguments that a grant fixes has another value: another text, also where Python takes both
    for equal (1 and true)."""
    return any(name not in arguments or _json(arguments[name]) != _json(value) for name, value in same.items())


def leaks(tools: Mapping[str, ToolRules], rules: tuple[Rule, ...], *, private_data: bool) -> str | None:
    """Why a set of tools must not be used together, or None.

    Private data, text by outsiders, and a tool that sends text out unasked are together a way for outsiders to fetch
    that data. A tool with egress asks once such text was read, unless a rule allows it for targets that it does not
    name.
    """
    if not private_data or not any(known.untrusted for known in tools.values()):
        return None
    open_doors = sorted(
        name
        for name, known in tools.items()
        if known.egress
        and any(rule.effect == "allow" and _matches_tool(rule, name) and not _names_targets(rule) for rule in rules)
    )
    if not open_doors:
        return None
    return (
        f"{', '.join(open_doors)} could send private data out unasked after text by outsiders was read. "
        "Name the targets in the rule that allows it, let it ask, or leave one of the three out."
    )


def parse_arguments(canonical: str) -> dict[str, Any]:
    """Canonical arguments as plain values."""
    value = msgspec.json.decode(canonical)
    return value if isinstance(value, dict) else {}


def _matches_tool(rule: Rule, tool: str) -> bool:
    return fnmatch.fnmatchcase(tool, rule.tool)


def _names_targets(rule: Rule) -> bool:
    """Whether the rule holds for certain targets only, not for any that a model could think of: a pattern without a
    letter or digit of its own names nothing."""
    return rule.target is not None and any(map(str.isalnum, _SETS.sub("", rule.target)))


def _matches_target(rule: Rule, target: str | None) -> bool:
    return rule.target is None or (target is not None and fnmatch.fnmatchcase(target, rule.target))


def _may_match(rule: Rule, target: str | None) -> bool:
    """Whether a rule that forbids or asks holds: also where the target is only written differently (case, width)."""
    return _matches_target(rule, target) or (
        rule.target is not None and target is not None and fnmatch.fnmatchcase(_plain(target), _plain(rule.target))
    )


def _asks(rule: Rule, target: str | None, tool_rules: ToolRules) -> bool:
    """Whether the rule asks for a call: as one that asks, or as one that forbids targets where a call that can change
    something does not say what it is about."""
    if rule.effect == "allow":
        return False
    unknown = target is None and rule.target is not None and tool_rules.tier != "READ"
    return unknown or (rule.effect == "ask" and _may_match(rule, target))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()


def _within(measure: Decimal, most: Any) -> bool:
    """Whether an amount stays within a limit. An amount below zero goes the other way, so no limit was meant for it."""
    try:
        limit = Decimal(str(most))
    except InvalidOperation:
        return False
    return measure.is_finite() and limit.is_finite() and 0 <= measure <= limit


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted")
