"""What can be read of a session besides its events: the transcript, requests, figures, reports, files."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path as File
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import Response, StreamingResponse

from agent_core import events as ev
from agent_core.store.export import export_session
from agent_core.trace.builder import transcript_of_log
from agent_core.trace.jsonl import trace_session
from erpilot.cli.problems import Problem
from erpilot.cli.show import rebuild

from ..asked import Asker, Own, Said, TheHouse, gives, problems, told
from ..cards import Card
from ..problems import Trouble
from ..reports import reports_of
from ..wire import NumberedAnswer, Numbers, Replay, Report, ReportList, StepRequest

router = APIRouter(tags=["looking back"])

_FILE: Said = {
    200: {
        "description": "JSON lines, as a file.",
        "content": {
            "application/x-ndjson": {"schema": {"type": "string"}, "example": '{"format":"agent_core.session"}'}
        },
    },
    **problems(404, 410),
}


@router.get(
    "/api/sessions/{session_id}/replay",
    operation_id="replay",
    summary="The session as a transcript",
    responses=gives(Replay, "Nothing is run again.", also=(404, 410)),
)
async def replay(house: TheHouse, card: Own) -> Response:
    """A call is one value with its whole fate; so is a question with its answer."""
    items = await transcript_of_log(house.store.read(card.session_id))
    return told(Replay(session_id=card.session_id, head=card.seq, items=tuple(items)))


@router.get(
    "/api/sessions/{session_id}/steps/{seq}",
    operation_id="stepRequest",
    summary="The request that a step sent",
    responses=gives(StepRequest, "Byte for byte.", also=(404, 410)),
)
async def step_request(
    house: TheHouse, card: Own, seq: Annotated[int, Path(ge=1, le=2**53, description="Event of the `StepStarted`.")]
) -> Response:
    """Rebuilt from the contents that the log names."""
    events = [item async for item in house.store.read(card.session_id)]
    started = next((item.event for item in events if item.seq == seq), None)
    if not isinstance(started, ev.StepStarted):
        raise Trouble("not-found", f"Event {seq} of session {card.session_id} is not the start of a step.")
    try:
        wire = await rebuild(house.store, card.session_id, events, started)
    except Problem:
        raise Trouble("damaged", "A part of the request is not kept any more.") from None
    return told(StepRequest(session_id=card.session_id, seq=seq, body=wire.body().decode()))


@router.get(
    "/api/sessions/{session_id}/numbers",
    operation_id="numbers",
    summary="Where the figures of the answers came from",
    responses=gives(Numbers, "One entry for each answer that was checked.", also=(404, 410)),
)
async def numbers(house: TheHouse, card: Own) -> Response:
    """`untraced` are figures that came from nowhere."""
    found = [
        NumberedAnswer(
            seq=item.seq or 0,
            answer_seq=item.event.answer_seq,
            figures=item.event.figures,
            untraced=item.event.untraced,
        )
        async for item in house.store.read(card.session_id)
        if isinstance(item.event, ev.AnswerChecked)
    ]
    return told(Numbers(session_id=card.session_id, answers=tuple(found)))


@router.get(
    "/api/sessions/{session_id}/reports",
    operation_id="sessionReports",
    summary="Results of report tools in a session",
    responses=gives(ReportList, "The newest first.", also=(404, 410)),
)
async def session_reports(house: TheHouse, card: Own) -> Response:
    """Their data, and a chart as a Vega-Lite specification where there is one."""
    return told(ReportList(reports=tuple(await reports_of(house.store, card.session_id))))


@router.get(
    "/api/reports",
    operation_id="listReports",
    summary="Results of report tools, over all sessions",
    responses=gives(ReportList, "The newest first."),
)
async def list_reports(
    house: TheHouse, user: Asker, limit: Annotated[int, Query(ge=1, le=200, description="The newest so many.")] = 50
) -> Response:
    """Those of the sessions that are yours to see."""
    found: list[Report] = []
    async for _, card in house.cards.listed():
        if card.reports and user.sees(card.owner, card.tenant):
            found += await reports_of(house.store, card.session_id)
    found.sort(key=lambda report: report.at, reverse=True)
    return told(ReportList(reports=tuple(found[:limit])))


@router.get(
    "/api/sessions/{session_id}/export",
    operation_id="exportSession",
    summary="The session as one self-contained file",
    response_class=Response,
    responses=_FILE,
)
async def export(
    house: TheHouse,
    card: Own,
    redact: Annotated[bool, Query(description="Mask what says who a person is.")] = False,
    until: Annotated[int | None, Query(ge=1, le=2**53, description="The last event in the file.")] = None,
) -> Response:
    """As `erpilot export` writes it, for `erpilot import-session` and `erpilot verify`."""
    if until is not None and until > card.seq:
        raise Trouble("invalid", f"The session has the events 1 to {card.seq}.")

    async def write(path: File) -> None:
        await export_session(house.store, card.session_id, path, until=until, redact=redact, secrets=house.secrets)

    return await _file(card, "jsonl", write)


@router.get(
    "/api/sessions/{session_id}/trace",
    operation_id="trace",
    summary="The session as a trace",
    response_class=Response,
    responses=_FILE,
)
async def trace(house: TheHouse, card: Own) -> Response:
    """As `erpilot trace export --format jsonl` writes it."""

    async def write(path: File) -> None:
        await trace_session(house.store, card.session_id, path)

    return await _file(card, "trace.jsonl", write)


async def _file(card: Card, ending: str, write: Callable[[File], Coroutine[Any, Any, None]]) -> Response:
    folder = tempfile.TemporaryDirectory(prefix="erpilot-")
    path = File(folder.name) / f"session.{ending}"
    try:
        await write(path)
    except BaseException:
        folder.cleanup()
        raise

    async def content() -> AsyncIterator[bytes]:
        with folder, path.open("rb") as file:
            while piece := await asyncio.to_thread(file.read, 64 * 1024):
                yield piece

    headers = {
        "content-disposition": f'attachment; filename="{card.session_id}.{ending}"',
        "cache-control": "no-store",
    }
    return StreamingResponse(content(), headers=headers, media_type="application/x-ndjson")
