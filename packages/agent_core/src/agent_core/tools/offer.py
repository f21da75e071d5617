"""The tools that an agent offers, checked against the rules of its configuration.

Invariant: a rule is about a tool that there is and about what that tool can tell; tools that together would let private
data out are refused before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..config import LoopConfig
from ..permission import leaks
from .output import READ_OUTPUT
from .registry import Registry
from .tool import Tool


def offered(tools: tuple[Tool, ...], known: Iterable[Tool], findable: tuple[Tool, ...], config: LoopConfig) -> Registry:
    """The registry of an agent; see ``AgentLoop`` for the three kinds. Raises ``ValueError`` in one sentence."""
    offers = (*tools, READ_OUTPUT) if tools and config.read_output else tools
    registry = Registry(offers, known, findable)
    for rule in config.rules:
        if not set("*?[") & set(rule.tool) and not registry.knows(rule.tool):
            raise ValueError(f"the rule to {rule.effect} {rule.tool!r} names no tool")
        if rule.target is not None and not registry.tells_target(rule.tool):
            raise ValueError(f"the rule to {rule.effect} {rule.tool!r} is about targets, which that tool does not tell")
    if (reason := leaks(registry.rules, config.rules, private_data=config.private_data)) is not None:
        raise ValueError(reason)
    return registry
