"""The hash chain of a log.

Invariant: ``hash = sha256(previous hash + "seq:at:type:" + digest)`` with ``at`` in whole microseconds, and ``digest =
sha256(salt + payload)``. The chain runs over digests, so a payload and its salt can be erased later and the chain still
verifies.
"""

from __future__ import annotations

import hashlib
import os

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
