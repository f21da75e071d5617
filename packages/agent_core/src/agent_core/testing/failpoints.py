"""Arms the fail points of the runtime: stop, kill or raise at the n-th visit of a named place.

Invariant: nothing is armed unless a test asks for it, in this process (``armed``) or through the environment of a child
(``AGENT_CORE_FAILPOINT=PLACE@N=ACTION``, read by ``arm_from_environment``).

Places, and what stands behind the colon in a name:

- ``before_append``, ``after_append``: a transaction of the log; the types of its events, joined by ``+``
- ``before_effect``, ``after_effect``: a call runs; the name of its tool
- ``stream``: an event of the model's stream arrived; its type
- ``summarised``: a summary is made and not yet recorded; ``ContextCompacted``, or ``nothing`` when it is unusable
- ``erp_applied``: an ``ErpDouble`` has committed an effect and not yet answered; the name of the tool

``python -m agent_core.testing MODULE [ARGUMENT ...]`` runs a module as ``python -m`` does, armed from the environment.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

from .. import failpoint as core
from ..events import Recorded
from ..messages import Event

VARIABLE = "AGENT_CORE_FAILPOINT"
"""``PLACE@N=ACTION``: which place, at which visit (from 1), and what happens there."""
VISITS = "AGENT_CORE_FAILPOINT_VISITS"
"""A file to which the name of each visited place is appended, one a line."""

Action = Literal["kill", "raise", "stop"]
"""``kill``: SIGKILL to this process; ``stop``: SIGSTOP (until SIGCONT); ``raise``: ``SimulatedCrash``."""


class SimulatedCrash(BaseException):
    """Stands for the end of the process; not an ``Exception``, so that nothing on the way can handle it."""


def name_of(place: str, about: Any) -> str:
    """``place:about`` as used in the environment and in ``armed``."""
    if isinstance(about, list | tuple):
        return f"{place}:{'+'.join(_one(item) for item in about)}"
    return f"{place}:{_one(about)}"


def _one(about: Any) -> str:
    if isinstance(about, str):
        return about
    subject: Event | Any = about.event if isinstance(about, Recorded) else about
    return type(subject).__name__


@contextmanager
def armed(name: str, *, visit: int = 1, action: Action | Callable[[], None] = "raise") -> Iterator[list[str]]:
    """Arms one place of this process; yields the list of places visited so far.

    ``name`` as in ``name_of``; an empty one only takes notes. ``action`` may be a function.
    """
    visited: list[str] = []
    _install(name, visit, action, visited.append)
    try:
        yield visited
    finally:
        core.hook = None


def arm_from_environment() -> None:
    """Arms what ``AGENT_CORE_FAILPOINT`` and ``AGENT_CORE_FAILPOINT_VISITS`` ask for; nothing without them."""
    value, visits = os.environ.get(VARIABLE, ""), os.environ.get(VISITS)
    if not value and visits is None:
        return
    name, visit, action = parse(value) if value else ("", 1, "raise")
    _install(name, visit, action, _note_in(Path(visits)) if visits is not None else lambda name: None)


def parse(value: str) -> tuple[str, int, Action]:
    """(name, visit, action) of ``PLACE@N=ACTION``; raises ``ValueError``."""
    rest, _, action = value.rpartition("=")
    name, _, visit = rest.rpartition("@")
    if not name or not visit.isdigit() or action not in get_args(Action):
        raise ValueError(f"{VARIABLE} is {value!r}; it should be PLACE@N=ACTION, the action one of {get_args(Action)}")
    return name, int(visit), action  # type: ignore[return-value]


def _install(name: str, visit: int, action: Action | Callable[[], None], note: Callable[[str], object]) -> None:
    left = visit

    def hook(place: str, about: Any) -> None:
        nonlocal left
        here = name_of(place, about)
        note(here)
        if here != name:
            return
        left -= 1
        if left == 0:
            _act(action, here)

    core.hook = hook


def _act(action: Action | Callable[[], None], name: str) -> None:
    if callable(action):
        action()
    elif action == "raise":
        raise SimulatedCrash(name)
    else:
        os.kill(os.getpid(), signal.SIGKILL if action == "kill" else signal.SIGSTOP)


def _note_in(path: Path) -> Callable[[str], object]:
    def note(name: str) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(name + "\n")

    return note
