"""Differences that a person looked at and accepted, kept in a JSON file beside the logs.

Invariant: an acceptance is for one session, one event and exactly one difference; when the difference becomes another
one, it is told again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from ..errors import Refused
from ..files import replace_file
from .check import Difference


class Acceptance(Struct, frozen=True):
    """Who accepted which difference, and why. ``recorded`` and ``now`` are for whoever reads the file."""

    session: str
    seq: int
    digest: str
    recorded: str
    now: str
    by: str
    reason: str = ""


def read_accepted(path: str | os.PathLike[str]) -> list[Acceptance]:
    """What the file holds; nothing when there is none. Raises ``Refused`` when it cannot be read."""
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=list[Acceptance])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.MsgspecError) as error:
        raise Refused(f"The accepted differences in {path} cannot be read: {error}.") from None


def accept(path: str | os.PathLike[str], differences: Iterable[Difference], *, by: str, reason: str = "") -> None:
    """Adds differences to the file, which is replaced in one step."""
    known = {(one.session, one.seq, one.digest): one for one in read_accepted(path)}
    for one in differences:
        key = (one.session_id, one.seq, one.digest)
        known.setdefault(key, Acceptance(*key, recorded=one.recorded, now=one.now, by=by, reason=reason))
    data = msgspec.json.format(msgspec.json.encode([known[key] for key in sorted(known)])) + b"\n"
    replace_file(path, data)


def not_accepted(differences: Iterable[Difference], accepted: Iterable[Acceptance]) -> list[Difference]:
    """The differences that nobody has accepted yet."""
    known = {(one.session, one.seq, one.digest) for one in accepted}
    return [one for one in differences if (one.session_id, one.seq, one.digest) not in known]
