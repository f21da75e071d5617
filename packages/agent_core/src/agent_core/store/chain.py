"""The hash chain of a log, and the check of it.

Invariant: ``hash = sha256(previous hash + "seq:at:type:" + digest)`` with ``at`` in whole microseconds, and ``digest =
sha256(salt + payload)``. The chain runs over digests, so a payload and its salt can be erased later and the chain still
verifies.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from ..errors import DamagedLog
from ..state import content_hash
from .base import SHARED, Head, Row, Span, Verified

GENESIS = b"\0" * 32
"""What stands before the first event of a session that is no fork."""


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


class _Salted(Struct):
    salt: str = ""


class ChainCheck:
    """Follows the chain of one session event by event; ``end`` says what was found. ``named``: the contents that the
    events name, with the first event that does.
    """

    def __init__(self, session_id: str, against: Head | None = None) -> None:
        self.session_id, self._against = session_id, against
        self.seq, self.hash = 0, GENESIS
        self.named: dict[str, int] = {}
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

    def contents(self, contents: Mapping[str, bytes]) -> None:
        """Checks contents against their names, which are hashes of them; raises ``DamagedLog``.

        Where an event with the key of the names is masked or gone, that cannot be done, and contents may be masked.
        """
        if (keys := self._keys) is None:
            return
        for name, data in contents.items():
            seq = self.named.get(name)
            if seq is not None and all(content_hash(data, key) != name.removeprefix(SHARED) for key in keys):
                raise DamagedLog(self.session_id, seq, "a content that it names is not what was written")

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
