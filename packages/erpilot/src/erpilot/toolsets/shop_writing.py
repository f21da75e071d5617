"""How every write of the shop is shown, carried out and taken back.

Invariant: one plan, made from the arguments and the records as they are, is what a person is shown and what is carried
out; it runs on the versions that were shown, accepts no warning that nobody saw, and has one effect per call, however
often it is tried. "Done" is said only of what the ERP says it did.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from agent_core.events import Change, Notice, Preview
from agent_core.tools.schema import arguments_from_signature
from agent_core.tools.tool import Reconciled, Tier, Tool, ToolContext, Undo

from ..shop.backend import ErpBackend, Write, Written
from ..shop.errors import NeedsConfirmation
from . import shop_results as r
from .shop_documents import OrderDetail, order_detail
from .shop_history import ChangeFact, change_fact
from .shop_kit import BACKEND, MAX_OUTPUT, keys
from .shop_resolve import answering, stamp

UNDO = "undo_change"
MOST_CHANGES = 60


class Done(r.Fact):
    """What a write did. ``linked``: documents that belong to it (delivery, invoice, credit note, source); ``document``:
    as it is now. ``change``: what ``undo_change`` takes it back with, absent where it cannot be taken back.
    ``repeated``: an earlier attempt of the same call had done it."""

    done: str
    number: str
    linked: list[str]
    changes: list[ChangeFact]
    changes_in_all: int
    document: OrderDetail | None = None
    change: str | None = None
    repeated: bool
    as_of: str


Act = Callable[[Write, Mapping[str, str]], Awaitable[Written]]
Answer = Callable[[ErpBackend, Written], Awaitable[r.Fact]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a call would do. ``act`` carries it out, given what a person was shown (empty where nobody was asked).

    ``version``: of the record that is changed. ``seen``: what else was shown and may move. ``accepts``: tokens of the
    warnings among ``notices``. ``raised``: more than the tool's tier covers.
    """

    title: str
    changes: tuple[Change, ...]
    act: Act
    notices: tuple[Notice, ...] = ()
    measures: Mapping[str, Decimal] = field(default_factory=dict)
    version: str | None = None
    seen: Mapping[str, str] = field(default_factory=dict)
    accepts: frozenset[str] = frozenset()
    raised: bool = False

    def versions(self) -> dict[str, str]:
        """All that has to be the same when it runs."""
        found = dict(self.seen)
        if self.version is not None:
            found["version"] = self.version
        if self.accepts:
            found["warnings"] = " ".join(sorted(self.accepts))
        return found


def writing(
    backend: ErpBackend,
    *touched: str,
    target: Callable[..., str | None],
    tier: Tier = Tier.WRITE,
    varies: tuple[str, ...] = (),
    answer: Answer | None = None,
) -> Callable[[Callable[..., Awaitable[Plan]]], Tool]:
    """Makes a tool of a function that plans: its arguments are the tool's, its docstring is what the model reads.
    ``touched``: kinds of records that it changes; ``answer``: tells what was done, in another form than ``Done``."""
    tell = answer or done

    def build(planned: Callable[..., Awaitable[Plan]]) -> Tool:
        name, begun = planned.__name__, dict[str, str]()

        async def run(ctx: ToolContext, **arguments: Any) -> r.Fact:
            with answering():
                return await tell(backend, await _carried_out(backend, planned, ctx, arguments, begun))

        async def preview(ctx: ToolContext, **arguments: Any) -> Preview:
            del ctx
            with answering():
                plan = await planned(**arguments)
            return Preview(
                plan.title, plan.changes, measures=dict(plan.measures), notices=plan.notices, raised=plan.raised
            )

        async def versions(ctx: ToolContext, **arguments: Any) -> dict[str, str]:
            del ctx
            with answering():
                return (await planned(**arguments)).versions()

        async def reconcile(ctx: ToolContext, **arguments: Any) -> Reconciled:
            del arguments
            with answering():
                written = await backend.find_by_key(ctx.idempotency_key)
                if written is None:
                    return Reconciled("did_not_happen")
                return Reconciled("happened", await tell(backend, replace(written, repeated=True)))

        return Tool(
            name,
            " ".join((planned.__doc__ or "").split()),
            arguments_from_signature(name, planned, skip=None),
            run,
            tier=tier,
            max_output=MAX_OUTPUT,
            idempotent=True,
            preview=preview,
            target=target,
            varies=varies,
            versions=versions,
            reconcile=reconcile,
            inverse=taking_back,
            backend=BACKEND,
            writes=keys(*touched, "history"),
            context_parameter="ctx",
        )

    return build


def taking_back(arguments: Mapping[str, Any], result: str) -> Undo | None:
    """The call that takes back what a write did; None where the ERP has no opposite of it."""
    del arguments
    change = json.loads(result).get("change")
    return Undo(UNDO, {"change": change, "reason": "taken back"}) if change else None


async def _carried_out(
    backend: ErpBackend,
    planned: Callable[..., Awaitable[Plan]],
    ctx: ToolContext,
    arguments: dict[str, Any],
    begun: dict[str, str],
) -> Written:
    """Does it, unless an earlier attempt has done it already. ``begun``: keys of attempts without an answer, each with
    its arguments, so that a key that is used for something else still is a ``Conflict``."""
    key, asked = ctx.idempotency_key, repr(arguments)
    again = ctx.attempt > 1 or begun.get(key) == asked
    if again and (before := await backend.find_by_key(key)) is not None:
        return replace(before, repeated=True)
    plan = await planned(**arguments)
    shown = ctx.versions if ctx.approved_by is not None else {}
    write = Write(
        key,
        ctx.user,
        version=shown.get("version", plan.version),
        approved_by=ctx.approved_by,
        accepted=plan.accepts if ctx.approved_by is not None else frozenset(),
    )
    begun[key] = asked
    written = await plan.act(write, shown)
    begun.pop(key, None)
    return written


async def done(backend: ErpBackend, written: Written) -> Done:
    """What a write did, as answered."""
    now = stamp(backend.now())
    return Done(
        done=written.verb,
        number=written.number,
        linked=list(written.linked),
        changes=[change_fact(each) for each in written.changes[:MOST_CHANGES]],
        changes_in_all=len(written.changes),
        document=None if written.document is None else order_detail(written.document, now),
        change=written.key if written.undoable else None,
        repeated=written.repeated,
        as_of=now,
    )


MOST_SHOWN = 40
"""Changes in a preview; what is left off is counted."""


def folded(count: int) -> Notice:
    """Says how many changes a preview left off."""
    return Notice("more_changes", {"shown": str(MOST_SHOWN), "count": str(count)})


async def insisting(act: Callable[[Write], Awaitable[Written]], write: Write, *, again: bool) -> Written:
    """Carries out what the ERP warned of, where the arguments say that it is meant, and a person agreed to them."""
    try:
        return await act(write)
    except NeedsConfirmation as warning:
        if not again or write.approved_by is None:
            raise
        return await act(replace(write, accepted=write.accepted | {warning.token}))


def moved(before: Decimal | str | None, after: Decimal | str | None, unit: str = "") -> tuple[str | None, str | None]:
    """Two values as a person reads them, with their unit."""
    return _said(before, unit), _said(after, unit)


def _said(value: Decimal | str | None, unit: str) -> str | None:
    if value is None:
        return None
    text = r.plain(value) if isinstance(value, Decimal) else value
    return f"{text} {unit}".strip()
