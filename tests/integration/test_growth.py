"""How large a database gets: linear, and at most three times what was said."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_core import AgentLoop, LoopConfig, SqliteStore
from agent_core.store import fulltext
from agent_core.store.upkeep import backup_home, restore_home
from agent_core.testing import ScriptedModel
from tests.support.requests import check_requests, rebuilt

TURNS = 250
QUESTION, ANSWER = 500, 2000
"""Bytes."""


def random_text(source: random.Random, size: int, alphabet: str) -> str:
    """Text that no repetition makes smaller, of about ``size`` bytes."""
    return "".join(source.choices(alphabet, k=size // len(alphabet[0].encode())))


def size_without_index(path: Path) -> int:
    """Bytes of the database that are not the full-text index, which comes back by itself."""
    copy = path.with_name("copy.db")
    shutil.copyfile(path, copy)
    with closing(sqlite3.connect(copy, isolation_level=None)) as db:
        fulltext.empty(db)
        pages, free, page = (
            db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
    copy.unlink()
    return int((pages - free) * page)


@pytest.mark.parametrize(
    "alphabet", ["abcdefghijklmnopqrstuvwxyz", "".join(map(chr, range(0x4E00, 0x8E00)))], ids=["en", "zh"]
)
async def test_a_database_is_at_most_three_times_its_content_in_turns_of_2500_bytes(
    tmp_path: Path, alphabet: str
) -> None:
    source = random.Random(7)
    questions = [random_text(source, QUESTION, alphabet) for _ in range(TURNS)]
    answers = [random_text(source, ANSWER, alphabet) for _ in range(TURNS)]
    model = ScriptedModel(answers)
    store = SqliteStore(tmp_path / "log.db")
    loop = AgentLoop(model=model, store=store, config=LoopConfig(system_prompt="Be brief."))
    session_id = None
    sizes = []
    for number, question in enumerate(questions, 1):
        async for item in loop.run(question, session_id):
            session_id = item.session_id
        if number in (50, 150, 250):
            await store.aclose()
            sizes.append(size_without_index(tmp_path / "log.db"))
    assert session_id is not None
    content = sum(len(text.encode()) for text in (*questions, *answers))
    assert sizes[-1] <= 3 * content, f"{sizes[-1] / content:.2f} times"
    assert sizes[2] - sizes[1] <= 1.2 * (sizes[1] - sizes[0]), "the second hundred turns take no more than the first"
    await check_requests(store, session_id, model)
    await store.verify(session_id)
    await store.aclose()


async def test_requests_can_be_rebuilt_after_a_restore_under_a_running_program(tmp_path: Path) -> None:
    """What the program remembers of its events may be gone, and others may stand in their place."""
    store = SqliteStore(tmp_path / "home" / "log.db")
    loop = AgentLoop(model=ScriptedModel([letter * 900 for letter in "abcdef"]), store=store)
    (session_id,) = {item.session_id async for item in loop.run("q" * 900)}
    backup_home(tmp_path / "home", tmp_path / "copy")
    _ = [item async for item in loop.run("r" * 900, session_id)]
    restore_home(tmp_path / "copy", tmp_path / "home")
    _ = [item async for item in loop.run("s" * 700, session_id)]
    _ = [item async for item in loop.run("t" * 700, session_id)]
    bodies = [body for _, _, body in await rebuilt(store, session_id)]
    assert b"t" * 700 in bodies[-1]
    assert b"s" * 700 in bodies[-1]
    assert b"r" * 700 not in bodies[-1]
    await store.verify(session_id)
    await store.aclose()
