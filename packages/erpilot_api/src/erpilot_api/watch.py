"""What a server looks after while it runs: logs that other processes write, runs whose driver died, the list of users.

Invariant: nothing here is needed for what is stored to be right; it only makes things happen without being asked for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from agent_core.errors import StoreError

from .house import House

LOOK_SECONDS = 1.0
"""How soon a reader sees what another process appended."""
TAKE_UP_SECONDS = 30.0
"""How often runs are looked for whose driver died."""
LEFT_ALONE_SECONDS = 3600.0
"""After so long nobody waits for a run of the command line any more; whoever still wants it resumes it."""
_log = logging.getLogger(__name__)


async def watch(house: House, users_changed: Callable[[], bool]) -> None:
    """Looks until it is cancelled. ``users_changed`` reads the list of users again, if it is another one."""
    loop = asyncio.get_running_loop()
    next_round = loop.time()
    while True:
        try:
            if loop.time() >= next_round:
                next_round = loop.time() + TAKE_UP_SECONDS
                await take_up(house)
            for session_id in house.runs.followed():
                house.runs.told(session_id, (await house.store.session(session_id)).head)
            users_changed()
        except StoreError as error:  # met again by whoever asks; the next look may do better
            _log.warning("looking after the sessions failed: %s", error)
        await asyncio.sleep(LOOK_SECONDS)


async def take_up(house: House) -> None:
    """Goes on with runs that are driven by nobody: cut short, or decided and not resumed. Whether somebody drives one
    is told by its lease; those of the command line are looked at only when they have been quiet for a while."""
    now = house.clock()
    async for _, card in house.cards.listed():
        decided = card.ended == "awaiting_approval" and not card.asked and not card.doubts
        if not (card.run_open or decided) or house.runs.is_driven(card.session_id):
            continue
        if card.owner is None and not TAKE_UP_SECONDS < now - card.updated < LEFT_ALONE_SECONDS:
            continue
        house.runs.take_up(await house.loop_of(card), card.session_id, card.owner or card.begun_by or "")
