"""Runs the jobs of all sessions on one SQLite connection.

Invariant: a write job is answered only after its transaction is on disk. Jobs that wait at the same moment share one
transaction (group commit); a job that fails leaves no trace in it and does not harm the others.

Where the disk syncs quickly a batch runs right on the event loop, which costs less than half of a hand-over to a
thread, and so does one that only reads; while syncs are slow, or another program holds the file, batches that write run
in a thread and the loop goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from ..errors import AgentError, StoreError

T = TypeVar("T")
_MOST_AT_ONCE = 64
"""Jobs that share a transaction at the most, so that none waits long."""
_QUICK = 0.005
"""Seconds. Batches that take longer on average run in the thread."""
_BUSY = 30_000
"""Milliseconds that a batch in the thread waits for another program."""


class _Job:
    __slots__ = ("error", "future", "loop", "result", "run", "writes")

    def __init__(self, run: Callable[[sqlite3.Connection], Any], writes: bool) -> None:
        self.run, self.writes = run, writes
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.result: Any = None
        self.error: BaseException | None = None


class SqliteWorker:
    """``connect`` opens and prepares the connection, at the first job."""

    def __init__(self, path: Path, connect: Callable[[], sqlite3.Connection]) -> None:
        self._path, self._connect = path, connect
        self._jobs: list[_Job] = []
        self._scheduled = False
        self._guard = threading.Lock()
        """Held while jobs are taken off the list."""
        self._turn = threading.Lock()
        """Held while a batch runs."""
        self._db: sqlite3.Connection | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._patient: bool | None = None
        """Whether the connection waits for other programs now."""
        self._average = _QUICK * 2
        """Seconds per batch of writes, lately. The first batches run in the thread."""

    def write(self, run: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Runs a job inside a transaction that began with ``BEGIN IMMEDIATE``; done when it is durable."""
        return self._submit(_Job(run, True))

    def read(self, run: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Runs a job outside of any write transaction."""
        return self._submit(_Job(run, False))

    async def aclose(self) -> None:
        """Closes the connection after the jobs that wait."""
        if self._thread is None:
            return
        thread, self._thread = self._thread, None
        await asyncio.get_running_loop().run_in_executor(thread, self._close)
        thread.shutdown()

    def _submit(self, job: _Job) -> asyncio.Future[Any]:
        with self._guard:
            self._jobs.append(job)
            if self._scheduled:
                return job.future
            self._scheduled = True
        job.loop.call_soon(self._flush)
        return job.future

    def _flush(self) -> None:
        quick = self._average < _QUICK or not any(job.writes for job in self._jobs)
        if self._db is not None and quick and self._turn.acquire(blocking=False):
            try:
                with self._guard:
                    batch, self._jobs, self._scheduled = self._jobs, [], False
                for start in range(0, len(batch), _MOST_AT_ONCE):
                    part = batch[start : start + _MOST_AT_ONCE]
                    if self._run_batch(self._db, part, patient=False):
                        _answer(part)
                    else:  # another program holds the file: wait for it in the thread
                        with self._guard:
                            self._jobs = batch[start:] + self._jobs
                            hand_over, self._scheduled = not self._scheduled, True
                        if hand_over:
                            self._executor().submit(self._serve)
                        return
            finally:
                self._turn.release()
        else:
            self._executor().submit(self._serve)

    def _executor(self) -> ThreadPoolExecutor:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"store {self._path.name}")
        return self._thread

    def _serve(self) -> None:
        """In the thread: runs what waits."""
        with self._turn:
            while True:
                with self._guard:
                    batch, self._jobs = self._jobs[:_MOST_AT_ONCE], self._jobs[_MOST_AT_ONCE:]
                    if not batch:
                        self._scheduled = False
                        return
                try:
                    if self._db is None:
                        self._db = self._connect()
                except BaseException as error:
                    for job in batch:
                        job.error = _plain(error, self._path)
                else:
                    self._run_batch(self._db, batch, patient=True)
                _answer(batch)

    def _close(self) -> None:
        self._serve()
        if self._db is not None:
            self._db.close()
            self._db, self._patient = None, None

    def _run_batch(self, db: sqlite3.Connection, batch: list[_Job], *, patient: bool) -> bool:
        """Runs the jobs; False, with nothing done, when another program holds the file and ``patient`` is not set."""
        writes = [job for job in batch if job.writes]
        if patient is not self._patient:
            db.execute(f"PRAGMA busy_timeout = {_BUSY if patient else 0}")
            self._patient = patient
        if writes:
            began = time.perf_counter()
            if not self._transaction(db, writes, patient):
                if not patient and any(isinstance(job.error, _Locked) for job in writes):
                    for job in writes:
                        job.error = None
                    return False
                if len(writes) > 1:  # something broke the shared one: each on its own, so that only the culprit fails
                    for job in writes:
                        job.error = None
                        self._transaction(db, [job], patient=True)
            self._average += 0.2 * (time.perf_counter() - began - self._average)
        for job in batch:
            if not job.writes:
                try:
                    job.result = job.run(db)
                except BaseException as error:
                    job.error = _plain(error, self._path)
        return True

    def _transaction(self, db: sqlite3.Connection, jobs: list[_Job], patient: bool) -> bool:
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            locked = not patient and error.sqlite_errorcode == sqlite3.SQLITE_BUSY
            for job in jobs:
                job.error = _Locked() if locked else _plain(error, self._path)
            return False
        try:
            for job in jobs:
                try:
                    job.result = job.run(db)
                except AgentError as error:  # raised before the job wrote anything
                    job.error = error
            db.execute("COMMIT")
        except BaseException as error:
            with contextlib.suppress(sqlite3.Error):
                db.execute("ROLLBACK")
            for job in jobs:
                job.error = _plain(error, self._path)
            return False
        return True


class _Locked(Exception):
    """Another program holds the file right now."""


def _answer(batch: list[_Job]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
    for job in batch:
        by_loop.setdefault(job.loop, []).append(job)
    try:
        here: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
    except RuntimeError:
        here = None
    for loop, jobs in by_loop.items():
        if loop is here:
            _deliver(jobs)
        else:
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
    if "disk I/O" in text:
        return StoreError(f"{path} cannot be written: no space left, a limit on file sizes, or a failing disk.")
    if "locked" in text or "busy" in text:
        return StoreError(f"{path} is locked by another program for too long. Close that program, then try again.")
    return StoreError(f"{path} cannot be used: {text}.")
