"""Sessions as a list and one by one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from agent_core.store.base import SessionInfo

from ..asked import Asker, TheHouse, gives, told
from ..cards import Card
from ..house import House
from ..wire import SessionList, SessionSummary

router = APIRouter(tags=["sessions"])


@router.get(
    "/api/sessions",
    operation_id="listSessions",
    summary="Sessions, the one used last first",
    responses=gives(SessionList, "Sessions that are yours to see."),
)
async def list_sessions(
    house: TheHouse,
    user: Asker,
    query: Annotated[str, Query(max_length=200, description="Words that all have to stand in it.")] = "",
    archived: Annotated[bool, Query(description="The archived ones instead of the others.")] = False,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[str | None, Query(max_length=100, description="`next` of the page before.")] = None,
) -> Response:
    """A page of the list. Searched are title, id, messages and answers, whatever their case."""
    wanted, skipping = query.casefold(), before is not None
    found: list[SessionSummary] = []
    following: str | None = None
    async for info, card in house.cards.listed():
        if skipping:
            skipping = info.session_id != before
            continue
        if not user.sees(card.owner, card.tenant) or card.archived != archived or not card.holds(wanted):
            continue
        if len(found) == limit:
            following = found[-1].session_id
            break
        found.append(summary(house, info, card))
    return told(SessionList(sessions=tuple(found), next=following))


def summary(house: House, info: SessionInfo, card: Card) -> SessionSummary:
    """What a list says of a session."""
    return SessionSummary(
        session_id=card.session_id,
        title=card.title,
        owner=card.owner,
        profile=card.profile,
        status=card.status(house.runs.is_driven(card.session_id)),
        created_at=info.created_at,
        updated_at=info.updated_at,
        head=card.seq,
        archived=card.archived,
        approvals=len(card.asked),
        uncertain=len(card.doubts),
        steps=card.steps,
        usage=card.usage,
        costs=card.costs,
        parent=info.parent,
        parent_seq=info.parent_seq,
    )
