"""Builds the messages of the next request from the state, and says how large it is.

Invariant: pure, and stable by prefix: unless the log says that the context was compacted, what was built for one step
is the beginning of what is built for the next. Each tool call is followed by exactly one result, whatever happened to
it. What it costs depends on what reaches the model, never on the length of the session.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from msgspec import Struct

from ..config import ContextPolicy
from ..messages import Message
from ..sizes import CONSERVATIVE, Rates, Size, ceil_tokens, message_size, rates_of, text_size
from ..state import State
from .front import NOTED, STOPPED, follows_no_answer

_UNANSWERED = '{"error":{"type":"cancelled","message":"The call was not carried out."}}'
_NOTED = message_size(NOTED)


class Request(Struct, frozen=True):
    """What is sent next, its estimated tokens (tool schemas included), and how many there may be."""

    messages: list[Message]
    tokens: int
    budget: int


def build_context(state: State, policy: ContextPolicy, system_prompt: str = "", tool_tokens: int = 0) -> Request:
    """The next request: system prompt, what stands for what is older, recent turns in full (with what was recalled for
    them frozen in).
    """
    return Request(
        build_messages(state, system_prompt),
        request_tokens(state, system_prompt, tool_tokens),
        budget_of(state, policy),
    )


def build_messages(state: State, system_prompt: str) -> list[Message]:
    """The messages alone."""
    messages = [_message("system", system_prompt)] if system_prompt else []
    if state.front is not None:
        messages += [_message("user", state.front), NOTED]
    before = None
    for entry in state.entries:
        message = entry.message
        messages.append(_behind_a_stop(message.content or "") if follows_no_answer(before, entry) else message)
        for call in entry.calls:
            messages.append(call.result or Message("tool", _UNANSWERED, tool_call_id=call.call.id))
        before = entry
    return messages


@functools.lru_cache(maxsize=64)
def _behind_a_stop(text: str) -> Message:
    return Message("user", STOPPED + text)


@functools.lru_cache(maxsize=64)
def _message(role: str, text: str) -> Message:
    return Message(role, text)  # type: ignore[arg-type]  # one object for one text, so that it is rendered once


@functools.lru_cache(maxsize=64)
def _size_of_text(text: str) -> Size:
    return text_size(text, 1)


def budget_of(state: State, policy: ContextPolicy) -> int:
    """Tokens that a request may have: the policy's, or fewer where the endpoint was found to take fewer."""
    return policy.budget_tokens if state.ceiling is None else min(policy.budget_tokens, state.ceiling)


def rates_in(state: State) -> Rates:
    """The rates that the run was begun with."""
    return CONSERVATIVE if state.run is None else rates_of(state.run.calibration)


def frame_size(state: State, system_prompt: str) -> Size:
    """Everything before the recent turns: the system prompt and the front."""
    size = _size_of_text(system_prompt) if system_prompt else Size()
    if state.front is not None:
        size = size.plus(_size_of_text(state.front)).plus(_NOTED)
    return size


def request_tokens(state: State, system_prompt: str, tool_tokens: int) -> int:
    """Estimated tokens of the next request."""
    rates = rates_in(state)
    fixed = rates.tokens(frame_size(state, system_prompt)) + tool_tokens * rates.tools
    return ceil_tokens(fixed + rates.tokens(state.size))


def features(state: State, system_prompt: str, tool_tokens: int) -> Mapping[str, float]:
    """What the reported tokens of a request are learnt from (see ``calibration``)."""
    size = state.size.plus(frame_size(state, system_prompt))
    return {"wide": size.wide, "latin": size.other, "message": size.parts, "tools": tool_tokens}
