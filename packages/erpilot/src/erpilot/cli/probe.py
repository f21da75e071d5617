"""Tries a model with one short request, through the same client that answers questions."""

from __future__ import annotations

import asyncio
import time

from agent_core.errors import ModelError
from agent_core.messages import Message, StreamEnd

from .models import Choice, client_of
from .texts import Texts

PATIENCE = 60.0
"""Seconds. A local server may have to load the model first."""


async def probe(choice: Choice, texts: Texts) -> float:
    """Seconds that the model took to answer; raises ``ModelError`` when it did not."""
    if choice.problem is not None:
        raise ModelError(choice.problem[0], texts(choice.problem[1], **choice.problem[2]))
    client = client_of(choice)
    began = time.perf_counter()
    try:
        async with asyncio.timeout(PATIENCE):
            async for event in client.stream_chat([Message("user", "Reply with one word: OK")]):
                if isinstance(event, StreamEnd):
                    return time.perf_counter() - began
    except TimeoutError:
        raise ModelError("timeout", f"No answer within {PATIENCE:g} seconds.") from None
    finally:
        if (close := getattr(client, "aclose", None)) is not None:
            await close()
    raise ModelError("stream_truncated", "The answer broke off.")
