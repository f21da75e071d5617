"""An example of every answer, for the document: values of the shapes themselves, so that none can be wrong.

Invariant: one small story (an order looked up, a quotation that waits) runs through all of them.
"""

from __future__ import annotations

import time
from calendar import timegm
from decimal import Decimal
from typing import Any

import msgspec

from agent_core import events as ev
from agent_core.messages import Usage
from agent_core.trace.transcript import Said

from . import wire

_AT = float(timegm(time.strptime("2026-11-30 09:15", "%Y-%m-%d %H:%M")))
_LOOKED_UP, _QUOTED = "261130-1f2e3d4c", "261130-9a8b7c6d"
_USAGE = Usage(prompt_tokens=11479, completion_tokens=320, total_tokens=11799)
_COSTS = {"CNY": Decimal("0.0271")}
_DIGEST = "7e84cbf0f7a7c92c037058665d66152f8eb8580ab2534e52c877bccceb9cc7bf"
_ARGUMENTS = '{"customer":"C001","lines":[{"qty":"10","sku":"HW-CUP-500","unit":"个"}]}'
_PREVIEW = ev.Preview(
    "create_quotation", (ev.Change("total", None, "431.20 CNY"), ev.Change("valid_until", None, "2026-12-07"))
)

_summary = wire.SessionSummary(
    session_id=_LOOKED_UP,
    title="订单 123 里买了什么？现在还有货吗？报个价",
    owner="小李",
    profile="shop",
    status="completed",
    created_at=_AT,
    updated_at=_AT + 4.2,
    head=19,
    archived=False,
    approvals=0,
    uncertain=0,
    steps=3,
    usage=_USAGE,
    costs=_COSTS,
)
_approval = wire.Approval(
    session_id=_QUOTED,
    session_title="给鑫源商行开一张报价单",
    session_owner="小李",
    call_id="call-1",
    seq=9,
    asked_at=_AT + 60,
    tool="create_quotation",
    tier="WRITE",
    arguments=_ARGUMENTS,
    digest=_DIGEST,
    preview=_PREVIEW,
    why="tier",
    may=("approve", "deny", "edit", "always"),
    deadline=_AT + 7 * 86_400,
    offer=ev.Offer("create_quotation for customer C001", target="customer:C001", seconds=28_800.0),
)
_grant = wire.Grant(
    session_id=_QUOTED,
    grant_id="grant-5d0f12aa",
    tool="create_quotation",
    by="老王",
    target="customer:C001",
    limits={},
    expires=_AT + 28_800,
)
_me = wire.Me(
    user="老王",
    role="owner",
    approves=("WRITE", "DANGEROUS"),
    sees_all=True,
    model="deepseek:deepseek-chat",
    offline=False,
    profiles=("shop",),
    currency="CNY",
)
_write = wire.Compensation(
    seq=14,
    tool="create_quotation",
    arguments=_ARGUMENTS,
    undo_tool="cancel_document",
    undo_arguments='{"number":"SQ-2026-0042"}',
    why_not=None,
)
_side = wire.DiffSide(session_id=_LOOKED_UP, head=19, steps=0, usage=Usage(), costs={}, effects=())
_said = ev.UserMessage(content=(ev.TextPart("订单 124 呢？"),), author="小李")

EXAMPLES: tuple[wire.Answer, ...] = (
    wire.Accepted(session_id=_LOOKED_UP, head=20, running=True),
    wire.ApprovalList(approvals=(_approval,)),
    wire.Decision(session_id=_QUOTED, call_id="call-1", decision="approved", by="老王", running=True),
    wire.Diff(
        common=4,
        a=_side,
        b=wire.DiffSide(session_id=_QUOTED, head=12, steps=2, usage=_USAGE, costs=_COSTS, effects=()),
        rows=(
            wire.DiffRow(
                a=None, b=msgspec.Raw(msgspec.json.encode(ev.Recorded(_QUOTED, 6, _AT + 30, _said, "00"))), same=False
            ),
        ),
    ),
    wire.Entered(token="eyJraW5kIjoi….q83vEjRW", expires=_AT + 30 * 86_400, me=_me),
    wire.Forked(session_id=_QUOTED, parent=_LOOKED_UP, parent_seq=4),
    wire.GrantList(grants=(_grant,)),
    _me,
    wire.Numbers(
        session_id=_LOOKED_UP,
        answers=(
            wire.NumberedAnswer(
                seq=18,
                answer_seq=17,
                figures=(ev.Figure("6927.00", call_id="call-3", path="$.total"),),
                untraced=(),
            ),
        ),
    ),
    wire.Replay(
        session_id=_LOOKED_UP,
        head=3,
        items=(Said(seq=3, author="小李", text="订单 123 里买了什么？", at=_AT, context=(("today", "2026-11-30"),)),),
    ),
    wire.ReportList(
        reports=(
            wire.Report(
                session_id=_LOOKED_UP,
                seq=24,
                call_id="call-7",
                tool="sales_report",
                arguments='{"period":"last month"}',
                at=_AT + 90,
                content={"rows": [{"name": "2026-10", "total": "18240.00"}]},
                chart={"mark": "bar", "data": {"values": [{"label": "2026-10", "value": 18240.0}]}},
            ),
        )
    ),
    wire.RolledBackTo(session_id=_QUOTED, to=3, head=21, writes=(_write,)),
    wire.Session(summary=_summary, approvals=(), uncertain=(), grants=(), queue=()),
    wire.SessionList(sessions=(_summary,), next=None),
    _summary,
    wire.StepRequest(session_id=_LOOKED_UP, seq=4, body='{"model":"deepseek-chat","messages":[…],"stream":true}'),
    wire.UndoPlan(session_id=_QUOTED, to=3, writes=(_write,)),
)


PROBLEM = wire.Problem(
    type="urn:erpilot:problem:not-found",
    title="There is no such thing",
    status=404,
    detail="There is no such session.",
)


def examples() -> dict[str, Any]:
    """Plain values by the name of their shape."""
    return {type(value).__name__: msgspec.json.decode(msgspec.json.encode(value)) for value in (*EXAMPLES, PROBLEM)}
