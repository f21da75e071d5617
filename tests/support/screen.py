"""A person at a terminal: ``erpilot`` on a pseudo-terminal, keys typed and lines read."""

from __future__ import annotations

import os
import re
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pexpect  # type: ignore[import-untyped]
from pexpect.fdpexpect import fdspawn  # type: ignore[import-untyped]

from .cli import environment
from .fork_server import Running, run


class Screen:
    """What stands on the terminal, and its keyboard."""

    def __init__(self, child: Any, running: Running) -> None:
        self._child, self._running = child, running
        self.text = ""
        """All that was read so far, as it came."""

    def wait_for(self, words: str) -> str:
        """Reads on until ``words`` stand there; returns what was read."""
        self._child.expect_exact(words)
        read: str = self._child.before + words
        self.text += read
        return read

    def ready(self) -> None:
        """Waits until the line editor shows its prompt and takes keys."""
        self._child.expect(r"[>?]\x08\x1b\[2C.*?\x1b\[\?25h")
        self.text += self._child.before + self._child.after

    def ready_for(self, question: str) -> None:
        """Waits until the line editor asks ``question`` and takes keys."""
        self.wait_for(question)
        self._child.expect(r"\x1b\[\?25h")
        self.text += self._child.before + self._child.after

    def type(self, keys: str) -> None:
        """Types a line and Enter."""
        self._child.send(keys + "\r")

    def press(self, letter: str) -> None:
        """Ctrl and a letter."""
        self._child.send(chr(ord(letter) - ord("a") + 1))

    def end(self) -> int:
        """Reads to the end and returns the exit code."""
        self._child.expect(pexpect.EOF)
        self.text += self._child.before
        code = self._running.wait(120)
        assert code >= 0, f"ended by signal {-code}"
        return code

    @property
    def plain(self) -> str:
        """The text without the product's colours and the line editor's own sequences."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r", "", self.text)


@contextmanager
def screen(
    home: Path,
    *arguments: str,
    settings: Mapping[str, str] | None = None,
    size: tuple[int, int] = (40, 160),
    cwd: Path | None = None,
) -> Iterator[Screen]:
    """Starts a command on a terminal of its own, of ``size`` rows and columns; it is closed when the test is over."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, size)
    running = run(arguments, environment(home, TERM="xterm", **(settings or {})), [theirs] * 3, cwd=cwd)
    os.close(theirs)
    child = fdspawn(ours, encoding="utf-8", timeout=120)
    try:
        yield Screen(child, running)
    finally:
        child.close()  # a hangup ends whoever still sits there
