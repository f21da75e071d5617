"""Who holds a lease, and whether that process is still alive.

Invariant: a process is taken for dead only when that is certain: same machine, same boot, same view of processes, and
no process of that number that started at that time.
"""

from __future__ import annotations

import functools
import os
import socket
from pathlib import Path

import msgspec
from msgspec import Struct


class Holder(Struct, frozen=True):
    """A process. ``place`` tells machines, boots and containers apart; ``started`` tells it from a later process of
    the same number (clock ticks since the boot where the system has them, else Unix seconds).
    """

    place: str
    pid: int
    started: float

    def text(self) -> str:
        """As stored with a lease."""
        return msgspec.json.encode(self).decode()


@functools.cache
def _place() -> str:
    parts = [socket.gethostname()]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        parts.append(os.readlink("/proc/self/ns/pid"))
    except OSError:
        pass  # no such thing on this system: the name of the machine has to do
    return " ".join(parts)


def _started(pid: int) -> float | None:
    """When the process began; None when there is none, or only what is left of it."""
    try:
        # Field 22; the name before it is in parentheses and may hold anything.
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return None if fields[0] in "ZX" else float(fields[19])
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return None
    except ProcessLookupError:
        return None
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.NoSuchProcess:
        return None


@functools.cache
def _holder_of(pid: int) -> Holder:
    return Holder(_place(), pid, _started(pid) or 0.0)


def this_process() -> Holder:
    """The process that calls."""
    return _holder_of(os.getpid())


def is_dead(text: str) -> bool:
    """Whether the process that wrote ``text`` is certainly gone."""
    try:
        holder = msgspec.json.decode(text, type=Holder)
    except msgspec.MsgspecError:
        return False
    if holder.place != _place():
        return False
    try:
        started = _started(holder.pid)
    except (OSError, ValueError, IndexError):
        return False
    return started is None or abs(started - holder.started) > 1.0


def describe(text: str) -> str:
    """The holder in words."""
    try:
        holder = msgspec.json.decode(text, type=Holder)
    except msgspec.MsgspecError:
        return "another process"
    host = holder.place.partition(" ")[0]
    return f"process {holder.pid}" + ("" if host == socket.gethostname() else f" on {host}")
