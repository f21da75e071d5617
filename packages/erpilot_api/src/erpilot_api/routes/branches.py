"""Other ways for a session to go on: fork, rollback, and the difference of two sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from agent_core import diff as compared
from agent_core.undo import Compensation as Undoing

from ..asked import Asker, Own, TheHouse, body, gives, takes, told
from ..frames import json_of
from ..wire import Compensation, Diff, DiffEffect, DiffRow, DiffSide, Fork, Forked, RollBack, RolledBackTo, UndoPlan

router = APIRouter(tags=["branches"])


@router.post(
    "/api/sessions/{session_id}/fork",
    operation_id="fork",
    summary="Go on from an earlier event, in a new session",
    status_code=201,
    responses=gives(Forked, "The new session.", status=201, also=(404, 409, 410)),
    openapi_extra=takes(Fork, {"at": 3}),
)
async def fork(house: TheHouse, card: Own, wanted: Annotated[Fork, Depends(body(Fork))]) -> Response:
    """Nothing is copied and the original is left as it is. A fork inherits no open call, question or grant; it belongs
    to whom the original belongs to."""
    child = await (await house.loop_of(card)).fork(card.session_id, wanted.at)
    return told(Forked(session_id=child, parent=card.session_id, parent_seq=wanted.at), 201)


@router.get(
    "/api/sessions/{session_id}/undo",
    operation_id="undoPlan",
    summary="What taking back writes would take",
    responses=gives(UndoPlan, "The writes behind event `to`, the newest first.", also=(404, 409, 410)),
)
async def undo_plan(
    house: TheHouse, card: Own, to: Annotated[int, Query(ge=1, le=2**53, description="The event to go back to.")]
) -> Response:
    """Looked at before a rollback: it moves the conversation only."""
    plan = await (await house.loop_of(card)).undo_plan(card.session_id, to)
    return told(UndoPlan(session_id=card.session_id, to=to, writes=_writes(plan)))


@router.post(
    "/api/sessions/{session_id}/rollback",
    operation_id="rollBack",
    summary="Go back to an earlier event",
    responses=gives(RolledBackTo, "The conversation goes on from there.", also=(404, 409, 410)),
    openapi_extra=takes(RollBack, {"to": 3, "reason": "问错了客户"}),
)
async def roll_back(
    house: TheHouse, user: Asker, card: Own, wanted: Annotated[RollBack, Depends(body(RollBack))]
) -> Response:
    """Money, counters and what was changed in the shop stay as they are; `writes` says what that is. With `undo` the
    calls that take it back are put to a person one by one, like any write."""
    loop = await house.loop_of(card)
    plan = await loop.undo_plan(card.session_id, wanted.to)
    recorded = await loop.rollback(card.session_id, wanted.to, by=user.name, reason=wanted.reason)
    house.told(recorded)
    if wanted.undo and any(item.undo is not None for item in plan):
        await house.runs.start(loop, loop.undo(card.session_id, plan, by=user.name), card.session_id)
    head = (await house.store.session(card.session_id)).head
    return told(RolledBackTo(session_id=card.session_id, to=wanted.to, head=head, writes=_writes(plan)))


@router.get(
    "/api/sessions/{session_id}/diff",
    operation_id="diff",
    summary="Where two sessions part, and what each did from there",
    responses=gives(Diff, "Side by side.", also=(404, 410)),
)
async def diff(
    house: TheHouse,
    user: Asker,
    card: Own,
    other: Annotated[str, Query(min_length=1, max_length=200, description="Id of the other session, `b`.")],
) -> Response:
    """What both share is found by the hash chain, so equal words are never taken for a common past."""
    second = await house.see(user, other)
    found = await compared.diff_sessions(house.store, card.session_id, second.session_id)
    rows = tuple(
        DiffRow(
            a=None if row.a is None else msgspec.Raw(json_of(row.a)),
            b=None if row.b is None else msgspec.Raw(json_of(row.b)),
            same=row.same,
        )
        for row in found.rows
    )
    return told(Diff(common=found.common, a=_side(found.a), b=_side(found.b), rows=rows))


def _side(side: compared.Side) -> DiffSide:
    return DiffSide(
        session_id=side.session_id,
        head=side.head,
        steps=side.steps,
        usage=side.usage,
        costs=side.costs,
        effects=tuple(
            DiffEffect(seq=effect.seq, tool=effect.tool, arguments=effect.arguments, outcome=effect.outcome)
            for effect in side.effects
        ),
    )


def _writes(plan: Sequence[Undoing]) -> tuple[Compensation, ...]:
    return tuple(
        Compensation(
            seq=item.seq,
            tool=item.tool,
            arguments=item.arguments,
            undo_tool=None if item.undo is None else item.undo.tool,
            undo_arguments=None if item.undo is None else msgspec.json.encode(item.undo.arguments).decode(),
            why_not=item.why,
        )
        for item in plan
    )
