"""``erpilot show``: a session event by event, one step in full, and the exact request of a step.

Invariant: a request is put together from what the log names and the store holds, with no knowledge of the endpoint.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from agent_core import events as ev
from agent_core.codec import type_name
from agent_core.messages import Wire
from agent_core.trace.builder import TranscriptBuilder
from agent_core.trace.transcript import AnyItem, Ended, Step, Use

from .context import error_text, print_context
from .desk import Desk, resolve
from .doubts import doubt_lines
from .gate import HIDDEN
from .lines import SHORT, Lines, lines_of
from .numbers import print_numbers
from .problems import STORAGE, USAGE, Problem
from .replay import print_transcript

if TYPE_CHECKING:
    from agent_core.store.base import EventStore


def show(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_show(desk, parsed))


async def _show(desk: Desk, parsed: argparse.Namespace) -> int:
    async with desk.open_store() as store:
        session = await resolve(store, parsed.session)
        if parsed.context:
            await print_context(desk, store, session)
            return 0
        events = [item async for item in store.read(session)]
        if desk.verbose:
            events = await _with_whole_outputs(store, session, events)
        if parsed.numbers:
            print_numbers(desk, session, events)
            return 0
        builder = TranscriptBuilder()
        requests: dict[int, ev.StepStarted] = {}
        for item in events:
            touched = builder.add(item)
            if isinstance(item.event, ev.StepStarted) and touched and isinstance(touched[0], Step):
                requests[touched[0].ordinal] = item.event  # of several attempts, the last
        if parsed.step is None and not parsed.prompt:
            _print_events(desk, session, events, builder.items)
            return 0
        number = len(requests) if parsed.step is None else parsed.step
        if not requests:
            raise Problem(USAGE, "no_steps", session=session)
        if number not in requests:
            raise Problem(USAGE, "no_such_step", session=session, count=len(requests), step=number)
        wire = await rebuild(store, session, events, requests[number])
        if parsed.prompt:
            _print_body(desk, wire)
        else:
            _print_step(desk, lines_of(desk), builder.items, number, requests[number], wire)
    return 0


async def rebuild(store: EventStore, session: str, events: list[ev.Recorded], step: ev.StepStarted) -> Wire:
    """The request of a step, byte for byte."""
    manifests = {item.seq: item.event.request for item in events if isinstance(item.event, ev.StepStarted)}
    manifest, names = step.request, list(step.request.added)
    while manifest.base is not None:
        if manifest.base not in manifests:
            raise Problem(STORAGE, "content_missing")
        manifest = manifests[manifest.base]
        names = [*manifest.added, *names]
    tools = step.request.tools
    wanted = {*names, step.request.frame, *([tools] if tools else [])}
    contents = await store.contents(session, wanted)
    if wanted - contents.keys():
        raise Problem(STORAGE, "content_missing")
    frame = msgspec.json.decode(contents[step.request.frame], type=tuple[str, str, str])
    return Wire(frame, tuple(contents[name] for name in names), contents[tools] if tools else b"")


async def _with_whole_outputs(store: EventStore, session: str, events: list[ev.Recorded]) -> list[ev.Recorded]:
    """The events with every output as the tool gave it, also where the model was given a part."""
    cut = {
        item.seq: item.event.truncated.whole
        for item in events
        if isinstance(item.event, ev.ToolCallFinished) and item.event.truncated and item.event.truncated.whole
    }
    kept = await store.contents(session, set(cut.values()))
    shown = []
    for item in events:
        if isinstance(item.event, ev.ToolCallFinished) and (name := cut.get(item.seq, "")) in kept:
            whole = structs.replace(item.event, content=kept[name].decode(errors="replace"), truncated=None)
            item = structs.replace(item, event=whole)
        shown.append(item)
    return shown


def _print_body(desk: Desk, wire: Wire) -> None:
    text = wire.body().decode("utf-8", "surrogatepass")
    if escaped := len(HIDDEN.findall(text)):
        desk.terminal.note(desk.texts("prompt_escaped", count=escaped), "quiet")
    desk.terminal.json(text)


def _print_events(desk: Desk, session: str, events: list[ev.Recorded], items: list[AnyItem]) -> None:
    newest = items[-1] if items else None
    state = desk.texts("state_running")
    if isinstance(newest, Ended):
        state = desk.texts.get(f"reason_{newest.reason}", newest.reason)
    desk.terminal.line(desk.texts("show_session", session=session, count=len(events), state=state))
    rows = [[str(item.seq), desk.time(item.at), type_name(item.event), _gist(desk, item)] for item in events]
    desk.terminal.table([desk.texts(f"head_{name}") for name in ("seq", "at", "type", "what")], rows)
    for text, style in doubt_lines(desk, lines_of(desk), session, items):
        desk.terminal.note(text, style)
    desk.terminal.note(desk.texts("show_hint", session=session), "quiet")


def _gist(desk: Desk, item: ev.Recorded) -> str:
    """An event in a line: its fields but those that say nothing."""
    if isinstance(item.event, ev.UnknownEvent):
        text = item.event.payload.decode(errors="replace")
    else:
        fields = msgspec.to_builtins(item.event)
        kept = {
            name: value
            for name, value in fields.items()
            if name not in ("type", "v", "salt") and value not in (None, "", (), {})
        }
        text = " ".join(
            f"{name}={value if isinstance(value, str) else msgspec.json.encode(value).decode()}"
            for name, value in kept.items()
        )
    return text if desk.verbose or len(text) <= SHORT else text[:SHORT] + desk.texts("more", count=len(text) - SHORT)


def _print_step(
    desk: Desk, lines: Lines, items: list[AnyItem], number: int, started: ev.StepStarted, wire: Wire
) -> None:
    say, texts = desk.terminal.line, desk.texts
    size, tokens = len(wire.body()), started.estimated_tokens
    say(texts("request_of_step", step=number, messages=len(wire.messages), size=size, tokens=tokens), "quiet")
    usage = next((item.usage for item in items if isinstance(item, Step) and item.ordinal == number), None)
    if usage is not None and (reported := usage.prompt_tokens):
        say(texts("step_error", reported=reported, error=error_text(tokens, reported)), "quiet")
    for rendered in wire.messages:
        say(f"  {lines.cut(_message_text(rendered))}")
    if names := _tool_names(wire.tools):
        say("  " + texts("request_tools", names=", ".join(names)), "quiet")
    say(f"  {texts('request_frame')}: {lines.cut(''.join(wire.frame))}", "quiet")
    step_items: list[AnyItem] = [
        item
        for item in items
        if (isinstance(item, Step) and item.ordinal == number) or (isinstance(item, Use) and item.step == number)
    ]
    print_transcript(desk.terminal, lines, step_items, whole=False)


def _message_text(rendered: bytes) -> str:
    """A rendered message for the eye; as it stands when it is of a form that is not known."""
    try:
        message = msgspec.json.decode(rendered, type=dict[str, object])
    except msgspec.MsgspecError:
        return rendered.decode(errors="replace")
    role, content = message.pop("role", "?"), message.pop("content", None)
    rest = msgspec.json.encode(message).decode() if message else ""
    return f"{role}: {content if isinstance(content, str) else '' if content is None else content} {rest}".rstrip()


def _tool_names(tools: bytes) -> list[str]:
    try:
        decoded = msgspec.json.decode(tools or b"[]")
        return [str(entry["function"]["name"]) for entry in decoded]
    except (msgspec.MsgspecError, KeyError, TypeError):
        return []
