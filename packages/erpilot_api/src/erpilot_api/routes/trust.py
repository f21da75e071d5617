"""Standing grants: what may run unasked, and the end of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from agent_core.errors import Refused
from agent_core.state import State

from ..asked import Asker, Own, TheHouse, gives, told
from ..problems import Trouble
from ..wire import Accepted, Grant, GrantList

router = APIRouter(tags=["trust"])


@router.get(
    "/api/trust",
    operation_id="listTrust",
    summary="Grants that stand, over all sessions",
    responses=gives(GrantList, "Those of the sessions that are yours to see."),
)
async def list_trust(house: TheHouse, user: Asker) -> Response:
    """A grant is given with the answer to a question (`always`)."""
    found: list[Grant] = []
    async for _, card in house.cards.listed():
        if card.granted and user.sees(card.owner, card.tenant):
            found += grants_of(card.session_id, await (await house.loop_of(card)).state(card.session_id))
    return told(GrantList(grants=tuple(found)))


@router.get(
    "/api/sessions/{session_id}/trust",
    operation_id="sessionTrust",
    summary="Grants that stand in a session",
    responses=gives(GrantList, "Its grants.", also=(404, 410)),
)
async def session_trust(house: TheHouse, card: Own) -> Response:
    """What may run unasked in it."""
    state = await (await house.loop_of(card)).state(card.session_id)
    return told(GrantList(grants=tuple(grants_of(card.session_id, state))))


@router.delete(
    "/api/sessions/{session_id}/trust/{grant_id}",
    operation_id="revoke",
    summary="End a grant",
    responses=gives(Accepted, "It does not hold any more.", also=(404, 409, 410)),
)
async def revoke(house: TheHouse, user: Asker, card: Own, grant_id: Annotated[str, Path(max_length=100)]) -> Response:
    """Calls that it would have covered are asked again."""
    loop = await house.loop_of(card)
    try:
        recorded = await loop.revoke(card.session_id, grant_id, by=user.name)
    except Refused as refused:
        raise Trouble("not-found", str(refused)) from None
    house.told(recorded)
    return told(await house.accepted(card.session_id, changed=bool(recorded)))


def grants_of(session_id: str, state: State) -> list[Grant]:
    """The grants that stand in a state."""
    return [
        Grant(
            session_id=session_id,
            grant_id=grant.grant_id,
            tool=grant.tool,
            by=grant.by,
            target=grant.target,
            limits=grant.limits,
            expires=grant.expires,
        )
        for grant in state.grants.values()
    ]
