"""A session as one self-contained file, and back: JSON lines, the header first.

Invariant: the file stands for itself. Its chain runs from the first event to the head that the header names, each
event says whether its payload is the original, masked or gone, and what events refer to by hash is in it. Nothing is
imported that does not verify.

Lines: ``{"format": "agent_core.session", …}`` (``Header``), then one ``Line`` per event in order, then one ``Kept`` per
content. Payloads are strings that hold the stored bytes exactly, so that a tool which rewrites the JSON around them
breaks nothing. What the parents of a fork hold is written as if it were the session's own.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal

import msgspec
from msgspec import Struct

from ..codec import decode
from ..errors import Conflict, DamagedLog, Erased, StoreError, UnknownSession
from ..events import Recorded
from .base import SHARED, EventStore, Head, PayloadState, Row, Verified
from .chain import NAME, ChainCheck
from .redaction import Redactor

FORMAT: Literal["agent_core.session"] = "agent_core.session"
VERSION = 1


class Header(Struct, frozen=True, kw_only=True):
    """``head`` and ``head_hash``: the last event in the file; ``log_head``: that of the whole log, when the file ends
    before it. ``parents``: sessions it was forked from, nearest first, with the events inherited.
    """

    format: Literal["agent_core.session"] = FORMAT
    version: int = VERSION
    session_id: str
    head: int
    head_hash: str
    log_head: int
    log_head_hash: str
    redacted: bool
    parents: tuple[tuple[str, int], ...] = ()


class Line(Struct, frozen=True, omit_defaults=True):
    """One event; see ``Row``. Bytes as hex, ``at`` in microseconds since 1970."""

    seq: int
    at: int
    type: str
    digest: str
    hash: str
    state: PayloadState = "original"
    salt: str | None = None
    payload: str | None = None


class Kept(Struct, frozen=True, omit_defaults=True):
    """One content: as text, or as base64 where it is none; neither when it was left out."""

    content: str
    state: PayloadState = "original"
    text: str | None = None
    base64: str | None = None


class Export(Struct, frozen=True):
    """A file that was read and whose chain holds. ``contents`` by name."""

    header: Header
    verified: Verified
    rows: Sequence[Row]
    contents: dict[str, bytes]

    def recorded(self) -> Iterator[Recorded]:
        """The events as a store would give them; raises ``Erased`` at one whose payload is not in the file."""
        for row in self.rows:
            if row.payload is None:
                raise Erased(self.header.session_id, row.seq)
            yield Recorded(self.header.session_id, row.seq, row.at / 1e6, decode(row.payload), row.hash.hex())


async def export_session(
    store: EventStore,
    session_id: str,
    path: str | os.PathLike[str],
    *,
    until: int | None = None,
    redact: bool = False,
    secrets: Iterable[str] = (),
) -> Header:
    """Writes a session, or its first ``until`` events, to a file, in the place of one that is there.

    What looks like a secret, and ``secrets`` themselves, are masked always; with ``redact`` also what tells who a
    person is (see ``redaction``). Raises ``DamagedLog`` when the session does not verify, ``StoreError`` when the file
    cannot be written.
    """
    verified = await store.verify(session_id)
    if until is not None and not 1 <= until <= verified.head:
        raise StoreError(f"Session {session_id} has events 1 to {verified.head}; {until} is not one of them.")
    rows = [row async for row in store.rows(session_id, until or verified.head)]
    redactor = Redactor((row.payload for row in rows if row.payload is not None), secrets, personal=redact)
    contents = await store.contents(session_id, await _names(store, session_id, rows))
    kept = [_kept(name, contents[name], redactor) for name in sorted(contents)]
    redactor.hides_key = redact or any(one.state != "original" for one in kept)
    header = Header(
        session_id=session_id,
        head=rows[-1].seq,
        head_hash=rows[-1].hash.hex(),
        log_head=verified.head,
        log_head_hash=verified.head_hash,
        redacted=redact,
        parents=await _parents(store, session_id),
    )
    _write(Path(path), [header, *(_line(row, redactor) for row in rows), *kept])
    return header


def read_export(path: str | os.PathLike[str], *, against: Head | None = None) -> Export:
    """Reads and verifies a file. Raises ``DamagedLog`` with the first bad event, ``StoreError`` when it is none."""
    try:
        return _read(path, against)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}.") from None
    except DamagedLog as error:
        raise DamagedLog(error.session_id, error.seq, error.why, str(path)) from None
    except (ValueError, TypeError) as error:
        raise StoreError(f"{path} is damaged: {error}.") from None


def _read(path: str | os.PathLike[str], against: Head | None) -> Export:
    rows: list[Row] = []
    contents: dict[str, bytes] = {}
    with open(path, "rb") as file:
        header = _header(file.readline(), path)
        check = ChainCheck(header.session_id, against)
        for line in file:
            if line.startswith(b'{"content"'):
                kept = msgspec.json.decode(line, type=Kept)
                data = kept.text.encode() if kept.text is not None else base64.b64decode(kept.base64 or "")
                if kept.state != "erased":
                    contents[kept.content] = data
            else:
                row = _row(line, check)
                check.take(row)
                rows.append(row)
    verified = check.end(header.head, bytes.fromhex(header.head_hash))
    while names := check.wanted():
        check.contents(names, contents)
    return Export(header, verified, rows, contents)


async def import_session(store: EventStore, path: str | os.PathLike[str]) -> str:
    """Takes an exported session into a store, under its own id, and returns that.

    A session of this id that is there already and holds the same events is left as it is; another one is not touched,
    and ``Conflict`` is raised.
    """
    export = read_export(path)
    session_id, rows = export.header.session_id, export.rows
    try:
        known = await store.session(session_id)
    except UnknownSession:
        await store.adopt(session_id, rows, export.contents)
        return session_id
    head = Head(session_id, rows[-1].seq, rows[-1].hash.hex())
    try:
        await store.verify(session_id, against=head)
    except DamagedLog:
        raise Conflict(session_id, rows[-1].seq, known.head) from None
    return session_id


def is_export(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as an exported session does."""
    try:
        with open(path, "rb") as file:
            return FORMAT.encode() in file.readline(200)
    except (OSError, ValueError):
        return False


async def _names(store: EventStore, session_id: str, rows: Sequence[Row]) -> list[str]:
    """Every content that the events name, and those that the shared ones among them name in turn."""
    found: dict[str, None] = {}
    wanted = [name for row in rows if row.payload for name in _named(row.payload)]
    while wanted:
        found.update(dict.fromkeys(wanted))
        shared = [name for name in wanted if name[0] == SHARED]
        inner = await store.contents(session_id, shared)
        wanted = [name for data in inner.values() for name in _named(data) if name not in found]
    return list(found)


def _named(data: bytes) -> list[str]:
    return [match.decode() for match in NAME.findall(data)]


async def _parents(store: EventStore, session_id: str) -> tuple[tuple[str, int], ...]:
    found = []
    info = await store.session(session_id)
    while info.parent is not None and info.parent_seq is not None:
        found.append((info.parent, info.parent_seq))
        info = await store.session(info.parent)
    return tuple(found)


def _line(row: Row, redactor: Redactor) -> Line:
    state, payload, salt = row.state, row.payload, row.salt
    if payload is not None:
        masked = redactor.payload(payload)
        if masked != payload:  # without a salt, so that the digest does not help to guess the original
            payload, salt, state = masked, None, "erased" if masked is None else "redacted"
    return Line(
        row.seq,
        row.at,
        row.type,
        row.digest.hex(),
        row.hash.hex(),
        state,
        None if salt is None else salt.hex(),
        None if payload is None else payload.decode(),
    )


def _row(text: bytes, check: ChainCheck) -> Row:
    try:
        line = msgspec.json.decode(text, type=Line)
    except ValueError as error:
        raise DamagedLog(check.session_id, check.seq + 1, f"its line cannot be read: {error}") from None
    return Row(
        line.seq,
        line.at,
        line.type,
        None if line.salt is None else bytes.fromhex(line.salt),
        None if line.payload is None else line.payload.encode(),
        bytes.fromhex(line.digest),
        bytes.fromhex(line.hash),
        line.state,
    )


def _kept(name: str, data: bytes, redactor: Redactor) -> Kept:
    masked = redactor.content(data)
    if masked is None:
        return Kept(name, "erased")
    state: PayloadState = "original" if masked == data else "redacted"
    try:
        return Kept(name, state, masked.decode())
    except UnicodeDecodeError:
        return Kept(name, state, None, base64.b64encode(masked).decode())


def _header(line: bytes, path: str | os.PathLike[str]) -> Header:
    try:
        written = msgspec.json.decode(line)
        if not isinstance(written, dict) or written.get("format") != FORMAT:
            raise ValueError
    except ValueError:
        raise StoreError(f"{path} is not an exported session.") from None
    if written.get("version") != VERSION:
        raise StoreError(f"{path} was written by a newer version (format {written.get('version')}). Update first.")
    return msgspec.convert(written, Header)


def _write(path: Path, values: Iterable[Any]) -> None:
    """The whole file or none of it, for its owner alone."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    encoder = msgspec.json.Encoder()
    try:
        with _private(draft) as file:
            for value in values:
                file.write(encoder.encode(value) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise StoreError(f"{path} cannot be written: {error.strerror or error}.") from None


def _private(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb")
