"""A line typed by the person, with editing, at the bottom of what was printed.

Invariant: what is typed goes nowhere but to the caller: no history file, and nothing shown of a secret.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.output import create_output
from prompt_toolkit.output.vt100 import Vt100_Output

if TYPE_CHECKING:
    from prompt_toolkit.output import Output

    from .terminal import Terminal

_history = InMemoryHistory()


async def prompt_line(
    message: str, *, default: str = "", secret: bool = False, remember: bool = False, multiline: bool = False
) -> str:
    """What was typed up to Enter. Raises ``EOFError`` (Ctrl-D) and ``KeyboardInterrupt`` (Ctrl-C)."""
    settings: dict[str, Any] = {"history": _history if remember else InMemoryHistory(), "output": _output()}
    session: PromptSession[str] = PromptSession(message, is_password=secret, multiline=multiline, **settings)
    return await session.prompt_async(default=default)


async def says_yes(terminal: Terminal, question: str) -> bool:
    """Whether a question is answered with a clear yes; going away from it is none."""
    forget_typed()
    terminal.note(question, "wait")
    try:
        answer = await prompt_line("? ")
    except (EOFError, KeyboardInterrupt):
        return False
    return answer.strip().lower() in ("y", "yes", "是", "好")


def forget_typed() -> None:
    """Drops what was typed and not read yet, so that it cannot answer a question that was not on the screen then."""
    from prompt_toolkit.application.current import get_app_session
    from prompt_toolkit.input.typeahead import clear_typeahead

    clear_typeahead(get_app_session().input)
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        with contextlib.suppress(termios.error, OSError, ValueError):
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _output() -> Output:
    """stderr, because stdout may be a file; the terminal is not asked where its cursor is: some never answer."""
    output = create_output(stdout=sys.stderr)
    if isinstance(output, Vt100_Output):
        output.enable_cpr = False
    return output
