"""Has the oldest part of a conversation summarised, by a model or without one.

Invariant: whatever comes of it is one event: the summary, or that it failed. A crash before it leaves nothing behind,
and the range is summarised then by whoever goes on.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from . import events as ev
from .config import Price
from .context import summary as making
from .context.build import budget_of, rates_in
from .context.ladder import Summarise
from .errors import AgentError, ModelError
from .failpoint import failpoint
from .interrupt import Stopped
from .messages import ModelClient, StreamEnd, TextDelta, TextWithdrawn, Usage
from .text import encodable

if TYPE_CHECKING:
    from .config import ContextPolicy
    from .driver import Driver
    from .messages import Message

_logger = logging.getLogger(__name__)


class Summariser(Struct, frozen=True):
    """The model that summarises, and its price."""

    model: ModelClient
    price: Price | None = None

    @property
    def is_language_model(self) -> bool:
        """A model that is none says so by an attribute ``language_model`` that is False; it is not asked then."""
        return bool(getattr(self.model, "language_model", True))


async def summarise(driver: Driver, wanted: Summarise, policy: ContextPolicy) -> AsyncGenerator[ev.Recorded]:
    """Yields what was staged before, and stages what comes of it."""
    session, summariser = driver.session, driver.summariser
    for item in await session.flush():
        yield item
    state = session.state
    entries = making.entries_in(state, wanted)
    source = making.record(state, entries, less=wanted.less)
    usage: Usage | None = None
    kind, message = "unusable", "The summary is empty, or not shorter than what it is to stand for."
    event: ev.ContextCompacted | None = None
    try:
        if summariser.is_language_model:
            request = making.request(source, policy, budget_of(state, policy))
            answer, usage = await driver.gate.wait(_answer(driver, summariser.model, request))
            text, facts = making.read_answer(answer)
        else:
            most = making.most_tokens(state, entries, policy)
            text, facts = making.extract(state, entries, most, rates_in(state)), []
        known = "\n".join((source, *state.pinned))
        event = making.summarised(state, wanted, policy, encodable(text), [encodable(one) for one in facts], known)
    except Stopped:
        raise
    except ModelError as error:
        kind, message = error.kind, error.message
    except AgentError:
        raise
    except Exception as error:
        _logger.warning("the model client failed", exc_info=error)
        kind, message = "stream_error", f"The model client failed: {encodable(str(error)) or type(error).__name__}."
    cost = summariser.price.cost(usage) if summariser.price is not None and usage is not None else None
    failpoint("summarised", "nothing" if event is None else event)
    if event is not None:
        session.stage([structs.replace(event, usage=usage, cost=cost)], fact=True)
        return
    failed = ev.SummaryFailed(
        from_seq=wanted.from_seq, to_seq=wanted.to_seq, kind=kind, message=message, usage=usage, cost=cost, by=wanted.by
    )
    session.stage([failed], fact=True)


async def _answer(driver: Driver, model: ModelClient, request: list[Message]) -> tuple[str, Usage | None]:
    """The whole text of one turn, and what it used."""
    text: list[str] = []
    end: StreamEnd | None = None
    stream = model.stream_chat(request)
    async for event in driver.masker.stream(stream) if driver.masker else stream:
        if isinstance(event, TextDelta):
            text.append(event.text)
        elif isinstance(event, TextWithdrawn):
            text.clear()
        elif isinstance(event, StreamEnd):
            end = event
    if end is None:
        raise ModelError("stream_truncated", "The model's answer broke off before its end.", retryable=True)
    return "".join(text), end.usage
