"""Recalls for a message of a person what was said earlier and no longer reaches the model.

Invariant: it happens when the message is accepted, before it is recorded; what was found is part of the message from
then on. A store that cannot look anything up costs the fragments, never the message.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from msgspec import structs

from . import events as ev
from .config import LoopConfig
from .context.ladder import next_cut
from .context.passages import Passage
from .context.recall import fragments, gone, said_before
from .errors import StoreError
from .fold import message_text
from .messages import Message
from .session import Session
from .sizes import message_size
from .state import Entry, State

_logger = logging.getLogger(__name__)

LEAST = 0.25
"""Part of a message that a passage has to have in common with it to be recalled unasked."""
LONGEST_QUESTION = 4000
"""Characters of a message that are taken as a question."""


async def with_recalled(
    session: Session, events: Sequence[ev.DurableEvent], config: LoopConfig, tool_tokens: int
) -> list[ev.DurableEvent]:
    """The events, messages of people with what was recalled for them."""
    return [
        await _with_recalled(session, event, config, tool_tokens) if isinstance(event, ev.UserMessage) else event
        for event in events
    ]


async def _with_recalled(
    session: Session, said: ev.UserMessage, config: LoopConfig, tool_tokens: int
) -> ev.UserMessage:
    state, policy = session.state, config.context
    within = gone(state, all_old=_will_be_cut(state, said, config, tool_tokens))
    question = _question(said)
    if not within or not question or policy.recall_top_k <= 0:
        return said
    try:
        found = await session.store.recall(
            session.session_id, question, within=within, limit=2 * policy.recall_top_k, least=LEAST, now=session.clock()
        )
    except StoreError as error:
        _logger.warning("nothing could be recalled in session %s: %s", session.session_id, error)
        return said
    return structs.replace(said, context=(*said.context, *fragments(found, question, state, policy)))


async def recall(session: Session, query: str, limit: int) -> list[Passage]:
    """What was said before the newest message of a person, for the tool ``recall``."""
    return await session.store.recall(
        session.session_id,
        query[:LONGEST_QUESTION],
        within=said_before(session.state),
        limit=limit,
        now=session.clock(),
    )


def _will_be_cut(state: State, said: ev.UserMessage, config: LoopConfig, tool_tokens: int) -> bool:
    """Whether the context will be compacted before this message is answered."""
    message = Message("user", message_text(said.content, said.context))
    size = message_size(message)
    coming = structs.replace(
        state, entries=[*state.entries, Entry(state.seq + 1, message, size)], size=state.size.plus(size)
    )
    return next_cut(coming, config.context, config.system_prompt, tool_tokens) is not None


def _question(said: ev.UserMessage) -> str:
    return " ".join(part.text for part in said.content if isinstance(part, ev.TextPart))[:LONGEST_QUESTION].strip()
