"""Builds the messages of the next request from the state, and says when the conversation has outgrown its budget.

Invariant: pure, and stable by prefix: unless the log says that the context was compacted, what was built for one step
is the beginning of what is built for the next. Each tool call is followed by exactly one result, whatever happened to
it.
"""

from __future__ import annotations

import functools
import itertools

from ..config import ContextPolicy
from ..events import ContextCompacted
from ..messages import Message
from ..state import Entry, State
from .tokens import PER_MESSAGE, estimate_text

_DROPPED = "[Earlier messages of this conversation are left out here: they no longer fit.]"
_NO_ANSWER = Message("assistant", "[No answer was given: the run stopped here.]")
_UNANSWERED = '{"error":{"type":"cancelled","message":"The call was not carried out."}}'


def build_messages(state: State, system_prompt: str) -> list[Message]:
    """System prompt, a notice when older turns are gone, then the conversation."""
    system = _system(state, system_prompt)
    messages = [_system_message(system)] if system else []
    user_is_next = True  # between two turns of a person stands something of the assistant, so that roles alternate
    for entry in state.entries:
        message = entry.message
        if message.role == "user":
            if not user_is_next:
                messages.append(_NO_ANSWER)
            messages.append(message)
            user_is_next = False
            continue
        messages.append(message)
        for call in entry.calls:
            messages.append(call.result or Message("tool", _UNANSWERED, tool_call_id=call.call.id))
        user_is_next = not entry.calls
    return messages


def _system(state: State, system_prompt: str) -> str:
    parts = [system_prompt, state.summary or "", _DROPPED if state.dropped and not state.summary else ""]
    return "\n\n".join(part for part in parts if part)


@functools.lru_cache(maxsize=64)
def _system_message(text: str) -> Message:
    return Message("system", text)  # one object for one text, so that it is rendered once


@functools.lru_cache(maxsize=64)
def _system_tokens(text: str) -> int:
    return estimate_text(text)


def request_tokens(state: State, system_prompt: str, tool_tokens: int) -> int:
    """Estimated tokens of the next request."""
    total = _fixed_tokens(state, system_prompt, tool_tokens)
    for entry in state.entries:
        total += entry.tokens
        for call in entry.calls:
            total += call.tokens
    return total


def entry_tokens(entry: Entry) -> int:
    """Estimated tokens of a message and the results of its calls."""
    return entry.tokens + sum(call.tokens for call in entry.calls)


def compaction(state: State, policy: ContextPolicy, system_prompt: str, tool_tokens: int) -> ContextCompacted | None:
    """What has to go before the next request fits, or None: first single results are clipped, then whole turns dropped.

    A turn begins with a message of a person and is never split; the newest one stays. Raises nothing: when even the
    newest turn is too large after clipping, the request goes out as it is and the endpoint has the last word.
    """
    if request_tokens(state, system_prompt, tool_tokens) <= policy.budget_tokens:
        return None
    return _clipping(state, policy) or _dropping(state, policy, system_prompt, tool_tokens)


def _clipping(state: State, policy: ContextPolicy) -> ContextCompacted | None:
    limit = int(policy.budget_tokens * policy.clip_share)
    texts = [(estimate_text(text), len(text), entry.seq) for entry in state.entries for text in _texts(entry)]
    too_large = [one for one in texts if one[0] > limit and _kept(one, limit) + _NOTICE < one[1]]
    if not too_large:
        return None
    places = [seq for _, _, seq in too_large]
    keep = _kept(max(too_large), limit)
    return ContextCompacted(kind="clipped", from_seq=min(places), to_seq=max(places), keep=keep)


_NOTICE = 200
"""Characters, more than the notice of a clipping takes: a text is clipped only where that makes it shorter."""


def _kept(text: tuple[int, int, int], limit: int) -> int:
    tokens, length, _ = text
    return int(length * limit / tokens * 0.8)


def _dropping(state: State, policy: ContextPolicy, system_prompt: str, tool_tokens: int) -> ContextCompacted | None:
    notice = 0 if state.dropped else estimate_text(_DROPPED)
    room = policy.budget_tokens * policy.drop_to - _fixed_tokens(state, system_prompt, tool_tokens) - notice
    starts = [index for index, entry in enumerate(state.entries) if entry.message.role == "user" and not entry.note]
    sizes = [entry_tokens(entry) for entry in state.entries]
    remaining = sum(sizes)
    cut = 0
    for start, following in itertools.pairwise(starts):
        if remaining <= room:
            break
        remaining -= sum(sizes[start:following])
        cut = following
    if cut == 0:
        return None
    return ContextCompacted(kind="dropped", from_seq=state.entries[0].seq, to_seq=state.entries[cut].seq - 1)


def _fixed_tokens(state: State, system_prompt: str, tool_tokens: int) -> int:
    return PER_MESSAGE + _system_tokens(_system(state, system_prompt)) + tool_tokens


def _texts(entry: Entry) -> list[str]:
    """What of an entry can be clipped: its text and the results of its calls."""
    results = [call.result.content for call in entry.calls if call.result is not None]
    return [text for text in (entry.message.content, *results) if text]
