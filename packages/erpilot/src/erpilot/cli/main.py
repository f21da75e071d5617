"""``erpilot``: runs one command, and is the one place where an error becomes a sentence and an exit code.

Invariant: importing this module, and asking for help, loads no HTTP client, no store and no screen library; each
command's module is loaded when the command is given. No exception leaves ``main``.
"""

from __future__ import annotations

import builtins
import importlib
import keyword
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from .extensions import Extension, extensions, texts_of
from .language import language
from .parser import build_parser
from .problems import INTERRUPTED, USAGE, Problem, explain

COMMANDS = {
    "ask": "ask",
    "chat": "chat",
    "sessions": "sessions",
    "show": "show",
    "replay": "replay",
    "resume": "decide",
    "approve": "decide",
    "deny": "decide",
    "resolve": "decide",
    "trust": "trust",
    "fork": "branches",
    "diff": "compare",
    "rollback": "branches",
    "verify": "verify",
    "export": "moving",
    "import-session": "moving",
    "trace": "moving",
    "erase": "keeping",
    "backup": "keeping",
    "restore": "keeping",
    "import": "importing",
    "report": "reporting",
    "print": "printing",
    "setup": "setup",
    "doctor": "doctor",
}
"""Command to the module that holds it: its function of the command's name (``_`` for ``-``, and behind a word of
Python) takes the desk and the arguments.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code. Without ``argv`` it is the program itself: nothing follows the
    command, so a signal that comes when it is over changes nothing any more.
    """
    if argv is not None:
        return _run(list(argv))
    try:
        return _run(sys.argv[1:])
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        _be_deaf()


def _run(arguments: list[str]) -> int:
    lang = language(arguments, os.environ)
    from .terminal import open_terminal

    terminal = open_terminal()
    verbose, brought = False, dict[str, Extension]()
    try:
        brought = extensions(arguments, COMMANDS)
        parser = build_parser(lang, terminal.line, brought)
        if not arguments:
            parser.print_help()
            return USAGE
        parsed = parser.parse_args(arguments)
        verbose = parsed.verbose
        _end_politely()
        from .desk import Desk

        desk = Desk(terminal, lang, parsed, os.environ)
        if parsed.command in brought:
            desk.texts = texts_of(lang, brought)
            return brought[parsed.command].run(desk, parsed)
        module = importlib.import_module(f".{COMMANDS[parsed.command]}", __package__)
        return int(getattr(module, _function(parsed.command))(desk, parsed))
    except SystemExit as stop:  # help and version end this way
        return stop.code if isinstance(stop.code, int) else 0
    except BaseException as error:
        before = _be_deaf()  # whoever is impatient has what they wanted: it ends
        try:
            code, sentence = explain(error, texts_of(lang, brought))
            if verbose and not isinstance(error, Problem):
                from .logs import log_failure

                log_failure(error)
            terminal.note(sentence, "error")
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        return code


def _function(command: str) -> str:
    """The name of a command's function."""
    name = command.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) or hasattr(builtins, name) else name


def _be_deaf() -> dict[int, Any]:
    """Ignores requests to end from now on; returns how they were treated before."""
    return {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}


def _end_politely() -> None:
    """A request to terminate is treated like Ctrl-C: what happened is kept and the code is 130."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
