"""Idempotency keys on the server's records: how they are written, found, and kept apart.

Tryton has no field for a key and no unique one, so keys stand in ``reference``, which may be written in every state, as
words of their own beside what people wrote there. Invariant: one key makes one effect. What makes a record carries the
key from the first moment; what moves a record writes its key first, with the time stamp that was read, and presses the
button with the time stamp of that write: of two who try, one is told ``Conflict``, and the last key on a record is the
only one whose button can have been pressed. Callers of this process with the same key, or at the same record, wait for
each other.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final, get_args
from weakref import WeakValueDictionary

from ..errors import Conflict
from ..verbs.outcome import Verb, Write
from .rpc import Rpc

_WORD: Final = re.compile(r"\berpilot:([a-z_]+):([0-9a-f]{24}):([0-9a-f]{12})\b")
_VERBS: Final = frozenset(get_args(Verb))
_LOCKS: WeakValueDictionary[tuple[object, ...], asyncio.Lock] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class Mark:
    """A key on a record: the verb, a hash of the key, a digest of what was asked."""

    verb: Verb
    key: str
    digest: str

    @property
    def word(self) -> str:
        """As it stands in ``reference``."""
        return f"erpilot:{self.verb}:{self.key}:{self.digest}"

    def check(self, other: Mark) -> None:
        """Raises ``Conflict`` when the key was used for something else."""
        if (self.verb, self.digest) != (other.verb, other.digest):
            raise Conflict("The key of this request stands for another request.", hint="Ask anew.")


def mark(verb: Verb, write: Write, *request: object) -> Mark:
    """The mark of a request."""
    return Mark(verb, hashed(write.key), hashlib.sha256(repr(_plain(request)).encode()).hexdigest()[:12])


def hashed(key: str) -> str:
    """A key as it is written: of one length, without characters of its own."""
    return hashlib.sha256(key.encode()).hexdigest()[:24]


def marks(text: str | None) -> list[Mark]:
    """The marks in a text, oldest first."""
    return [Mark(verb, key, digest) for verb, key, digest in _WORD.findall(text or "") if verb in _VERBS]


def words_of_people(text: str | None) -> str:
    """The text without marks."""
    return " ".join(_WORD.sub(" ", text or "").split())


def with_mark(text: str | None, new: Mark) -> str:
    """The text with another mark behind it."""
    return f"{text} {new.word}" if text else new.word


def domain(key: str) -> list[Any]:
    """Records on which a key stands."""
    return ["reference", "like", f"%erpilot:%:{hashed(key)}:%"]


def lock(rpc: Rpc, *what: object) -> asyncio.Lock:
    """The lock of a key or a record, shared by everybody in this process who talks to the same database."""
    name = (id(asyncio.get_running_loop()), rpc.address, rpc.database, *what)
    return _LOCKS.setdefault(name, asyncio.Lock())


def _plain(value: Any) -> Any:
    """A value whose text is the same for equal requests."""
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, *(_plain(getattr(value, each.name)) for each in fields(value))]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return sorted((str(name), _plain(each)) for name, each in value.items())
    return value.isoformat() if isinstance(value, date) else value
