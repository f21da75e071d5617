"""The one way out: every text that reaches stdout or stderr passes here, and with it the character gate.

Invariant: no control character leaves but line feed, tab and the product's own colours; lines of both streams never
run into each other; a reader that closed its end of the pipe is no error. Text is only ever appended.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Literal, TextIO

from .gate import Gate, escape_json, mark, mark_line

Style = Literal["plain", "tool", "error", "wait", "quiet"]

_COLOURS: dict[Style, str] = {
    "plain": "",
    "tool": "\x1b[36m",
    "error": "\x1b[31m",
    "wait": "\x1b[33m",
    "quiet": "\x1b[2m",
}
_RESET = "\x1b[0m"


class Terminal:
    """stdout for answers and data, stderr for everything said beside them."""

    def __init__(self, out: TextIO, err: TextIO, environment: Mapping[str, str]) -> None:
        self._out, self._err = out, err
        self.colour_out, self.colour_err = _colours(out, environment), _colours(err, environment)
        self.wide = _width(out)
        self._gate = Gate()
        self._open = False
        """The answer's last line is not finished."""

    def size(self) -> tuple[int, int]:
        """Columns and rows of the screen that notes appear on, as it is now; 80 and 24 where there is none."""
        with contextlib.suppress(OSError, ValueError):
            found = os.get_terminal_size(self._err.fileno())
            if found.columns and found.lines:
                return found.columns, found.lines
        return 80, 24

    def stream(self, text: str) -> None:
        """A piece of the answer, at once."""
        self._answer(self._gate.feed(text))

    def end_stream(self) -> None:
        """The answer is whole: what was kept back is shown and its last line finished."""
        self._answer(self._gate.close())
        if self._open:
            self._answer("\n")

    def line(self, text: str, style: Style = "plain") -> None:
        """Lines on stdout."""
        self.end_stream()
        self._write(self._out, _dressed(mark(text), style, self.colour_out) + "\n")

    def note(self, text: str, style: Style = "plain") -> None:
        """Lines on stderr."""
        self.end_stream()
        self._write(self._err, _dressed(mark(text), style, self.colour_err) + "\n")

    def json(self, text: str) -> None:
        """A line of JSON on stdout, the same value in characters that no terminal acts on."""
        self._write(self._out, escape_json(text) + "\n")

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]], last_style: Style = "plain") -> None:
        """Columns on stdout, as wide as their content; on a terminal the last one is cut at its edge."""
        from rich.cells import cell_len, set_cell_size

        self.end_stream()
        cells = [[mark_line(cell) for cell in row] for row in (head, *rows)]
        widths = [max(cell_len(row[index]) for row in cells) for index in range(len(head))]
        for number, row in enumerate(cells):
            fixed = "  ".join(set_cell_size(cell, width) for cell, width in zip(row[:-1], widths[:-1], strict=True))
            room = None if self.wide is None else max(self.wide - cell_len(fixed) - 2, 20)
            last = row[-1] if room is None or cell_len(row[-1]) <= room else set_cell_size(row[-1], room - 1) + "…"
            style: Style = "quiet" if number == 0 else last_style
            self._write(self._out, _dressed(f"{fixed}  {last}".rstrip(), style, self.colour_out) + "\n")

    def _answer(self, shown: str) -> None:
        if shown:
            self._open = not shown.endswith("\n")
            self._write(self._out, shown)

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
            stream.flush()
        except BrokenPipeError:
            _let_go(stream)


def open_terminal() -> Terminal:
    """The terminal of this process; characters that its encoding lacks are shown as escapes."""
    out, err = _present(sys.stdout), _present(sys.stderr)
    for stream in (out, err):
        with contextlib.suppress(AttributeError):  # a stream that was replaced by something simpler
            stream.reconfigure(errors="backslashreplace")  # type: ignore[attr-defined]
    return Terminal(out, err, os.environ)


def can_ask() -> bool:
    """A person sits in front of it: there is somebody to put a question to."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _dressed(text: str, style: Style, colour: bool) -> str:
    start = _COLOURS[style]
    if not colour or not start:
        return text
    return "\n".join(f"{start}{line}{_RESET}" if line else line for line in text.split("\n"))


def _colours(stream: TextIO, environment: Mapping[str, str]) -> bool:
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb" or not stream.isatty():
        return False
    return os.name != "nt" or bool(environment.get("WT_SESSION") or environment.get("TERM"))


def _width(stream: TextIO) -> int | None:
    if not stream.isatty():
        return None
    with contextlib.suppress(OSError):
        return os.get_terminal_size(stream.fileno()).columns
    return None


def _present(stream: TextIO | None) -> TextIO:
    """The stream; one that leads nowhere for a process that was started without it."""
    return open(os.devnull, "w", encoding="utf-8") if stream is None else stream


def _let_go(stream: TextIO) -> None:
    """Nobody reads any more: what is still written goes nowhere, also when the interpreter flushes at its end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
