"""The hash chain of a log, and the check of it.

Invariant: ``hash = sha256(previous hash + "seq:at:type:" + digest)`` with ``at`` in whole microseconds, and ``digest =
sha256(salt + payload)``. The chain runs over digests, so a payload and its salt can be erased later and the chain still
verifies.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from ..errors import DamagedLog
from ..state import content_hash
from ..values import Manifest
from .base import SHARED, Head, Row, Span, Verified

GENESIS = b"\0" * 32
"""What stands before the first event of a session that is no fork."""
AT_ONCE = 500
"""Rows or contents checked before other work of the process gets its turn."""


def new_salt() -> bytes:
    """Keeps an erased payload from being guessed from its digest."""
    return os.urandom(16)


def payload_digest(salt: bytes, payload: bytes) -> bytes:
    """Digest of one payload."""
    return hashlib.sha256(salt + payload).digest()


def link(previous: bytes, seq: int, at_us: int, type_name: str, digest: bytes) -> bytes:
    """Hash of one event."""
    return hashlib.sha256(b"%b%d:%d:%b:%b" % (previous, seq, at_us, type_name.encode(), digest)).digest()


NAME = re.compile(rb"\"(=?[0-9a-f]{40})\"")
"""A content's name, wherever it stands in a payload."""
_SHAPE = re.compile("=?[0-9a-f]{40}")


class _Salted(Struct):
    salt: str = ""


class _Whole(Struct):
    whole: str | None = None


class _Kept(Struct):
    content: str


class _Naming(Struct):
    """As much of an event as says which contents it cannot do without."""

    environment: str | None = None
    request: Manifest | None = None
    truncated: _Whole | None = None
    artifacts: tuple[_Kept, ...] = ()

    def names(self) -> list[str]:
        request = self.request
        parts = () if request is None else (request.frame, request.tools, request.form, *request.added)
        whole = None if self.truncated is None else self.truncated.whole
        files = (artifact.content for artifact in self.artifacts)
        return [name for name in (self.environment, whole, *parts, *files) if name and _SHAPE.fullmatch(name)]


class _Inner(Struct):
    """As much of an environment as says which contents it cannot do without."""

    system: str
    tool_set: str | None = None


_NAMING = ("RunStarted", "StepStarted", "ToolCallFinished")
_naming, _inner = msgspec.json.Decoder(_Naming), msgspec.json.Decoder(_Inner)


class ChainCheck:
    """Follows the chain of one session event by event; ``end`` says what was found. ``named``: the contents that the
    events name, with the first event that does.
    """

    def __init__(self, session_id: str, against: Head | None = None) -> None:
        self.session_id, self._against = session_id, against
        self.seq, self.hash = 0, GENESIS
        self.named: dict[str, int] = {}
        self._needed: set[str] = set()
        self._environments: set[str] = set()
        self._asked = 0
        self._keys: set[str] | None = {""}
        self._erased: list[int] = []
        self._redacted: list[int] = []

    def take(self, row: Row) -> None:
        """Checks the next event; raises ``DamagedLog``."""
        seq = self.seq + 1
        if row.seq != seq:
            raise DamagedLog(self.session_id, seq, "it is missing")
        if row.state == "original":
            if row.payload is None or row.salt is None or payload_digest(row.salt, row.payload) != row.digest:
                raise DamagedLog(self.session_id, seq, "its content does not match its digest")
        else:
            (self._erased if row.state == "erased" else self._redacted).append(seq)
        if row.payload is not None:
            for name in NAME.findall(row.payload):
                self.named.setdefault(name.decode(), seq)
            if row.type in _NAMING:
                self._needs(row.payload, seq)
        if row.type == "SessionStarted" and self._keys is not None:
            if row.payload is not None and row.state == "original":
                self._keys.add(msgspec.json.decode(row.payload, type=_Salted).salt)
            else:
                self._keys = None
        self.hash = link(self.hash, seq, row.at, row.type, row.digest)
        if self.hash != row.hash:
            raise DamagedLog(self.session_id, seq, "its hash does not follow from the one before")
        against = self._against
        if against is not None and against.seq == seq and against.hash != self.hash.hex():
            raise DamagedLog(self.session_id, seq, "it is not the event that the head names")
        self.seq = seq

    def _needs(self, payload: bytes, seq: int) -> None:
        try:
            naming = _naming.decode(payload)
        except msgspec.MsgspecError:  # of another version: what it names is known by the look of it alone
            return
        for name in naming.names():
            self.named.setdefault(name, seq)
            self._needed.add(name)
        if naming.environment is not None:
            self._environments.add(naming.environment)

    def wanted(self) -> list[str]:
        """The next names whose contents are to be checked, ``AT_ONCE`` at the most; none when all were."""
        names = list(itertools.islice(self.named, self._asked, self._asked + AT_ONCE))
        self._asked += len(names)
        return names

    def contents(self, names: Iterable[str], found: Mapping[str, bytes]) -> None:
        """Checks that what the events cannot do without is there, and that contents are what their names are hashes
        of; raises ``DamagedLog``.

        Where an event with the key of the names is masked or gone, that cannot be done, and contents may be masked.
        """
        if (keys := self._keys) is None:
            return
        for name in names:
            seq, data = self.named[name], found.get(name)
            if data is None:
                if name in self._needed:
                    raise DamagedLog(self.session_id, seq, "a content that it names is missing")
                continue  # it only looks like a name
            if all(content_hash(data, key) != name.removeprefix(SHARED) for key in keys):
                raise DamagedLog(self.session_id, seq, "a content that it names is not what was written")
            if name in self._environments:
                inner = _inner.decode(data)
                for needed in filter(None, (inner.system, inner.tool_set)):
                    self.named.setdefault(needed, seq)
                    self._needed.add(needed)

    def end(self, head: int, head_hash: bytes) -> Verified:
        """What holds of the whole, given the head that was kept with it; raises ``DamagedLog``."""
        against = self._against
        if self.seq != head or self.hash != head_hash:
            raise DamagedLog(self.session_id, self.seq + 1, f"the log ends at {self.seq}, its head says {head}")
        if against is not None and against.seq > self.seq:
            raise DamagedLog(self.session_id, self.seq + 1, f"the log ends at {self.seq}, head says {against.seq}")
        erased, redacted = spans(self._erased), spans(self._redacted)
        return Verified(self.session_id, head, head_hash.hex(), against is not None, erased, redacted)


def spans(numbers: Iterable[int]) -> tuple[Span, ...]:
    """Ascending numbers as runs of consecutive ones."""
    found: list[Span] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return tuple(found)
