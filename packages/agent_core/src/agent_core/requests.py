"""Turns messages into the request that is sent and the manifest that lets it be rebuilt byte for byte.

Invariant: each message is rendered once and stored once, by hash; a manifest names the one before and what was added,
so a log of n steps grows linearly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from .config import Environment, LoopConfig, Price
from .events import Manifest
from .messages import Message, ModelClient, Wire, WireModel, model_name
from .model import wire as canonical
from .model.profile import DEFAULT, Profile
from .state import State, content_hash
from .store.base import SHARED
from .tools.registry import Registry


def shared_name(data: bytes) -> str:
    """Name of a content that many sessions share."""
    return SHARED + content_hash(data)


class Form(Struct, frozen=True, omit_defaults=True):
    """How a client writes requests: with which profile, and which provider keys belong to it."""

    profile: Profile = DEFAULT
    origin: str | None = None


class RequestBuilder:
    """Builds the requests of one session for one model. Remembers what it rendered and what is stored already."""

    def __init__(
        self,
        model: ModelClient,
        wire_model: WireModel | None,
        registry: Registry,
        options: dict[str, Any],
        salt: str,
    ) -> None:
        self._model, self._wire_model, self._registry = model, wire_model, registry
        self._options, self._salt = options, salt
        self._stored: set[str] = set()
        self.forget()

    def forget(self) -> None:
        """Renders everything anew: the client has learnt something about its endpoint."""
        self._messages: list[Message] = []
        """Of the last request; ``_rendered`` and ``_names`` belong to them, one by one."""
        self._rendered: list[bytes] = []
        self._names: list[str] = []
        schemas = self._registry.schemas
        if self._wire_model is not None:
            self._render = self._wire_model.render_message
            self.tools = self._wire_model.render_tools(schemas)
            self.frame = self._wire_model.frame(bool(schemas), **self._options)
        else:
            self._render = canonical.render_message
            self.tools = canonical.render_tools(schemas)
            self.frame = canonical.frame(model_name(self._model), self._options, bool(schemas))
        self._frame_data = msgspec.json.encode(self.frame)
        self._frame_name = shared_name(self._frame_data)
        self._tools_name = shared_name(self.tools) if self.tools else None
        self._form_data = b""
        if isinstance(profile := getattr(self._wire_model, "profile", None), Profile):
            self._form_data = msgspec.json.encode(Form(profile, getattr(self._wire_model, "origin", None)))
        self._form_name = shared_name(self._form_data) if self._form_data else None

    def build(self, state: State, messages: Sequence[Message]) -> tuple[Wire, Manifest, dict[str, bytes]]:
        """The request, its manifest, and the contents to store with it."""
        if self._wire_model is not None:
            messages = self._wire_model.prepare(messages)
        self._render_new(list(messages))
        names, stored = self._names, self._stored
        contents = {name: data for name, data in zip(names, self._rendered, strict=True) if name not in stored}
        for name, data in (
            (self._frame_name, self._frame_data),
            (self._tools_name, self.tools),
            (self._form_name, self._form_data),
        ):
            if name is not None and name not in self._stored:
                contents[name] = data
        before = state.manifest
        extends = bool(state.manifest_seq) and names[: len(before)] == before
        manifest = Manifest(
            added=tuple(names[len(before) :] if extends else names),
            frame=self._frame_name,
            tools=self._tools_name,
            base=state.manifest_seq if extends else None,
            form=self._form_name,
        )
        return Wire(self.frame, tuple(self._rendered), self.tools), manifest, contents

    def _render_new(self, messages: list[Message]) -> None:
        """Renders what follows the last request; everything, where the messages do not begin with those of it."""
        if messages[: len(self._messages)] != self._messages:
            self._rendered, self._names = [], []
        for message in messages[len(self._rendered) :]:
            data = self._render(message)
            self._rendered.append(data)
            self._names.append(content_hash(data, self._salt))
        self._messages = messages

    def sent(self, contents: Iterable[str]) -> None:
        """These contents are stored now."""
        self._stored.update(contents)


def environment(
    config: LoopConfig, model: ModelClient, registry: Registry, tools: bytes, price: Price | None
) -> tuple[str, dict[str, bytes]]:
    """The name of what a run's decisions depend on, and the contents behind it."""
    system = config.system_prompt.encode()
    system_name = shared_name(system)
    tools_name = shared_name(tools) if tools else None
    value = Environment(
        config=msgspec.structs.replace(config, system_prompt=""),
        model=model_name(model),
        tools=registry.rules,
        system=system_name,
        tool_set=tools_name,
        tool_tokens=registry.tokens,
        price=price,
    )
    data = msgspec.json.encode(value)
    name = shared_name(data)
    contents = {name: data, system_name: system}
    if tools_name is not None:
        contents[tools_name] = tools
    return name, contents
