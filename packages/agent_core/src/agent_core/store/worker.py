"""One thread that owns an SQLite connection and runs the jobs of all sessions on it.

Invariant: a write job is answered only after its transaction is on disk. Jobs that wait at the same moment share one
transaction (group commit); a job that fails leaves no trace in it and does not harm the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ..errors import AgentError, StoreError

T = TypeVar("T")
_MOST_AT_ONCE = 64
"""Jobs that share a transaction at the most, so that none waits long."""


class _Job:
    __slots__ = ("error", "future", "loop", "result", "run", "writes")

    def __init__(self, run: Callable[[sqlite3.Connection], Any], writes: bool) -> None:
        self.run, self.writes = run, writes
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.result: Any = None
        self.error: BaseException | None = None


class SqliteWorker:
    """``connect`` opens and prepares the connection; it runs in the thread, at the first job."""

    def __init__(self, path: Path, connect: Callable[[], sqlite3.Connection]) -> None:
        self._path, self._connect = path, connect
        self._jobs: deque[_Job] = deque()
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = False

    async def write(self, run: Callable[[sqlite3.Connection], T]) -> T:
        """Runs a job inside a transaction that began with ``BEGIN IMMEDIATE``; returns when it is durable."""
        return await self._submit(_Job(run, True))  # type: ignore[no-any-return]

    async def read(self, run: Callable[[sqlite3.Connection], T]) -> T:
        """Runs a job outside of any write transaction."""
        return await self._submit(_Job(run, False))  # type: ignore[no-any-return]

    async def aclose(self) -> None:
        """Ends the thread after the jobs that wait."""
        thread = self._thread
        if thread is None:
            return
        with self._wake:
            self._closing = True
            self._wake.notify()
        await asyncio.to_thread(thread.join)
        self._thread, self._closing = None, False

    def _submit(self, job: _Job) -> asyncio.Future[Any]:
        with self._wake:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name=f"store {self._path.name}", daemon=True)
                self._thread.start()
            self._jobs.append(job)
            self._wake.notify()
        return job.future

    def _serve(self) -> None:
        connection: sqlite3.Connection | None = None
        while True:
            with self._wake:
                while not self._jobs and not self._closing:
                    self._wake.wait()
                batch = [self._jobs.popleft() for _ in range(min(len(self._jobs), _MOST_AT_ONCE))]
                if not batch:
                    break
            try:
                if connection is None:
                    connection = self._connect()
            except BaseException as error:
                for job in batch:
                    job.error = _plain(error, self._path)
            else:
                self._run_batch(connection, batch)
            _answer(batch)
        if connection is not None:
            connection.close()

    def _run_batch(self, connection: sqlite3.Connection, batch: list[_Job]) -> None:
        writes = [job for job in batch if job.writes]
        if writes and not self._transaction(connection, writes) and len(writes) > 1:
            for job in writes:  # something broke the shared one: each on its own, so that only the culprit fails
                job.error = None
                self._transaction(connection, [job])
        for job in batch:
            if not job.writes:
                try:
                    job.result = job.run(connection)
                except BaseException as error:
                    job.error = _plain(error, self._path)

    def _transaction(self, connection: sqlite3.Connection, jobs: list[_Job]) -> bool:
        try:
            connection.execute("BEGIN IMMEDIATE")
            for job in jobs:
                try:
                    job.result = job.run(connection)
                except AgentError as error:  # raised before the job wrote anything
                    job.error = error
            connection.execute("COMMIT")
        except BaseException as error:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            for job in jobs:
                job.error = _plain(error, self._path)
            return False
        return True


def _answer(batch: list[_Job]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
    for job in batch:
        by_loop.setdefault(job.loop, []).append(job)
    for loop, jobs in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_deliver, jobs)


def _deliver(jobs: list[_Job]) -> None:
    for job in jobs:
        if job.future.done():
            continue
        if job.error is not None:
            job.future.set_exception(job.error)
        else:
            job.future.set_result(job.result)


def _plain(error: BaseException, path: Path) -> BaseException:
    """An error of SQLite or of the file system in one sentence."""
    if isinstance(error, AgentError) or not isinstance(error, sqlite3.Error | OSError):
        return error
    text = str(error)
    if "full" in text or "ENOSPC" in text or getattr(error, "errno", None) == 28:
        return StoreError(f"The disk is full: {path} cannot be written. Free some space, then resume.")
    if "readonly" in text or "unable to open" in text or isinstance(error, PermissionError):
        return StoreError(f"{path} cannot be opened for writing. Check the permissions of its folder.")
    if "malformed" in text or "not a database" in text:
        return StoreError(f"{path} is not a readable database. Restore it from a backup, or move it away.")
    if "locked" in text or "busy" in text:
        return StoreError(f"{path} is locked by another program for too long. Close that program, then try again.")
    return StoreError(f"{path} cannot be used: {text}.")
