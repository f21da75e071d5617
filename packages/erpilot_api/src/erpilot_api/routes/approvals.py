"""Calls that wait for a person: over all sessions, in one session, and the answers."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Path
from starlette.responses import Response

from agent_core.errors import Refused
from agent_core.messages import ToolCall
from agent_core.state import Call
from agent_core.tools.registry import Registry
from agent_core.values import Fault

from ..access import User
from ..asked import Asker, Own, TheHouse, body, gives, takes, told
from ..cards import Card
from ..house import House
from ..problems import Trouble
from ..wire import Accepted, Action, Approval, ApprovalList, Decide, Decision, Doubt, Resolve

router = APIRouter(tags=["approvals"])
CallId = Annotated[str, Path(max_length=300, description="`call_id` of the question.")]


@router.get(
    "/api/approvals",
    operation_id="listApprovals",
    summary="All that wait, over all sessions",
    responses=gives(ApprovalList, "The oldest first."),
)
async def list_approvals(house: TheHouse, user: Asker) -> Response:
    """Questions of the sessions that are yours to see, each with what you may answer."""
    found: list[Approval] = []
    async for _, card in house.cards.listed():
        if card.asked and user.sees(card.owner, card.tenant):
            found += approvals_of(user, card)
    found.sort(key=lambda approval: approval.asked_at)
    return told(ApprovalList(approvals=tuple(found)))


@router.get(
    "/api/sessions/{session_id}/approvals",
    operation_id="sessionApprovals",
    summary="What waits in a session",
    responses=gives(ApprovalList, "In the order in which they were asked.", also=(404, 410)),
)
async def session_approvals(user: Asker, card: Own) -> Response:
    """Its open questions, each with what you may answer."""
    return told(ApprovalList(approvals=tuple(approvals_of(user, card))))


@router.post(
    "/api/sessions/{session_id}/approvals/{call_id}",
    operation_id="decide",
    summary="Approve or deny",
    responses=gives(Decision, "The decision that stands; the run goes on by itself.", also=(403, 404, 409, 410)),
    openapi_extra=takes(Decide, {"decision": "deny", "reason": "这个客户先不发"}),
)
async def decide(
    house: TheHouse, user: Asker, card: Own, call_id: CallId, answer: Annotated[Decide, Depends(body(Decide))]
) -> Response:
    """Repeating an answer is harmless. 409: it was answered otherwise before (`standing` says how), or the question is
    another one by now; 410: it has expired."""
    loop = await house.loop_of(card)
    asked = card.asked.get(call_id)
    if answer.decision == "approve" and asked is not None and asked[2].tier not in user.approves:
        raise Trouble("not-allowed", f"A {user.role} may not approve a call of tier {asked[2].tier}.")
    if answer.decision == "approve" and asked is not None and answer.arguments is not None:
        _check_edited(loop.registry, asked[2].tool, answer.arguments)
    try:
        recorded = await loop.decide(
            card.session_id,
            call_id,
            approve=answer.decision == "approve",
            reason=answer.reason,
            by=user.name,
            arguments=answer.arguments,
            always=answer.always,
            channel="http",
            digest=answer.digest,
        )
    except Refused as refused:
        raise await _too_late(house, card, call_id, refused) from None
    call = (await loop.state(card.session_id)).find_call(call_id)
    house.told(recorded)
    house.runs.take_up(loop, card.session_id, user.name)
    standing = None if call is None else _standing(card.session_id, call)
    if standing is None:
        standing = Decision(
            session_id=card.session_id,
            call_id=call_id,
            decision="approved" if answer.decision == "approve" else "denied",
            by=user.name,
        )
    return told(standing)


@router.post(
    "/api/sessions/{session_id}/outcomes/{call_id}",
    operation_id="resolve",
    summary="Say what became of a call whose outcome is not known",
    responses=gives(Accepted, "It is recorded; the run goes on by itself.", also=(403, 404, 409, 410)),
    openapi_extra=takes(Resolve, {"outcome": "happened"}),
)
async def resolve(
    house: TheHouse, user: Asker, card: Own, call_id: CallId, found: Annotated[Resolve, Depends(body(Resolve))]
) -> Response:
    """`happened` and `did_not_happen` record what somebody looked up; `send_again` makes one more attempt, so it takes
    the right to approve calls of its tier."""
    loop = await house.loop_of(card)
    if not user.approves:
        raise Trouble("not-allowed", f"A {user.role} may not say what became of a write.")
    call = (await loop.state(card.session_id)).find_doubted(call_id)
    if call_id not in card.doubts and call is None:
        raise Trouble("not-found", f"Session {card.session_id} has no call {call_id} whose outcome is unknown.")
    tool = None if call is None else loop.registry.get(call.call.name)
    if found.outcome == "send_again" and tool is not None and tool.tier.value not in user.approves:
        raise Trouble("not-allowed", f"A {user.role} may not have a call of tier {tool.tier.value} sent again.")
    recorded = await loop.resolve(card.session_id, call_id, found.outcome, by=user.name, content=found.content)
    house.told(recorded)
    house.runs.take_up(loop, card.session_id, user.name)
    return told(await house.accepted(card.session_id, changed=bool(recorded)))


def doubts_of(card: Card) -> list[Doubt]:
    """Calls of a session whose outcome is not known."""
    return [
        Doubt(
            session_id=card.session_id,
            call_id=call_id,
            tool=finished.tool,
            arguments="" if call is None else call.arguments,
            message="" if finished.error is None else finished.error.message,
        )
        for call_id, (call, finished) in card.doubts.items()
    ]


def approvals_of(user: User, card: Card) -> list[Approval]:
    """The open questions of a session, as one person may answer them."""
    return [
        Approval(
            session_id=card.session_id,
            session_title=card.title,
            session_owner=card.owner,
            call_id=asked.call_id,
            seq=seq,
            asked_at=at,
            tool=asked.tool,
            tier=asked.tier,
            arguments=asked.arguments,
            digest=asked.digest,
            preview=asked.preview,
            why=asked.why,
            may=_may(user, asked.tier, asked.offer is not None),
            target=asked.target,
            deadline=asked.deadline,
            offer=asked.offer,
        )
        for seq, at, asked in sorted(card.asked.values(), key=lambda entry: entry[0])
    ]


def _may(user: User, tier: str, offered: bool) -> tuple[Action, ...]:
    if tier not in user.approves:
        return ("deny",)
    return ("approve", "deny", "edit", "always") if offered else ("approve", "deny", "edit")


def _check_edited(registry: Registry, tool: str, arguments: dict[str, Any]) -> None:
    """Arguments that do not fit would use the question up for a call that cannot run, so it stays open instead."""
    edited = ToolCall(id="", name=tool, arguments=msgspec.json.encode(arguments).decode())
    fault = registry.judge(edited)
    if isinstance(fault, Fault) and fault.type == "validation":
        raise Trouble("invalid", fault.message)


async def _too_late(house: House, card: Card, call_id: str, refused: Refused) -> Trouble:
    """What to say to an answer that was not taken."""
    state = await (await house.loop_of(card)).state(card.session_id)
    call = state.find_call(call_id)
    if call is None or call.status == "new":
        return Trouble("not-found", str(refused))
    if call.decision == "expired" or (call.status == "asked" and call.deadline and house.clock() >= call.deadline):
        return Trouble("expired", str(refused), session_id=card.session_id)
    standing = _standing(card.session_id, call)
    return Trouble("refused" if standing is None else "decided", str(refused), standing=standing)


def _standing(session_id: str, call: Call) -> Decision | None:
    if call.decision not in ("approved", "denied", "expired", "cancelled"):
        return None
    return Decision(
        session_id=session_id,
        call_id=call.call.id,
        decision=call.decision,  # type: ignore[arg-type]
        by=call.decided_by,
        reason=call.reason,
        running=True,
    )
