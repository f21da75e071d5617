"""Buttons and writes on one record, based on the version that was read.

Invariant: a button is pressed with the time stamp of the record, so it acts on what was read or not at all; states are
never written. The server's warnings about stock and credit were told before, by our own words; others stop the write
until they are accepted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..errors import Conflict, NeedsConfirmation
from ..verbs.outcome import Write
from .desk import Desk
from .keys import Mark, marks, with_mark

TOLD: Final = ("stock_quantity_warning_", "credit_limit_amount", "credit_limit_dunning")
"""Parts of the names of warnings that say what our concerns say already."""
_WARNINGS: Final = 100


def stamped(model: str, row: int, timestamp: str | None) -> dict[str, Any]:
    """The context that makes the server compare the time stamp of a record."""
    return {"_timestamp": {f"{model},{row}": timestamp}} if timestamp else {}


async def press(
    desk: Desk, model: str, button: str, row: int, write: Write, *, timestamp: str | None = None, **context: Any
) -> None:
    """A button of one record. Raises ``Conflict`` when it is not the version of ``timestamp`` any more."""
    for _ in range(_WARNINGS):
        try:
            await desk.rpc.act(f"model.{model}.{button}", [row], context={**stamped(model, row, timestamp), **context})
        except NeedsConfirmation as warning:
            if warning.token not in write.accepted and not any(told in warning.token for told in TOLD):
                raise
            await desk.rpc.act("model.res.user.warning.skip", warning.token, False)
        else:
            return
    raise Conflict("The Tryton server warns again and again.", hint="Do it in Tryton itself.")


async def write_to(desk: Desk, model: str, row: int, values: Mapping[str, Any], *, timestamp: str | None = None) -> str:
    """Writes fields of one record; its time stamp afterwards."""
    await desk.rpc.act(f"model.{model}.write", [row], dict(values), context=stamped(model, row, timestamp))
    return await timestamp_of(desk, model, row)


async def timestamp_of(desk: Desk, model: str, row: int) -> str:
    """The time stamp of a record now."""
    (found,) = await desk.rpc.read(model, [row], ["_timestamp"])
    return str(found["_timestamp"])


async def claim(desk: Desk, model: str, row: dict[str, Any], mark: Mark) -> str:
    """Writes a mark on a record that was read, before its button is pressed; the time stamp afterwards. Raises
    ``Conflict`` when somebody else was faster.
    """
    values = {"reference": with_mark(row["reference"], mark)}
    await desk.rpc.act(
        f"model.{model}.write", [row["id"]], values, context=stamped(model, row["id"], row["_timestamp"])
    )
    (now,) = await desk.rpc.read(model, [row["id"]], ["reference", "_timestamp"])
    if marks(now["reference"])[-1:] != [mark]:
        raise Conflict("Somebody else works on this document.", hint="Read it again.")
    row |= now
    return str(now["_timestamp"])
