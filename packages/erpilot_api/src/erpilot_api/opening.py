"""Puts the house of this home together: the shop as each person may see it, a loop for each profile, the users.

Invariant: what was opened is closed, whatever happens in between. A server asks for every write: nothing is approved in
advance but by rules and grants.
"""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from agent_core.config import LoopConfig, Rule
from agent_core.loop import AgentLoop
from agent_core.store.base import EventStore
from erpilot.cli.desk import Desk
from erpilot.cli.learnt import calibrations, context_policy, endpoint_profiles, summariser
from erpilot.cli.logs import hide_in_logs
from erpilot.cli.models import choose, client_of, known_secrets
from erpilot.cli.problems import USAGE, Problem
from erpilot.cli.rules import as_rule, check_tools
from erpilot.cli.work import close_shop, open_shop_of, rules_of, tell_about, today_of
from erpilot.figures import FIGURES
from erpilot.profiles import PROFILES, told_and_found
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.rights import RIGHTS, rights_of
from erpilot.toolsets.shop_files import with_files

from .access import Access, User
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
    async with AsyncExitStack() as opened:
        shop = await open_shop_of(desk)
        opened.push_async_callback(close_shop, shop)
        if not isinstance(shop, EmbeddedShop):
            desk.terminal.note(desk.texts("serve_one_login", user=desk.settings.shop.user), "wait")
        model = client_of(choice, sentence, endpoint_profiles(desk.home))
        summing_up = summariser(desk.settings, desk.environment, desk.home, desk.texts)
        for client in (model, summing_up and summing_up.model):
            if (close := getattr(client, "aclose", None)) is not None:
                opened.push_async_callback(close)

        def loop_for(user: User | None, profile: str, more: tuple[Rule, ...], beside: AgentLoop | None) -> AgentLoop:
            seen, rights = shop, frozenset(RIGHTS)
            if user is not None:
                rights = rights_of((user.role,))
                seen = shop.acting_as(user.name, (user.role,)) if isinstance(shop, EmbeddedShop) else shop
            tools = with_files(PROFILES[profile].tools(seen), seen, desk.home, rights)
            check_tools(rules, [tool.name for tool in tools])
            told, found = told_and_found(PROFILES[profile], tools)
            try:
                return AgentLoop(
                    model=model,
                    tools=told,
                    findable_tools=found,
                    store=store,
                    config=LoopConfig(
                        system_prompt=PROFILES[profile].system_prompt,
                        rules=(*map(as_rule, rules), *more),
                        context=context_policy(desk.settings),
                    ),
                    price=choice.price,
                    secrets=secrets,
                    answer_checker=FIGURES,
                    summariser=summing_up,
                    calibrations=learnt,
                    beside=beside,
                )
            except ValueError as error:
                raise Problem(USAGE, "rules_conflict", why=error) from error

        learnt = calibrations(desk.home)
        loops = {name: loop_for(None, name, (), None) for name in PROFILES}
        yield House(
            store,
            loops,
            access,
            personal=lambda user, profile, more: loop_for(user, profile, more, loops[profile]),
            today=lambda: today_of(shop),
            currency=desk.settings.currency,
            exchange_rate=desk.settings.exchange_rate,
            secrets=secrets,
        )
