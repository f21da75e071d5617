"""What the next request is made of, layer by layer, and why: for people who wonder what a model still knows.

Invariant: pure; read off the same state that requests are built from, so the tokens add up to the estimate of the step.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..config import ContextPolicy
from ..sizes import ceil_tokens, text_size, total
from ..state import Entry, State
from ..text import is_clipped
from .build import budget_of, frame_size, rates_in, request_tokens
from .front import is_masked

Layer = Literal["tools", "system", "summary", "recalled", "recent"]


class Part(Struct, frozen=True):
    """Something in the next request. ``count``: its messages, pinned facts, or fragments."""

    layer: Layer
    tokens: int
    first: int = 0
    last: int = 0
    """Events that it stands for."""
    count: int = 0
    text: str = ""
    """How it begins."""
    masked: int = 0
    clipped: int = 0
    """Results and messages of which a part, or all, is left out."""


class Report(Struct, frozen=True):
    """All parts, in the order of the request (what was recalled stands within the turns)."""

    parts: list[Part]
    tokens: int
    budget: int
    limited: bool
    """The endpoint was found to take fewer tokens than the policy allows."""
    pinned: tuple[str, ...]
    doubts: int
    summary: str | None


def describe(state: State, policy: ContextPolicy, system_prompt: str, tool_tokens: int) -> Report:
    """The next request as it would be built now."""
    rates = rates_in(state)
    system = text_size(system_prompt, 1)
    parts = [Part("system", ceil_tokens(rates.tokens(system)), text=_opening(system_prompt))] if system_prompt else []
    if tool_tokens:
        parts.append(Part("tools", ceil_tokens(tool_tokens * rates.tools)))
    if state.front is not None:
        size = frame_size(state, system_prompt)
        tokens = rates.tokens(size.minus(system) if system_prompt else size)
        text = _opening(state.summary or state.front)
        parts.append(Part("summary", ceil_tokens(tokens), last=state.dropped, count=len(state.pinned), text=text))
    for turn in _turns(state):
        recalled = _recalled(turn)
        size = total(size for entry in turn for size in (entry.size, *(call.size for call in entry.calls)))
        results = [call.result.content or "" for entry in turn for call in entry.calls if call.result is not None]
        texts = [*results, *(entry.message.content or "" for entry in turn)]
        if recalled:
            brought = text_size("\n".join(recalled))
            size = size.minus(brought)
            parts.append(Part("recalled", ceil_tokens(rates.tokens(brought)), first=turn[0].seq, count=len(recalled)))
        parts.append(
            Part(
                "recent",
                ceil_tokens(rates.tokens(size)),
                first=turn[0].seq,
                last=max(max(entry.seq, *(call.result_seq for call in entry.calls), 0) for entry in turn),
                count=sum(1 + len(entry.calls) for entry in turn),
                text=_opening(turn[0].message.content or ""),
                masked=sum(map(is_masked, results)),
                clipped=sum(map(is_clipped, texts)),
            )
        )
    return Report(
        parts,
        request_tokens(state, system_prompt, tool_tokens),
        budget_of(state, policy),
        budget_of(state, policy) < policy.budget_tokens,
        state.pinned,
        len(state.doubts),
        state.summary,
    )


def _turns(state: State) -> list[list[Entry]]:
    turns: list[list[Entry]] = []
    for entry in state.entries:
        if not turns or (entry.message.role == "user" and not entry.note):
            turns.append([])
        turns[-1].append(entry)
    return turns


def _recalled(turn: list[Entry]) -> list[str]:
    lines = (turn[0].message.content or "").split("\n")
    return [line for line in lines if line.startswith("[recalled: ")]


def _opening(text: str) -> str:
    flat = " ".join(text[:300].split())
    return flat if len(flat) <= 60 else flat[:60] + "…"
