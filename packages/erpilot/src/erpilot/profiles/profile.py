"""The value that describes what an assistant is set up for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_core.tools.tool import Tool
    from erpilot.shop.backend import ErpBackend


@dataclass(frozen=True, slots=True)
class Profile:
    """``tools`` makes the tools for the shop that they work on."""

    name: str
    system_prompt: str
    tools: Callable[[ErpBackend], list[Tool]]
