"""The full-text index of the embedded store: in which events a word stands.

Invariant: an index and nothing more. It holds no text, only which words stand where; it is brought up to date when
something is looked up, so that appending costs nothing; it can be emptied at any time and comes back by itself. Erasing
a session empties it.

Every function runs within the job, and so the transaction, of its caller. ``indexed`` says up to which event each
session is in the index, and under session 0 by which version of ``context.words``. A row of ``words`` has the place of
its event (see ``table``), so a session's events stand together and are searched without looking at others.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ..codec import decode
from ..context.passages import (
    FOUND_TYPES,
    LOOKED_AT,
    REPLY_WITHIN,
    Passage,
    Source,
    asks,
    best,
    findable,
    ranked,
)
from ..context.words import VERSION, Need, words_of
from ..events import AssistantMessage, Recorded, SessionStarted
from .base import Span
from .table import SPAN

_AT_ONCE = 100_000
"""Bytes of payloads that one job takes in, so that other work of the process gets its turn."""
_MOST_PLACES = 5000
"""Events that a search over all sessions looks at, the newest sessions first."""
_TYPES = ", ".join(f"'{name}'" for name in FOUND_TYPES)
_CREATE = (
    "CREATE VIRTUAL TABLE words USING"
    " fts5(text, content = '', detail = none, columnsize = 0, tokenize = \"ascii tokenchars '.'\")"
)

Part = tuple[int, int, int]
"""Session number, events after, up to."""


def is_current(db: sqlite3.Connection, numbers: Sequence[int] | None = None) -> bool:
    """Whether everything of these sessions, or of all, is in the index."""
    return _is_sound(db) and _next_behind(db, numbers) is None


def bring_on(db: sqlite3.Connection, numbers: Sequence[int] | None = None) -> bool:
    """Takes some more events of these sessions, or of all, into the index; whether nothing is left to be taken in."""
    if not _is_sound(db):
        empty(db)
        db.execute("INSERT INTO indexed VALUES (0, ?)", (VERSION,))
        db.execute("INSERT INTO words (rowid, text) VALUES (1, 'begun')")  # no event stands in that place
    behind = _next_behind(db, numbers)
    if behind is None:
        return True
    number, upto, head = behind
    base, size, rows = number * SPAN, 0, []
    query = f"SELECT place, payload FROM events WHERE place > ? AND place <= ? AND type IN ({_TYPES}) ORDER BY place"
    reached = head
    for place, payload in db.execute(query, (base + upto, base + head)):
        if payload is None:
            continue
        text = _text(payload)
        if text:
            rows.append((place, " ".join(sorted(words_of(text)))))
        size += len(payload)
        if size > _AT_ONCE:
            reached = place - base
            break
    db.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", rows)
    db.execute("INSERT OR REPLACE INTO indexed VALUES (?, ?)", (number, reached))
    return reached == head and _next_behind(db, numbers) is None


def empty(db: sqlite3.Connection) -> None:
    """Forgets everything: the next look-up begins anew."""
    db.execute("DROP TABLE IF EXISTS words")
    db.execute(_CREATE)
    db.execute("DELETE FROM indexed")


def clipped(parts: Sequence[Part], within: Sequence[Span]) -> list[Part]:
    """What of the parts of a log lies in the spans."""
    found = []
    for number, first, last in parts:
        for start, end in within:
            after, upto = max(first, start - 1), min(last, end)
            if after < upto:
                found.append((number, after, upto))
    return found


def _places(db: sqlite3.Connection, parts: Sequence[Part], words: Iterable[str]) -> dict[str, list[int]]:
    """In which events of the parts each word stands."""
    query = "SELECT rowid - ? FROM words WHERE words MATCH ? AND rowid > ? AND rowid <= ?"
    found: dict[str, list[int]] = {}
    for word in words:
        seqs: set[int] = set()
        for number, after, upto in parts:
            base = number * SPAN
            seqs.update(seq for (seq,) in db.execute(query, (base, f'"{word}"', base + after, base + upto)))
        if seqs:
            found[word] = sorted(seqs)
    return found


def _places_of_all(db: sqlite3.Connection, needs: Sequence[Need]) -> dict[int, list[int]]:
    """The events, by session number, in which all the words stand."""
    query = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?"
    found: dict[int, list[int]] = {}
    for (place,) in db.execute(query, (" AND ".join(map(_matching, needs)), _MOST_PLACES)):
        found.setdefault(place // SPAN, []).append(place % SPAN)
    return found


def found_within(
    db: sqlite3.Connection,
    session_id: str,
    parts: Sequence[Part],
    question: str,
    asked: Mapping[str, float],
    *,
    limit: int,
    least: float,
    now: float | None,
) -> list[Passage]:
    """What of these parts of a log answers a question best."""
    events = sum(upto - after for _, after, upto in parts)

    def read(seq: int) -> Source | None:
        number = next(number for number, after, upto in parts if after < seq <= upto)
        return _source(db, session_id, number, seq)

    places = _places(db, parts, asked)
    return ranked(question, asked, places, events, read, limit=limit, least=least, now=now)


def found_in_all(
    db: sqlite3.Connection, text: str, needs: Sequence[Need], owner: str | None, limit: int
) -> list[Passage]:
    """The best passage of each session in which all the words stand, the session used last first."""
    where, words = _places_of_all(db, needs), dict.fromkeys(words_of(text), 1.0)
    query = "SELECT id, updated_at FROM sessions WHERE number = ?"
    sessions = [(number, *db.execute(query, (number,)).fetchone()) for number in where]
    found: list[Passage] = []
    for number, session_id, _ in sorted(sessions, key=lambda one: (-one[2], -one[0])):
        if owner is None or _is_owned_by(db, number, owner):
            read = (_source(db, session_id, number, seq) for seq in where[number][:LOOKED_AT])
            found += best(filter(None, read), text, words, limit=1)
        if len(found) == limit:
            break
    return found


def _matching(need: Need) -> str:
    """What is needed, in the language of FTS5."""
    groups = (" AND ".join(f'"{word}"' for word in group) for group in need)
    return f"({' OR '.join(f'({group})' for group in groups)})"


def _source(db: sqlite3.Connection, session_id: str, number: int, seq: int) -> Source | None:
    """An event, a question of a person with its answer."""
    item = _read(db, session_id, number, seq)
    if item is None:
        return None
    return Source(item, _reply(db, session_id, number, seq) if asks(item.event) else None)


def _reply(db: sqlite3.Connection, session_id: str, number: int, seq: int) -> str | None:
    base = number * SPAN
    query = (
        "SELECT place - ?, type FROM events WHERE place > ? AND place <= ?"
        " AND type IN ('UserMessage', 'AssistantMessage') ORDER BY place"
    )
    for place, kind in db.execute(query, (base, base + seq, base + seq + REPLY_WITHIN)).fetchall():
        item = _read(db, session_id, number, place)
        if kind == "UserMessage" or item is None:
            return None
        if isinstance(item.event, AssistantMessage) and item.event.content and not item.event.tool_calls:
            return item.event.content
    return None


def _read(db: sqlite3.Connection, session_id: str, number: int, seq: int) -> Recorded | None:
    row = db.execute("SELECT at, payload FROM events WHERE place = ?", (number * SPAN + seq,)).fetchone()
    try:
        return None if row is None or row[1] is None else Recorded(session_id, seq, row[0] / 1e6, decode(row[1]))
    except (ValueError, msgspec.MsgspecError):  # damage is found by ``verify``, and told there
        return None


def _text(payload: bytes) -> str:
    try:
        found = findable(decode(payload))
    except (ValueError, msgspec.MsgspecError):
        return ""
    return "" if found is None else found[2]


def _is_sound(db: sqlite3.Connection) -> bool:
    """Whether the index is of this version and was not emptied by somebody else."""
    try:
        version = db.execute("SELECT upto FROM indexed WHERE session = 0").fetchone()
        begun = db.execute("SELECT 1 FROM words WHERE words MATCH 'begun' AND rowid = 1").fetchone()
    except sqlite3.DatabaseError:
        return False
    return version == (VERSION,) and begun is not None


def _next_behind(db: sqlite3.Connection, numbers: Sequence[int] | None) -> Part | None:
    """A session with events that are not in the index: its number, where the index ends, and its head."""
    query = (
        "SELECT s.number, max(coalesce(i.upto, 0), s.parent_seq), s.head FROM sessions s"
        " LEFT JOIN indexed i ON i.session = s.number"
        " WHERE s.head > max(coalesce(i.upto, 0), s.parent_seq) AND s.erased_at IS NULL"
    )
    if numbers is None:
        return db.execute(f"{query} LIMIT 1").fetchone()  # type: ignore[no-any-return]
    for number in numbers:
        if (row := db.execute(f"{query} AND s.number = ?", (number,)).fetchone()) is not None:
            return row  # type: ignore[no-any-return]
    return None


def _is_owned_by(db: sqlite3.Connection, number: int, owner: str) -> bool:
    """Whether a session belongs to ``owner``; a fork that says nothing of it belongs to whom its parent does."""
    while True:
        query = "SELECT parent, parent_seq FROM sessions WHERE number = ?"
        parent, parent_seq = db.execute(query, (number,)).fetchone()
        item = _read(db, "", number, parent_seq + 1)
        if item is not None and isinstance(item.event, SessionStarted) and item.event.owner is not None:
            return item.event.owner == owner
        row = db.execute("SELECT number FROM sessions WHERE id = ?", (parent,)).fetchone()
        if row is None:
            return False
        number = row[0]
