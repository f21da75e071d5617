"""States as bytes: how they are written, when, and whether this program may believe them.

Invariant: a snapshot says nothing that the log does not say. It is used only by the very code that would fold the log
to the same state; without it a session merely opens more slowly.
"""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path

import msgspec

from .state import State

_PACKAGE = Path(__file__).parent
_ROOTS = ("fold.py", "codec.py")
"""What decides what a log folds to, together with all that it imports from this package."""
_IMPORT = re.compile(rb"^from (\.+)([\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE)

FEWEST, MOST = 50, 100
"""Events between two snapshots; large states are written less often."""
_PER_EVENT = 2048
"""Bytes of a state for which one more event is waited."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(State)


@functools.cache
def schema() -> str | None:
    """Fingerprint of the code that folds; any change of it makes older snapshots void. None when its source cannot be
    read, and then there are no snapshots.
    """
    try:
        sources = folding_code(_PACKAGE)
    except OSError:
        return None
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(sources):
        digest.update(b"%b %d\n%b" % (name.encode(), len(sources[name]), sources[name]))
    return digest.hexdigest()


def folding_code(package: Path) -> dict[str, bytes]:
    """The sources of the fold and of all modules of the package that it imports, by path within the package."""
    found: dict[str, bytes] = {}
    wanted = list(_ROOTS)
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = package.joinpath(name).read_bytes()
            wanted += [module for module in _imported(name, found[name]) if package.joinpath(module).is_file()]
    return found


def _imported(name: str, source: bytes) -> list[str]:
    modules = []
    for dots, module, names in _IMPORT.findall(source):
        parts = name.split("/")[: -len(dots)] + [part for part in module.decode().split(".") if part]
        modules += ["/".join(parts) + ".py"] if parts else []
        inner = [word.split()[0] for word in names.decode().strip("()").split(",") if word.strip()]
        modules += ["/".join([*parts, word]) + ".py" for word in inner]
    return modules


def encode_state(state: State) -> bytes | None:
    """The state as MessagePack, which is read in a third of the time of JSON; None where it holds what that cannot say
    (a number of more than 64 bits that some endpoint sent).
    """
    try:
        return _encoder.encode(state)
    except OverflowError:
        return None


def decode_state(data: bytes) -> State | None:
    """The inverse; None for what is no state."""
    try:
        return _decoder.decode(data)
    except msgspec.MsgspecError:
        return None


def is_due(events: int, size: int) -> bool:
    """Whether to write one, ``events`` after the last, which took ``size`` bytes."""
    return events >= min(MOST, FEWEST + size // _PER_EVENT)
