"""``erpilot trust list`` and ``trust revoke``: what a person allowed in advance, and taking it back.

Invariant: what is listed is what a decision would look at: expired grants are called expired, revoked ones are gone.
"""

from __future__ import annotations

import argparse
import time

from .desk import Desk, resolve
from .problems import COMPLETED


def trust(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_list(desk, parsed.session) if parsed.action == "list" else _revoke(desk, parsed))


async def _list(desk: Desk, written: str) -> int:
    from .previews import limits_text
    from .work import commands_only

    async with desk.open_store() as store:
        session = await resolve(store, written)
        grants = (await commands_only(desk, store).state(session)).grants.values()
    if not grants:
        desk.terminal.note(desk.texts("no_grants", session=session))
        return COMPLETED
    rows = []
    for grant in grants:
        until = desk.texts("until_revoked") if grant.expires is None else desk.time(grant.expires)
        if grant.expires is not None and time.time() >= grant.expires:
            until = desk.texts("expired_at", at=until)
        rows.append([grant.grant_id, grant.tool, until, grant.by, limits_text(grant.target, grant.limits, desk.texts)])
    desk.terminal.table([desk.texts(f"head_{name}") for name in ("grant", "tool", "until", "by", "limits")], rows)
    desk.terminal.note(desk.texts("revoke_hint", session=session), "quiet")
    return COMPLETED


async def _revoke(desk: Desk, parsed: argparse.Namespace) -> int:
    from .work import commands_only

    async with desk.open_store() as store:
        session = await resolve(store, parsed.session)
        loop = commands_only(desk, store)
        await loop.revoke(session, parsed.grant, by=desk.person, reason=parsed.because)
    desk.terminal.note(desk.texts("revoked", grant=parsed.grant, session=session))
    return COMPLETED
