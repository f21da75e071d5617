"""The streams: a message and what comes of it, and the events of a session from any place on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from starlette.responses import Response

from agent_core import events as ev
from agent_core.errors import Busy
from agent_core.loop import AgentLoop
from agent_core.state import digest_parts

from ..access import User
from ..asked import Asker, Own, Said, TheHouse, body, problems, takes
from ..cards import Card
from ..house import House
from ..problems import Trouble
from ..reading import Follow, Reader
from ..streaming import EventStream
from ..wire import Say

router = APIRouter(tags=["streams"])

_STREAM: Said = {
    200: {
        "description": "Frames: `start`, the events, `done` or `error`. See docs/http.md.",
        "content": {
            "text/event-stream": {
                "itemSchema": {"$ref": "#/components/schemas/StreamFrame"},
                "example": (
                    'event: start\ndata: {"session_id":"261130-1f2e3d4c","after":0,"head":0,"running":true,'
                    '"repeated":false}\n\nid: 1\ndata: {"session_id":"261130-1f2e3d4c","seq":1,"at":1796000000.0,'
                    '"event":{"type":"SessionStarted"},"hash":"…"}\n\n'
                ),
            }
        },
    },
}


@router.post(
    "/api/chat/stream",
    operation_id="say",
    summary="Say something and read what comes of it",
    response_class=Response,
    responses={**_STREAM, **problems(404, 409, 410)},
    openapi_extra=takes(Say, {"message": "订单 123 还有货吗？", "client_message_id": "c-1"}),
)
async def say(house: TheHouse, user: Asker, said: Annotated[Say, Depends(body(Say))]) -> Response:
    """The stream is a reader: whoever leaves does not stop the run. It ends with the run that the message began."""
    card = None if said.session_id is None else await house.see(user, said.session_id)
    async with _one_at_a_time(house, user, said):
        known = await _said_before(house, user, card, said)
        if known is not None:
            return await _again(house, user, *known, said)
        loop, session_id = await _loop_for(house, user, card, said)
        try:
            began = await house.runs.start(loop, _run(house, loop, user, session_id, said), session_id, read=True)
        except Busy:
            known = await _said_before(house, user, card, said)
            if known is None:
                raise
            return await _again(house, user, *known, said)
    if began is None:
        raise Trouble("refused", "There was nothing to do.")
    after = 0 if card is None else card.seq
    reader = Reader(house.store, began.channel, after, one_run=True, place=began.place)
    return EventStream(reader, began.channel.head, house.streams)


@router.get(
    "/api/sessions/{session_id}/events",
    operation_id="events",
    summary="The events of a session, from the log and as they happen",
    response_class=Response,
    responses={**_STREAM, **problems(404, 410)},
)
async def events(
    house: TheHouse,
    card: Own,
    after: Annotated[
        int | None, Query(ge=0, le=2**53, description="Events that come after this one; 0 is the beginning.")
    ] = None,
    follow: Annotated[
        Follow,
        Query(description="`none`: what is stored; `run`: until nothing goes on any more; `always`: also later runs."),
    ] = "none",
    last_event_id: Annotated[
        str | None, Header(pattern="^[0-9]{0,15}$", description="As a browser sends it; stands in for `after`.")
    ] = None,
) -> Response:
    """Everything behind `after`, each event once and in order; a reader who comes in the middle of a step gets a
    `partial` frame with what was shown of it so far. `Last-Event-ID` wins over `after`, since a browser that comes
    back asks for the same address again."""
    start = int(last_event_id) if last_event_id else after or 0
    channel = house.runs.channel(card.session_id)
    reader = Reader(house.store, channel, min(start, card.seq), follow=follow, run_open=card.run_open)
    return EventStream(reader, card.seq, house.streams)


def _run(house: House, loop: AgentLoop, user: User, session_id: str | None, said: Say) -> AsyncGenerator[ev.Recorded]:
    return loop.run(
        said.message,
        session_id,
        by=user.name,
        client_message_id=said.client_message_id,
        context=house.today(),
        profile=said.profile or house.default_profile,
        owner=user.name,
        tenant=user.tenant,
    )


async def _loop_for(house: House, user: User, card: Card | None, said: Say) -> tuple[AgentLoop, str | None]:
    if card is None:
        if said.profile is not None and said.profile not in house.loops:
            known = ", ".join(house.loops)
            raise Trouble("invalid", f"There is no profile {said.profile}. Known: {known}.")
        return house.loop_for(user, said.profile), None
    return await house.loop_of(card), card.session_id


def _one_at_a_time(house: House, user: User, said: Say) -> asyncio.Lock:
    """The same message sent twice at once is looked at one after the other."""
    key = (user.name, said.client_message_id or object())
    lock = house.saying.get(key)
    if lock is None:
        lock = house.saying[key] = asyncio.Lock()
    return lock


async def _said_before(house: House, user: User, card: Card | None, said: Say) -> tuple[Card, int] | None:
    """The session in which this message was said before, and the event it is."""
    if said.client_message_id is None:
        return None
    digest = digest_parts((ev.TextPart(said.message),))
    found = await house.find_said(user, card, said.client_message_id)
    if found is None:
        return None
    session, (seq, known) = found
    if known != digest:
        raise Trouble("refused", f"Another message was sent under the id {said.client_message_id!r} before.")
    return session, seq


async def _again(house: House, user: User, card: Card, seq: int, said: Say) -> Response:
    """The answer to a message that was said before: its run from its first event on, gone on with if it was cut."""
    loop = await house.loop_of(card)
    if not house.runs.is_driven(card.session_id):
        await house.runs.start(loop, _run(house, loop, user, card.session_id, said), card.session_id)
    channel = house.runs.channel(card.session_id)
    reader = Reader(house.store, channel, max(0, seq - 1), one_run=True, repeated=True)
    return EventStream(reader, max(card.seq, channel.head), house.streams)
