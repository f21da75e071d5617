"""Puts a run together: the chosen model, the shop, the profile's tools, the loop over the sessions of this home.

Invariant: what was opened is closed, whatever happens in between.
"""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from agent_core.config import LoopConfig
from agent_core.events import Frozen
from agent_core.loop import AgentLoop
from agent_core.state import environment_of
from agent_core.store.base import EventStore
from agent_core.trace.transcript import AnyItem, Began, Opened
from erpilot.figures import FIGURES
from erpilot.profiles import DEFAULT, PROFILES, Profile, told_and_found
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.toolsets.shop_files import with_files

from .desk import Desk
from .learnt import calibrations, context_policy, endpoint_profiles, summariser
from .logs import hide_in_logs
from .models import Choice, UnusableModel, choose, client_of, known_secrets
from .problems import USAGE, Problem
from .rules import SESSION_SOURCE, WrittenRule, as_rule, check_tools, read_project_rules, read_rules

if TYPE_CHECKING:
    from erpilot.shop.tryton.shop import TrytonShop

OpenShop: TypeAlias = "EmbeddedShop | TrytonShop"
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
    shop: OpenShop

    def today(self) -> tuple[Frozen, ...]:
        """The shop's day, to be frozen into a message."""
        return today_of(self.shop)


def today_of(shop: OpenShop) -> tuple[Frozen, ...]:
    """The shop's day, to be frozen into a message."""
    now = shop.now()
    return (Frozen(kind="today", text=f"{now:%Y-%m-%d}, {_WEEKDAYS[now.weekday()]}, {shop.company.zone}"),)


@asynccontextmanager
async def open_bench(
    desk: Desk,
    store: EventStore,
    parsed: argparse.Namespace,
    history: Sequence[AnyItem] = (),
    *,
    session: str | None = None,
    profile: str | None = None,
    system: str | None = None,
) -> AsyncIterator[Bench]:
    """The loop over ``store`` for one command; says on stderr what a person should know about the model and the rules.

    ``parsed``: the options of commands that run the model. ``history``: that of ``session``, which keeps its profile
    and its restrictions. ``system``: in the place of the profile's prompt.
    """
    chosen = profile_named(profile or profile_of(history))
    rules = [*rules_of(desk, parsed.rule), *await restrictions(store, session, history)]
    choice = choose(parsed.model, desk.settings, desk.environment)
    tell_about(desk, choice)
    sentence = desk.texts(choice.problem[1], **choice.problem[2]) if choice.problem else ""
    shop = await open_shop_of(desk)
    try:
        tools = with_files(chosen.tools(shop), shop, desk.home)
        check_tools(rules, [tool.name for tool in tools])
        told, found = told_and_found(chosen, tools)
        config = LoopConfig(
            system_prompt=chosen.system_prompt if system is None else system,
            auto_approve=("WRITE",) if parsed.approve == "write" else (),
            rules=tuple(map(as_rule, rules)),
            context=context_policy(desk.settings),
        )
        secrets = known_secrets(desk.settings, desk.environment)
        hide_in_logs(secrets)
        try:
            loop = AgentLoop(
                model=client_of(choice, sentence, endpoint_profiles(desk.home)),
                tools=told,
                findable_tools=found,
                store=store,
                config=config,
                price=choice.price,
                secrets=secrets,
                answer_checker=FIGURES,
                summariser=summariser(desk.settings, desk.environment, desk.home, desk.texts),
                calibrations=calibrations(desk.home),
            )
        except ValueError as error:
            raise Problem(USAGE, "rules_conflict", why=error) from error
        async with aclosing(loop):
            yield Bench(loop, store, choice, chosen, shop)
    finally:
        await close_shop(shop)


def commands_only(desk: Desk, store: EventStore) -> AgentLoop:
    """A loop for what needs neither model nor tools: revoking, forking, looking at the state."""
    nobody = UnusableModel("none", "model_not_found", "This command asks no model.")
    return AgentLoop(model=nobody, store=store, secrets=known_secrets(desk.settings, desk.environment))


def rules_of(desk: Desk, written: Sequence[str]) -> list[WrittenRule]:
    """The rules of the settings, of the working directory and of this command (``--rule``)."""
    project = read_project_rules(Path.cwd())
    allowed = [rule.text() for rule in project if rule.effect == "allow"]
    if allowed:  # whoever wrote the files of a folder may be somebody else than who works in it
        desk.terminal.note(desk.texts("project_allows", source=project[0].source, rules=", ".join(allowed)), "wait")
    return [*desk.settings.rules, *project, *read_rules(list(written), "session", SESSION_SOURCE)]


async def restrictions(store: EventStore, session: str | None, history: Sequence[AnyItem]) -> list[WrittenRule]:
    """What an earlier command forbade in this session, or wanted to be asked about: it holds until the session ends,
    while what one allowed holds for that command."""
    name = next((item.environment for item in reversed(history) if isinstance(item, Began)), "")
    contents = {} if session is None or not name else await store.contents(session, [name])
    if name not in contents:
        return []
    rules = environment_of(contents[name]).config.rules
    kept = [rule for rule in rules if rule.scope == "session" and rule.effect != "allow"]
    return [WrittenRule(rule.effect, rule.tool, rule.target, rule.reason, "session", SESSION_SOURCE) for rule in kept]


async def open_shop_of(desk: Desk) -> OpenShop:
    """The shop of this installation: the built-in one, or the one in Tryton that the settings name."""
    connection = desk.settings.shop
    if connection.backend == "embedded":
        return open_embedded_shop(desk)
    from erpilot.shop.connection import connect

    return await connect(connection, desk.environment)


async def close_shop(shop: OpenShop) -> None:
    """Closes either kind."""
    if isinstance(shop, EmbeddedShop):
        shop.close()
    else:
        await shop.aclose()


def open_embedded_shop(desk: Desk) -> EmbeddedShop:
    """The built-in shop, made on first use. Raises ``Problem`` where the settings name another."""
    from erpilot.shop.open import open_shop

    if desk.settings.shop.backend != "embedded":
        raise Problem(USAGE, "shop_elsewhere", backend=desk.settings.shop.backend)
    if not (desk.home / "shop.db").exists():
        desk.terminal.note(desk.texts("shop_first_use"), "quiet")
    return open_shop(desk.home, today=desk.settings.today)


def profile_named(name: str) -> Profile:
    """A profile by its name."""
    if name not in PROFILES:
        raise Problem(USAGE, "no_such_profile", profile=name, known=", ".join(PROFILES))
    return PROFILES[name]


def profile_of(items: Sequence[AnyItem]) -> str:
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
