"""Lines that a person types while a run goes on, read without taking the screen over.

Invariant: the terminal stays in its own line mode (it echoes and edits by itself); a line counts from its Enter on, and
what is typed without one is left for the next prompt.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager


@asynccontextmanager
async def lines_typed(take: Callable[[str], Awaitable[None]]) -> AsyncIterator[None]:
    """While it lasts, each line that is typed is handed to ``take``, one after the other. Does nothing where the
    event loop cannot watch a terminal (Windows): there the next prompt gets the lines.
    """
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[str | None]()
    number, rest = sys.stdin.fileno(), b""

    async def hand_on() -> None:
        while (text := await lines.get()) is not None:
            await take(text)

    def read() -> None:
        nonlocal rest
        data = os.read(number, 65536)
        if not data:  # Ctrl-D: nothing more comes that way
            loop.remove_reader(number)
        *whole, rest = (rest + data).split(b"\n")
        for line in whole:
            if text := line.decode(errors="replace").strip():
                lines.put_nowait(text)

    try:
        loop.add_reader(number, read)
    except NotImplementedError:
        yield
        return
    handing = loop.create_task(hand_on())
    try:
        yield
    finally:
        loop.remove_reader(number)
        lines.put_nowait(None)
        await handing
