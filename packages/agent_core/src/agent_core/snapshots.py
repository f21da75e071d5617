"""States as bytes: how they are written, when, and whether this program may believe them.

Invariant: a snapshot says nothing that the log does not say. It is used only by the very code that would fold the log
to the same state; without it a session merely opens more slowly.
"""

from __future__ import annotations

import functools
import hashlib
from importlib import resources

import msgspec

from .state import State

FOLDED_BY = (
    "codec.py",
    "config.py",
    "context/tokens.py",
    "errors.py",
    "events.py",
    "fold.py",
    "messages.py",
    "model/retry.py",
    "state.py",
    "text.py",
    "values.py",
)
"""The modules that decide what a log folds to: ``fold`` and all that it imports (a test looks)."""

FEWEST, MOST = 50, 100
"""Events between two snapshots; large states are written less often."""
_PER_EVENT = 2048
"""Bytes of a state for which one more event is waited."""

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(State)


@functools.cache
def schema() -> str | None:
    """Fingerprint of the code that folds; any change of it makes older snapshots void. None when it cannot be read, and
    then there are no snapshots.
    """
    digest = hashlib.blake2b(digest_size=16)
    try:
        for name in FOLDED_BY:
            digest.update(resources.files(__package__).joinpath(name).read_bytes())
    except OSError:
        return None
    return digest.hexdigest()


def encode_state(state: State) -> bytes:
    """The state as JSON bytes."""
    return _encoder.encode(state)


def decode_state(data: bytes) -> State | None:
    """The inverse; None for what is no state."""
    try:
        return _decoder.decode(data)
    except msgspec.MsgspecError:
        return None


def is_due(events: int, size: int) -> bool:
    """Whether to write one, ``events`` after the last, which took ``size`` bytes."""
    return events >= min(MOST, FEWEST + size // _PER_EVENT)
