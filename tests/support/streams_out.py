"""Streams that keep what was written, and say what kind they are."""

from __future__ import annotations

import io


class Capture(io.StringIO):
    """``is_terminal``: what ``isatty`` answers."""

    def __init__(self, is_terminal: bool = False) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal
