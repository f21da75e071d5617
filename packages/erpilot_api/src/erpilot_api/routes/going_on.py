"""What is asked of a run that is going on, or that stopped: interrupt, queue, resume."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from ..asked import Asker, Own, TheHouse, body, gives, takes, told
from ..wire import Accepted, Queue

router = APIRouter(tags=["runs"])


@router.post(
    "/api/sessions/{session_id}/interrupt",
    operation_id="interrupt",
    summary="Stop the run",
    responses=gives(Accepted, "What happened is kept; `changed` is false when nothing was going on.", also=(404, 410)),
)
async def interrupt(house: TheHouse, user: Asker, card: Own) -> Response:
    """The run ends with the reason `interrupted`, in whatever process it is driven."""
    changed = await (await house.loop_of(card)).interrupt(card.session_id, by=user.name, where="http")
    answer = await house.accepted(card.session_id, changed=changed)
    house.runs.told(card.session_id, answer.head)
    return told(answer)


@router.post(
    "/api/sessions/{session_id}/queue",
    operation_id="queue",
    summary="Say something when the run has completed",
    status_code=202,
    responses=gives(Accepted, "It waits for its turn.", status=202, also=(404, 409, 410)),
    openapi_extra=takes(Queue, {"message": "另外报一下含税价", "client_message_id": "c-2"}),
)
async def queue(house: TheHouse, user: Asker, card: Own, queued: Annotated[Queue, Depends(body(Queue))]) -> Response:
    """409 when no run is going on: it can be said at once then. A repeat of `client_message_id` is the same message."""
    recorded = await (await house.loop_of(card)).queue(
        card.session_id,
        queued.message,
        by=user.name,
        client_message_id=queued.client_message_id,
        context=house.today(),
    )
    house.told(recorded)
    return told(await house.accepted(card.session_id, changed=bool(recorded)), 202)


@router.post(
    "/api/sessions/{session_id}/resume",
    operation_id="resume",
    summary="Go on with a run that stopped",
    status_code=202,
    responses=gives(Accepted, "What comes of it stands in the events.", status=202, also=(404, 409, 410)),
)
async def resume(house: TheHouse, user: Asker, card: Own) -> Response:
    """After an interrupt, a failure of the model or a crash; `changed` is false when there is nothing to do."""
    if house.runs.is_driven(card.session_id):
        return told(await house.accepted(card.session_id, changed=False), 202)
    loop = await house.loop_of(card)
    began = await house.runs.start(loop, loop.resume(card.session_id, by=user.name), card.session_id)
    return told(await house.accepted(card.session_id, changed=began is not None), 202)
