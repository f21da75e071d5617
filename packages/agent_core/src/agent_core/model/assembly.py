"""Puts one message together from its chunks.

Invariant: fragments are kept in lists and judged once, at the end; nothing about a message is decided by how its
chunks were cut. Absent, null and ``""`` are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import structs

from ..messages import ModelEvent, ReasoningDelta, StreamEnd, TextDelta, ToolCall, ToolSchema, Usage
from . import finish
from .arguments import judge, same_arguments
from .calls import CallTable, OpenCall
from .dialects import Written
from .names import bare_name, nine, resolve
from .reasoning import KEYS, ReasoningFields, plain_text
from .text import Snapshots, TextChannel
from .textcalls import Found, find_calls, holds_call
from .wire import clean, encode

_PLAIN_DELTA = frozenset({"content", "role"})


class Offer:
    """What the request offered: ``names`` maps names on the wire to the tools' own; ``taken``: call ids of the
    conversation."""

    __slots__ = ("names", "taken", "tools")

    def __init__(
        self,
        tools: Sequence[ToolSchema] = (),
        names: Mapping[str, str] | None = None,
        taken: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.names = {tool.name: tool.name for tool in tools} if names is None else names
        self.taken = taken


class Assembly:
    """One message. ``out`` receives what may be shown as it comes."""

    __slots__ = (
        "_audio",
        "_calls",
        "_has_audio",
        "_legacy",
        "_messages",
        "_offer",
        "_out",
        "_reasoning",
        "_reasoning_text",
        "_refusal",
        "_snapshots",
        "_thought",
        "_told",
        "channel",
        "raw_finish",
    )  # fmt: skip

    def __init__(self, offer: Offer, out: list[ModelEvent]) -> None:
        self._offer = offer
        self._out = out
        self.channel = TextChannel(bool(offer.tools), out)
        self._snapshots = Snapshots()
        self._thought = Snapshots()
        self._calls = CallTable(offer.names)
        self._reasoning = ReasoningFields()
        self._reasoning_text: list[str] = []
        self._refusal: list[str] = []
        self._audio: list[str] = []
        self._has_audio = False
        self._legacy: OpenCall | None = None
        self._messages: list[dict[str, Any]] = []
        self._told = False
        self.raw_finish: str | None = None

    # --- reading ---

    def choice(self, choice: dict[str, Any]) -> None:
        """Takes a choice of a chunk, or of a whole completion."""
        delta = choice.get("delta")
        if type(delta) is dict and delta:
            self.delta(delta)
        elif type(delta) is str and delta:
            self.delta({"content": delta})
        message = choice.get("message")
        if isinstance(message, dict):
            self._messages.append(message)  # a summary, unless no delta brings anything
        elif isinstance(text := choice.get("text"), str) and text and not delta:
            self.delta({"content": text})
        reason = choice.get("finish_reason")
        if reason and isinstance(reason, str):
            self.raw_finish = reason

    def delta(self, delta: dict[str, Any]) -> None:
        """Takes a delta, or a message."""
        content = delta.get("content")
        if type(content) is str:
            seen = self._snapshots
            if 0 < len(content) < seen.length:  # too short to repeat what came before
                seen.pieces.append(content)
                seen.length += len(content)
                self.channel.add(content)
            elif content and (content := seen.new(content)):
                self._told = True
                self.channel.add(content)
        elif content is not None:
            self._parts(content)
        if (len(delta) == 1 and content is not None) or delta.keys() <= _PLAIN_DELTA:
            return
        calls = delta.get("tool_calls")
        if calls:
            for item in calls if isinstance(calls, list) else [calls]:
                if isinstance(item, dict):
                    self._told = True
                    self._calls.add(item)
        if not delta.keys().isdisjoint(KEYS):
            self._think(self._reasoning.read(delta))
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            self._told = True
            self._refusal.append(refusal)
        if audio := delta.get("audio"):
            self._has_audio = self._told = True
            if isinstance(audio, dict) and isinstance(spoken := audio.get("transcript"), str):
                self._audio.append(spoken)
        legacy = delta.get("function_call")
        if isinstance(legacy, dict) and (legacy.get("name") or legacy.get("arguments")):
            self._told = True
            self._calls.add({"function": legacy})

    def call(self, item: dict[str, Any], offset: int) -> None:
        """Takes a call of another choice that belongs to this message."""
        index = item.get("index")
        self._told = True
        self._calls.add({**item, "index": offset + index if isinstance(index, int) else None})

    def _think(self, text: str) -> None:
        if text and (text := self._thought.new(text)):
            self._told = True
            cleaned = str(clean(text))
            self._reasoning_text.append(cleaned)
            self._out.append(ReasoningDelta(text=cleaned))

    def _parts(self, content: Any) -> None:
        """Content as typed parts, mixed with plain strings."""
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, str):
                self.delta({"content": part})
            elif isinstance(part, dict):
                kind = str(part.get("type") or "")
                if "think" in kind or "reason" in kind:
                    self._think(plain_text(part.get("thinking") or part.get("reasoning") or part))
                elif kind == "refusal":
                    self.delta({"refusal": part.get("refusal")})
                elif text := plain_text(part.get("text") or part.get("content")):
                    self.delta({"content": text})
            elif isinstance(part, (int, float)) and not isinstance(part, bool):
                self.delta({"content": str(part)})

    # --- what is there ---

    @property
    def is_silent(self) -> bool:
        """Neither text nor reasoning came so far."""
        return not self._snapshots.pieces and not self._reasoning_text and not self._messages

    @property
    def started(self) -> int:
        """How many calls were begun."""
        return len(self._calls.in_order())

    def reasoning(self) -> str:
        """All reasoning so far."""
        return "".join(self._reasoning_text) + "".join(self.channel.reasoning)

    def end(self, usage: Usage | None) -> tuple[list[ToolCall], StreamEnd]:
        """Judges everything; what was held back goes to ``out``."""
        if not self._told:
            for message in _distinct(self._messages):
                self.delta(message)
        opened = self._calls.in_order()
        found = self.channel.close(self._find, may_call=not opened)
        flags: list[str] = []
        taken = set(self._offer.taken()) if opened or found.calls else set()
        if opened:
            calls = [self._structured(call) for call in opened]
            if found.calls:
                flags.append("text_markup_removed")
        else:
            calls = [_from_text(name, written) for name, written in found.calls]
            if calls:
                flags.append("text_tool_call")
        if found.unfinished:
            flags.append("unfinished_text_call")
        calls = self._with_ids(calls, taken, flags)
        if _has_twins(calls):
            flags.append("identical_calls")
        refusal = "".join(self._refusal) or None
        reasoning = self.reasoning()
        told = finish.meaning(self.raw_finish)
        has_text = bool(found.text.strip())
        if told == "tool_calls" and not calls:
            flags.append("announced_calls_missing")
        if told == "content_filter":
            flags.append("filtered")
        if told == "overflow":
            flags.append("context_overflow")
        if refusal:
            flags.append("refused")
        if self._has_audio:
            flags.append("audio")
        if not (has_text or refusal or calls or self._has_audio):
            flags.append("reasoning_only" if reasoning.strip() else "empty_response")
            if reasoning.strip() and self._offer.tools and holds_call(reasoning, self._offer.tools, self._offer.names):
                flags.append("call_in_reasoning")
        end = StreamEnd(
            usage=usage,
            finish_reason=finish.normalised(self.raw_finish, bool(calls)),
            raw_finish_reason=self.raw_finish,
            refusal=refusal,
            flags=tuple(flags),
            replay=self._reasoning.replay("".join(self._reasoning_text)),
            audio_transcript="".join(self._audio) or None,
        )
        return calls, end

    def alternative(self, index: int) -> dict[str, Any]:
        """This message as one of several choices."""
        calls, end = self.end(None)
        text = "".join(event.text for event in self._out if isinstance(event, TextDelta))
        return {
            "index": index,
            "text": text,
            "finish_reason": end.finish_reason,
            "tool_calls": [call.name for call in calls],
        }

    def _find(self, text: str) -> Found:
        return find_calls(text, self._offer.tools, self._offer.names)

    def _structured(self, opened: OpenCall) -> ToolCall:
        name = resolve(opened.name, self._offer.names)
        verdict = judge(opened.arguments)
        return ToolCall(
            id=opened.id,
            name=opened.name if name is None else name,
            arguments=verdict.arguments,
            raw_name=opened.name if name not in (None, opened.name, self._offer.names.get(opened.name)) else None,
            repaired=verdict.repaired,
            known=name is not None,
            error=verdict.error,
            raw_arguments=verdict.raw,
            extra=opened.extra,
        )

    def _with_ids(self, calls: list[ToolCall], taken: set[str], flags: list[str]) -> list[ToolCall]:
        """Every call with an id that no other call of the conversation has; an id that was taken is replaced."""
        result = []
        before = len(taken)
        for position, call in enumerate(calls):
            if not call.id or call.id in taken:
                if call.id and "duplicate_call_id" not in flags:
                    flags.append("duplicate_call_id")
                attempt = 0
                while (made := nine(f"{before}/{position}/{attempt}/{call.name}/{call.arguments}")) in taken:
                    attempt += 1
                call = structs.replace(call, id=made)
            taken.add(call.id)
            result.append(call)
        return result


def _distinct(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Only the last of several messages that each repeat the text of the one before; else all, as pieces."""
    texts = [message.get("content") for message in messages]
    grow = all(
        isinstance(one, str) and isinstance(other, str) and other.startswith(one) for one, other in pairwise(texts)
    )
    return messages[-1:] if grow else messages


def _from_text(name: str, written: Written) -> ToolCall:
    return ToolCall(
        id=written.id or "",
        name=name,
        arguments=encode(clean(written.arguments)).decode(),
        raw_name=None if bare_name(written.name) == name else written.name,
    )


def _has_twins(calls: list[ToolCall]) -> bool:
    by_name: dict[str, list[str]] = {}
    for call in calls:
        if call.error is None:
            by_name.setdefault(call.name, []).append(call.arguments)
    for texts in by_name.values():
        if len(texts) > 1:
            if len(set(texts)) < len(texts):
                return True
            if len(texts) <= 64 and any(same_arguments(a, b) for i, a in enumerate(texts) for b in texts[:i]):
                return True
    return False
