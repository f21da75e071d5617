"""Other ways for a session to go on, and how two of them differ."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta, Raw

from agent_core.messages import Usage

from .base import Answer, Body, Seq


class Fork(Body, frozen=True):
    """``at``: the event to go on from, 1 to the head of the session."""

    at: Seq


class Forked(Answer, frozen=True):
    """The new session."""

    session_id: str
    parent: str
    parent_seq: int


class RollBack(Body, frozen=True):
    """``to``: the event to go back to."""

    to: Seq
    reason: Annotated[str, Meta(max_length=4000)] | None = None
    undo: bool = False
    """Also take back the writes behind it, each asked like any write."""


class Compensation(Answer, frozen=True):
    """A write, and what would take it back; ``why_not`` where nothing would."""

    seq: int
    tool: str
    arguments: str
    undo_tool: str | None
    undo_arguments: str | None
    why_not: str | None


class UndoPlan(Answer, frozen=True):
    """The writes behind event ``to``, the newest first."""

    session_id: str
    to: int
    writes: tuple[Compensation, ...]


class RolledBackTo(Answer, frozen=True):
    """The conversation goes on from ``to``; ``writes``: what the way back did not undo, the newest first."""

    session_id: str
    to: int
    head: int
    writes: tuple[Compensation, ...]


class DiffEffect(Answer, frozen=True):
    """A call that changed something, or may have."""

    seq: int
    tool: str
    arguments: str
    outcome: Literal["done", "uncertain"]


class DiffSide(Answer, frozen=True):
    """What one session did since they parted."""

    session_id: str
    head: int
    steps: int
    usage: Usage
    costs: dict[str, Decimal]
    effects: tuple[DiffEffect, ...]


class DiffRow(Answer, frozen=True):
    """One event of each, side by side (``Recorded``); null where the other one has nothing like it."""

    a: Raw | None
    b: Raw | None
    same: bool


class Diff(Answer, frozen=True):
    """``common``: the last event that both have, 0 when there is none."""

    common: int
    a: DiffSide
    b: DiffSide
    rows: tuple[DiffRow, ...]
