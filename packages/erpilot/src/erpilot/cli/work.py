"""Puts a run together: the chosen model, the shop, the profile's tools, the loop over the sessions of this home.

Invariant: what was opened is closed, whatever happens in between.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agent_core.config import LoopConfig
from agent_core.events import Frozen
from agent_core.loop import AgentLoop
from agent_core.store.base import EventStore
from agent_core.trace.transcript import AnyItem, Opened
from erpilot.profiles import DEFAULT, PROFILES, Profile
from erpilot.shop.embedded.shop import EmbeddedShop

from .desk import Desk
from .models import Choice, choose, client_of
from .problems import USAGE, Problem

_WEEKDAYS = (
    "Monday 周一",
    "Tuesday 周二",
    "Wednesday 周三",
    "Thursday 周四",
    "Friday 周五",
    "Saturday 周六",
    "Sunday 周日",
)


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything a run needs."""

    loop: AgentLoop
    store: EventStore
    choice: Choice
    profile: Profile
    shop: EmbeddedShop

    def today(self) -> tuple[Frozen, ...]:
        """The shop's day, to be frozen into a message."""
        now = self.shop.now()
        zone = self.shop.company.zone
        return (Frozen(kind="today", text=f"{now:%Y-%m-%d}, {_WEEKDAYS[now.weekday()]}, {zone}"),)


@asynccontextmanager
async def open_bench(
    desk: Desk, store: EventStore, *, model: str | None, profile: str, approve_writes: bool
) -> AsyncIterator[Bench]:
    """The loop over ``store`` for one command; says on stderr what a person should know about the model."""
    chosen = profile_named(profile)
    choice = choose(model, desk.settings, desk.environment)
    tell_about(desk, choice)
    sentence = desk.texts(choice.problem[1], **choice.problem[2]) if choice.problem else ""
    shop = open_embedded_shop(desk)
    try:
        client = client_of(choice, sentence)
        config = LoopConfig(system_prompt=chosen.system_prompt, auto_approve=("WRITE",) if approve_writes else ())
        loop = AgentLoop(model=client, tools=chosen.tools(shop), store=store, config=config, price=choice.price)
        try:
            yield Bench(loop, store, choice, chosen, shop)
        finally:
            await loop.aclose()
    finally:
        shop.close()


def open_embedded_shop(desk: Desk) -> EmbeddedShop:
    """The built-in shop, made on first use."""
    from erpilot.shop.open import open_shop

    if not (desk.home / "shop.db").exists():
        desk.terminal.note(desk.texts("shop_first_use"), "quiet")
    return open_shop(desk.home, today=desk.settings.today)


def profile_named(name: str) -> Profile:
    """A profile by its name."""
    if name not in PROFILES:
        raise Problem(USAGE, "no_such_profile", profile=name, known=", ".join(PROFILES))
    return PROFILES[name]


def profile_of(items: list[AnyItem]) -> str:
    """The profile that a session was begun with."""
    return next((item.profile for item in items if isinstance(item, Opened) and item.profile), DEFAULT)


def tell_about(desk: Desk, choice: Choice) -> None:
    """What is to be known before an answer is believed."""
    if choice.offline:
        if (
            desk.environment.get("OPENAI_BASE_URL", "").strip()
            and not desk.environment.get("ERPILOT_MODEL", "").strip()
        ):
            desk.terminal.note(desk.texts("base_url_unused"), "wait")
        desk.terminal.note(desk.texts("offline_notice"), "wait")
