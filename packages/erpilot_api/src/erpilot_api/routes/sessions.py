"""Sessions as a list and one by one."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from agent_core import events as ev
from agent_core.store.base import SessionInfo

from ..access import User
from ..asked import Asker, Own, TheHouse, body, gives, takes, told
from ..cards import Card
from ..house import House
from ..problems import Trouble
from ..wire import QueuedMessage, Session, SessionChange, SessionList, SessionSummary
from .approvals import approvals_of, doubts_of
from .trust import grants_of

router = APIRouter(tags=["sessions"])
SEARCHED = 1000
"""Sessions that a search of the logs gives at most."""


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
    before: Annotated[str | None, Query(max_length=300, description="`next` of the page before.")] = None,
) -> Response:
    """A page of the list. Searched are names and ids, and the log: messages, answers, results, whatever their case."""
    wanted, after = query.casefold(), None if before is None else _place_of(before)
    said = await _where_it_was_said(house, user, query)
    found: list[SessionSummary] = []
    following: str | None = None
    async for info, card in house.cards.listed():
        if after is not None and (info.updated_at, info.session_id) >= after:
            continue
        if not user.sees(card.owner, card.tenant) or card.archived != archived:
            continue
        if not (card.is_called(wanted) or card.session_id in said):
            continue
        if len(found) == limit:
            following = f"{found[-1].updated_at!r}_{found[-1].session_id}"
            break
        found.append(summary(house, info, card))
    return told(SessionList(sessions=tuple(found), next=following))


def _place_of(cursor: str) -> tuple[float, str]:
    """The place in the list that a ``next`` stands for: no session has to stand there any more."""
    time, _, session_id = cursor.partition("_")
    if not session_id or not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,9})?", time):
        raise Trouble("invalid", "`before` is no `next` of this list; ask without it for the first page.")
    return float(time), session_id


async def _where_it_was_said(house: House, user: User, query: str) -> set[str]:
    """Sessions in whose logs the words stand."""
    if not query.strip():
        return set()
    owner = None if user.sees_all else user.name
    return {passage.session_id for passage in await house.store.search(query, owner=owner, limit=SEARCHED)}


@router.get(
    "/api/sessions/{session_id}",
    operation_id="session",
    summary="One session, and what is open in it",
    responses=gives(Session, "The session.", also=(404, 410)),
)
async def session(house: TheHouse, user: Asker, card: Own) -> Response:
    """Its summary, open questions, calls of unknown outcome, standing grants and waiting messages."""
    state = await (await house.loop_of(card)).state(card.session_id)
    info = await house.store.session(card.session_id)
    queue = tuple(
        QueuedMessage(
            text="\n".join(part.text if isinstance(part, ev.TextPart) else part.name for part in queued.content),
            author=queued.author,
            client_message_id=queued.client_message_id,
        )
        for queued in state.queue
    )
    return told(
        Session(
            summary=summary(house, info, card),
            approvals=tuple(approvals_of(user, card)),
            uncertain=tuple(doubts_of(card)),
            grants=tuple(grants_of(card.session_id, state)),
            queue=queue,
        )
    )


@router.patch(
    "/api/sessions/{session_id}",
    operation_id="changeSession",
    summary="Name a session, or put it away",
    responses=gives(SessionSummary, "The session as it is called now.", also=(404, 409, 410)),
    openapi_extra=takes(SessionChange, {"title": "鑫源商行的报价", "archived": False}),
)
async def change_session(
    house: TheHouse, user: Asker, card: Own, change: Annotated[SessionChange, Depends(body(SessionChange))]
) -> Response:
    """Both are events of the log; what is not given stays."""
    title = change.title if change.title != card.name else None
    archived = change.archived if change.archived != card.archived else None
    if title is not None or archived is not None:
        loop = await house.loop_of(card)
        recorded = await loop.label(card.session_id, by=user.name, title=title, archived=archived)
        house.told(recorded)
    info = await house.store.session(card.session_id)
    return told(summary(house, info, await house.cards.at(info)))


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
