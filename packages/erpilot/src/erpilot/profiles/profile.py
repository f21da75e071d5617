"""The value that describes what an assistant is set up for.

Invariant: of all the tools that a profile has, a model is told of a few; the others are found by a search and called
under their own names and rules, so that the list that goes with each request stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_core.tools.tool import Tool
    from erpilot.shop.backend import ErpBackend


@dataclass(frozen=True, slots=True)
class Profile:
    """``tools`` makes all tools for the shop that they work on; ``offers``: names of those a model is told of at once,
    none: all.
    """

    name: str
    system_prompt: str
    tools: Callable[[ErpBackend], list[Tool]]
    offers: tuple[str, ...] = ()


def told_and_found(profile: Profile, tools: Sequence[Tool]) -> tuple[list[Tool], list[Tool]]:
    """The tools that a model is told of, with the search for the others; and those others. ``tools``: all there are,
    also such as do not come from the profile."""
    found = [tool for tool in tools if profile.offers and tool.name not in profile.offers]
    if not found:
        return list(tools), []
    from agent_core.tools.finding import finders
    from erpilot.toolsets import found_by

    told = [tool for tool in tools if tool.name in profile.offers]
    return [*told, *finders(found, found_by())], found
