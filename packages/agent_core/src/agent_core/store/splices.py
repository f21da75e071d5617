"""Contents that repeat what an event says: stored as the bytes around it and the place where the rest stands.

A message is rendered for the model with its text just as the event holds it, so it would otherwise be on disk twice.

Invariant: a splice refers to an event of the same session, so both are erased together; what it joins to is checked
against the content's name like any other content.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from msgspec import Struct

WORTH = 200
"""Bytes that have to be saved."""
_ANCHOR = b':"'
_ANCHORS = 8
"""Beginnings of strings that are tried."""
_KEPT, _LONGEST, _SESSIONS = 16, 65_536, 64
"""Payloads per session that are remembered, bytes of each at the most, and sessions."""
_PROBE = 24
"""Bytes by which the beginning of a string is looked for."""


class Splice(Struct, frozen=True):
    """``head`` + ``length`` bytes from ``start`` of the payload at ``place`` + ``tail``."""

    place: int
    start: int
    length: int
    head: bytes
    tail: bytes

    def joined(self, payload: bytes) -> bytes:
        """The content."""
        return self.head + payload[self.start : self.start + self.length] + self.tail


class Recent:
    """The payloads that were appended last, by session number: those that contents are about to repeat."""

    def __init__(self) -> None:
        self._of: dict[int, deque[tuple[int, bytes]]] = {}

    def of(self, number: int) -> Iterable[tuple[int, bytes]]:
        """Place and payload of each, the newest first."""
        return reversed(self._of.get(number, ()))

    def add(self, number: int, payloads: Iterable[tuple[int, bytes]]) -> None:
        """These are stored now."""
        worth = [item for item in payloads if WORTH < len(item[1]) <= _LONGEST]
        if not worth:
            return
        known = self._of.pop(number, None) or deque(maxlen=_KEPT)
        known.extend(worth)
        self._of[number] = known
        if len(self._of) > _SESSIONS:
            del self._of[next(iter(self._of))]


def splice(data: bytes, sources: Sequence[tuple[int, bytes]]) -> Splice | None:
    """``data`` by the longest string that begins in it and in one of the payloads; None where that saves too little."""
    best: Splice | None = None
    at = -1
    for _ in range(_ANCHORS):
        at = data.find(_ANCHOR, at + 1)
        if at < 0:
            break
        begin = at + 1  # with the quotation mark, so that a text of one letter is found at its beginning
        if len(data) - begin <= (best.length if best else WORTH):
            break  # what is left is too short
        probe = data[begin : begin + _PROBE]
        for place, payload in sources:
            start = payload.find(probe)
            if start >= 0 and (length := _common(data, begin, payload, start)) > (best.length if best else WORTH):
                best = Splice(place, start, length, data[:begin], data[begin + length :])
    return best


def _common(one: bytes, at: int, other: bytes, start: int) -> int:
    """How many bytes are the same from there on."""
    low, high = 0, min(len(one) - at, len(other) - start)
    while low < high:
        middle = (low + high + 1) // 2
        if one[at + low : at + middle] == other[start + low : start + middle]:
            low = middle
        else:
            high = middle - 1
    return low
