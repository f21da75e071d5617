"""The question about a call, from what the person is shown; and its answer where a grant or the configuration gives it.

Invariant: pure, so a recorded question can be made again. A grant is only looked for where nothing but the tier asks.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from . import events as ev
from .led_by import led_by
from .permission import Why, covering_grant, offer, parse_arguments
from .state import Call, Run, State
from .tools.registry import Judged


class Shown(Struct, frozen=True):
    """What the tool says of a call: its effect, the versions of its records, the arguments a grant may leave free."""

    preview: ev.Preview
    versions: dict[str, str]
    varies: tuple[str, ...] = ()


def put(
    state: State, run: Run, call: Call, judged: Judged, why: Why, shown: Shown, now: float
) -> list[ev.DurableEvent]:
    """The question, and the answer at once where nobody has to be waited for."""
    tool, config, rules = judged.tool, run.environment.config, run.rules(judged.tool.name)
    arguments, measures = parse_arguments(judged.arguments), shown.preview.measures
    preview = shown.preview
    if preview.asked_by is None and (record := led_by(state, run, arguments)) is not None:
        preview = msgspec.structs.replace(preview, asked_by=record)
    may_offer = rules.tier == "WRITE" and why in ("tier", "changed") and not preview.raised
    asked = ev.ApprovalRequested(
        call_id=call.call.id,
        index=call.index,
        tool=tool.name,
        tier="DANGEROUS" if preview.raised else tool.tier.value,
        arguments=judged.arguments,
        digest=judged.digest,
        preview=preview,
        target=judged.target,
        versions=shown.versions,
        deadline=None if config.approval_seconds is None else now + config.approval_seconds,
        why=why,
        offer=offer(tool.name, judged.target, arguments, shown.varies, measures) if may_offer else None,
    )
    if why != "tier" or preview.raised:
        return [asked]
    grant = covering_grant(state, tool.name, rules, judged.target, arguments, shown.varies, measures, now)
    if grant is not None:
        return [asked, _approved(asked, grant.by, grant_id=grant.grant_id)]
    if tool.tier.value in config.auto_approve:
        return [asked, _approved(asked, run.by, channel="auto_approve")]
    return [asked]


def allowed_at_once(events: Sequence[ev.DurableEvent]) -> bool:
    """Whether a question among these was answered by a grant or the configuration: what it allows is then released
    together with the other calls of its message, in their order."""
    return any(isinstance(event, ev.ApprovalDecided) and event.decision == "approved" for event in events)


def _approved(
    asked: ev.ApprovalRequested, by: str, *, grant_id: str | None = None, channel: str | None = None
) -> ev.ApprovalDecided:
    return ev.ApprovalDecided(
        call_id=asked.call_id, digest=asked.digest, decision="approved", by=by, grant_id=grant_id, channel=channel
    )
