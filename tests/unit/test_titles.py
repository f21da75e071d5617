from __future__ import annotations

import pytest

from agent_core.errors import Malformed
from agent_core.loop import AgentLoop
from tests.support.loops import collect, loop_over
from tests.support.requests import log_of


async def _begun() -> tuple[AgentLoop, str]:
    loop, _ = loop_over("hello")
    return loop, (await collect(loop.run("hi")))[0].session_id


@pytest.mark.parametrize("title", ["", " \u3000", "a\nb", "a\0b", "\x1b[2J", "a\u2029b", "\ud800", "x" * 201])
async def test_a_title_that_is_no_line_of_text_is_refused_wherever_it_comes_from(title: str) -> None:
    loop, session = await _begun()
    before = await log_of(loop.store, session)
    with pytest.raises(Malformed, match="title"):
        await loop.label(session, title=title)
    assert await log_of(loop.store, session) == before


@pytest.mark.parametrize("title", ["鑫源的报价", "\u202eabc", "👩‍👩‍👧", "x" * 200])
async def test_any_line_of_text_is_a_title(title: str) -> None:
    loop, session = await _begun()
    (labelled,) = await loop.label(session, title=title)
    assert labelled.event.title == title  # type: ignore[union-attr]
