"""Renders recorded requests anew and says where the bytes differ.

Invariant: pure. A request is only held to a form that it shows: the profile recorded with it, else the canonical one if
its frame is written that way; what other clients send is taken as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ..events import Manifest
from ..messages import Message, ToolSchema
from ..model import wire
from ..requests import Form
from ..state import State, content_hash

_Frame = tuple[str, str, str]


class Renderer:
    """Remembers what it rendered, since each request extends the one before it."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = contents
        self._key: tuple[str | None, str] | None = None
        self._rendered: dict[int, tuple[Message, bytes, str]] = {}

    def differences(self, state: State, manifest: Manifest, messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
        """(recorded, now) of the first message, of the frame and of the tools that would be written otherwise."""
        form = self._form_of(manifest)
        if form is None:
            return
        if self._key != (manifest.form, state.salt):
            self._rendered, self._key = {}, (manifest.form, state.salt)
        recorded = [*(state.manifest if manifest.base is not None else ()), *manifest.added]
        prepared = wire.prepare(messages, form.profile)
        now = [self._render(message, form, state.salt) for message in prepared]
        names = [name for _, name in now]
        if names != recorded:
            yield self._first(recorded, now)
        elif (manifest.base is not None) != bool(state.manifest_seq and names[: len(state.manifest)] == state.manifest):
            yield f"a request from event {manifest.base}", "another beginning of the same request"
        if (tools := self._contents.get(manifest.tools or "")) is not None:
            again = _tools_again(tools, form)
            if again != tools:
                yield tools.decode(), again.decode()

    def _render(self, message: Message, form: Form, salt: str) -> tuple[bytes, str]:
        known = self._rendered.get(id(message))
        if known is None or known[0] is not message:
            data = wire.render_message(message, form.profile, form.origin)
            known = self._rendered[id(message)] = (message, data, content_hash(data, salt))
        return known[1], known[2]

    def _first(self, recorded: Sequence[str], now: Sequence[tuple[bytes, str]]) -> tuple[str, str]:
        """The first message that differs, as text where it is kept."""
        for position in range(max(len(recorded), len(now))):
            old = recorded[position] if position < len(recorded) else None
            new = now[position] if position < len(now) else None
            if old != (new[1] if new is not None else None):
                before = "no message" if old is None else self._contents.get(old, old.encode()).decode()
                after = "no message" if new is None else new[0].decode()
                return f"message {position + 1}: {before}", f"message {position + 1}: {after}"
        return "the same messages", "the same messages"

    def _form_of(self, manifest: Manifest) -> Form | None:
        if manifest.form is not None:
            data = self._contents.get(manifest.form)
            return None if data is None else msgspec.json.decode(data, type=Form)
        data = self._contents.get(manifest.frame)
        if data is None:
            return None
        frame = msgspec.json.decode(data, type=_Frame)
        return Form() if frame == _canonical_frame(frame) else None


def _canonical_frame(frame: _Frame) -> _Frame | None:
    """The frame as the canonical form would write it, from what it says."""
    has_tools = frame[1] != "]"
    try:
        body: dict[str, Any] = msgspec.json.decode(f"{frame[0]}{frame[1]}{'[]' if has_tools else ''}{frame[2]}")
    except msgspec.DecodeError:
        return None
    options = {key: value for key, value in body.items() if key not in ("model", "messages", "tools", "stream")}
    options.pop("stream_options", None)
    return wire.frame(str(body.get("model", "")), options, has_tools)


def _tools_again(tools: bytes, form: Form) -> bytes:
    try:
        raw = msgspec.json.decode(tools)
        told = [one["function"] for one in raw]
        schemas = [ToolSchema(one["name"], one["description"], one["parameters"]) for one in told]
    except (msgspec.MsgspecError, KeyError, TypeError):
        return tools
    return wire.render_tools(schemas, form.profile)
