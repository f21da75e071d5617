"""Puts the house of this home together: the shop, a loop for each profile, the users.

Invariant: what was opened is closed, whatever happens in between. A server asks for every write: nothing is approved in
advance but by rules and grants.
"""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing

from agent_core.config import LoopConfig
from agent_core.events import Frozen
from agent_core.loop import AgentLoop
from agent_core.store.base import EventStore
from erpilot.cli.desk import Desk
from erpilot.cli.learnt import calibrations, context_policy, endpoint_profiles, summariser
from erpilot.cli.logs import hide_in_logs
from erpilot.cli.models import choose, client_of, known_secrets
from erpilot.cli.problems import USAGE, Problem
from erpilot.cli.rules import as_rule, check_tools
from erpilot.cli.work import open_embedded_shop, rules_of, tell_about, today_of
from erpilot.figures import FIGURES
from erpilot.profiles import PROFILES
from erpilot.toolsets.shop_files import with_files

from .access import Access
from .house import House


@asynccontextmanager
async def open_house(desk: Desk, parsed: argparse.Namespace, store: EventStore, access: Access) -> AsyncIterator[House]:
    """What ``erpilot serve`` serves; says on stderr what a person should know about the model and the rules."""
    rules = rules_of(desk, parsed.rule)
    choice = choose(parsed.model, desk.settings, desk.environment)
    tell_about(desk, choice)
    sentence = desk.texts(choice.problem[1], **choice.problem[2]) if choice.problem else ""
    secrets = known_secrets(desk.settings, desk.environment)
    hide_in_logs(secrets)
    measured, endpoints = calibrations(desk.home), endpoint_profiles(desk.home)
    summing = summariser(desk.settings, desk.environment, desk.home, desk.texts)
    async with AsyncExitStack() as opened:
        if summing is not None and (close := getattr(summing.model, "aclose", None)) is not None:
            opened.push_async_callback(close)
        shop = opened.enter_context(closing(open_embedded_shop(desk)))
        loops: dict[str, AgentLoop] = {}
        for name, profile in PROFILES.items():
            tools = with_files(profile.tools(shop), shop, desk.home)
            check_tools(rules, [tool.name for tool in tools])
            try:
                loop = AgentLoop(
                    model=client_of(choice, sentence, endpoints),
                    tools=tools,
                    store=store,
                    config=LoopConfig(
                        system_prompt=profile.system_prompt,
                        rules=tuple(map(as_rule, rules)),
                        context=context_policy(desk.settings),
                    ),
                    price=choice.price,
                    secrets=secrets,
                    answer_checker=FIGURES,
                    summariser=summing,
                    calibrations=measured,
                )
            except ValueError as error:
                raise Problem(USAGE, "rules_conflict", why=error) from error
            if (close := getattr(loop.model, "aclose", None)) is not None:
                opened.push_async_callback(close)
            loops[name] = loop

        def today() -> tuple[Frozen, ...]:
            return today_of(shop)

        yield House(
            store,
            loops,
            access,
            today=today,
            currency=desk.settings.currency,
            exchange_rate=desk.settings.exchange_rate,
            secrets=secrets,
        )
