"""Who holds a lease, and whether that process is still alive.

Invariant: a process is taken for dead only when that is certain: same machine and boot, and no process of that number
started at that time.
"""

from __future__ import annotations

import functools
import os
import socket

import msgspec
from msgspec import Struct


class Holder(Struct, frozen=True):
    """A process: ``started`` (Unix seconds) tells it from a later one of the same number."""

    host: str
    pid: int
    started: float

    def text(self) -> str:
        """As stored with a lease."""
        return msgspec.json.encode(self).decode()


@functools.cache
def _holder_of(pid: int) -> Holder:
    import psutil

    return Holder(socket.gethostname(), pid, psutil.Process(pid).create_time())


def this_process() -> Holder:
    """The process that calls."""
    return _holder_of(os.getpid())


def is_dead(text: str) -> bool:
    """Whether the process that wrote ``text`` is certainly gone."""
    import psutil

    try:
        holder = msgspec.json.decode(text, type=Holder)
    except msgspec.MsgspecError:
        return False
    if holder.host != socket.gethostname():
        return False
    try:
        process = psutil.Process(holder.pid)
        return abs(process.create_time() - holder.started) > 1.0 or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False


def describe(text: str) -> str:
    """The holder in words."""
    try:
        holder = msgspec.json.decode(text, type=Holder)
    except msgspec.MsgspecError:
        return "another process"
    return f"process {holder.pid}" + ("" if holder.host == socket.gethostname() else f" on {holder.host}")
