"""What can be read of a session besides its events: the transcript, requests, figures, reports."""

from __future__ import annotations

from typing import Any

from agent_core.events import Figure
from agent_core.trace.transcript import AnyItem

from .base import Answer


class Replay(Answer, frozen=True):
    """A session as a transcript; nothing is run again."""

    session_id: str
    head: int
    items: tuple[AnyItem, ...]


class StepRequest(Answer, frozen=True):
    """The request that a step sent: ``body`` is its exact text."""

    session_id: str
    seq: int
    body: str


class NumberedAnswer(Answer, frozen=True):
    """The check of one answer, as its ``AnswerChecked`` says."""

    seq: int
    answer_seq: int
    figures: tuple[Figure, ...]
    untraced: tuple[str, ...]


class Numbers(Answer, frozen=True):
    """Where the figures of the answers came from."""

    session_id: str
    answers: tuple[NumberedAnswer, ...]


class Report(Answer, frozen=True):
    """The result of a report tool: its data, and a chart as a Vega-Lite specification where it has one."""

    session_id: str
    seq: int
    call_id: str
    tool: str
    arguments: str
    at: float
    content: Any
    chart: dict[str, Any] | None


class ReportList(Answer, frozen=True):
    """The newest first."""

    reports: tuple[Report, ...]
