"""``erpilot``: the parser of the command line, and the one place where an error becomes a sentence and an exit code.

Invariant: importing this module, and asking for help, loads no HTTP client, no store and no screen library; each
command's module is loaded when the command is given. No exception leaves ``main``.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import signal
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from .help_texts import COMPLAINTS, HELP
from .language import Lang, language
from .problems import USAGE, Problem, explain

COMMANDS = {
    "ask": "ask",
    "chat": "chat",
    "sessions": "sessions",
    "show": "show",
    "replay": "replay",
    "resume": "decide",
    "approve": "decide",
    "deny": "decide",
    "setup": "setup",
    "doctor": "doctor",
}
"""Command to the module that holds it: its function of the command's name takes the desk and the arguments."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    lang = language(arguments, os.environ)
    from .terminal import open_terminal

    terminal = open_terminal()
    verbose = False
    try:
        parser = build_parser(lang, terminal.line)
        if not arguments:
            parser.print_help()
            return USAGE
        parsed = parser.parse_args(arguments)
        verbose = parsed.verbose
        _end_politely()
        from .desk import Desk

        desk = Desk(terminal, lang, parsed, os.environ)
        module = importlib.import_module(f".{COMMANDS[parsed.command]}", __package__)
        return int(getattr(module, parsed.command)(desk, parsed))
    except SystemExit as stop:  # help and version end this way
        return stop.code if isinstance(stop.code, int) else 0
    except BaseException as error:
        from .texts import Texts

        code, sentence = explain(error, Texts(lang))
        if verbose and not isinstance(error, Problem):
            from .logs import log_failure

            log_failure(error)
        terminal.note(sentence, "error")
        return code


def build_parser(lang: Lang, show: Any = print) -> Parser:
    """The parser; ``show`` gets the help when it is asked for."""
    say = _Sayer(lang)
    parser = Parser(say, show, prog="erpilot", description=say("program"), epilog=say("program_examples"))
    parser.add_argument("--version", action="store_true", default=argparse.SUPPRESS, help=say("opt_version"))
    _common(parser, say)
    parser.set_defaults(verbose=False, lang=None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title=say("commands"), required=True)

    def command(name: str) -> Parser:
        added: Parser = commands.add_parser(
            name, say=say, show=show, help=say(name), description=say(name), epilog=say(f"{name}_examples")
        )
        _common(added, say)
        return added

    for name in ("ask", "chat"):
        talk = command(name)
        if name == "ask":
            talk.add_argument("text", metavar="TEXT", help=say("opt_text"))
        talk.add_argument("--session", metavar="SESSION", help=say("opt_session"))
        talk.add_argument("--profile", metavar="NAME", help=say("opt_profile"))
        _runs(talk, say)
        if name == "ask":
            talk.add_argument("--json", action="store_true", help=say("opt_json"))
    command("sessions").add_argument("--all", action="store_true", help=say("opt_all"))
    show_ = command("show")
    show_.add_argument("session", metavar="SESSION", help=say("opt_session_argument"))
    show_.add_argument("--step", type=int, metavar="N", help=say("opt_step"))
    show_.add_argument("--prompt", action="store_true", help=say("opt_prompt"))
    replay = command("replay")
    replay.add_argument("source", metavar="SESSION_OR_FILE", help=say("opt_source"))
    replay.add_argument("--step-by-step", action="store_true", help=say("opt_step_by_step"))
    for name in ("resume", "approve", "deny"):
        decide = command(name)
        decide.add_argument("session", metavar="SESSION", help=say("opt_session_argument"))
        if name != "resume":
            decide.add_argument("call", metavar="CALL", nargs="?", help=say("opt_call"))
            decide.add_argument("--because", metavar="TEXT", required=name == "deny", help=say("opt_because"))
        _runs(decide, say)
        decide.add_argument("--json", action="store_true", help=say("opt_json"))
    _add_setup(command("setup"), say)
    command("doctor").add_argument("--no-test", action="store_true", help=say("opt_no_test"))
    return parser


class Parser(argparse.ArgumentParser):
    """argparse in two languages: complaints are ``Problem``s, help goes through the terminal."""

    def __init__(self, say: _Sayer, show: Any, **settings: Any) -> None:
        super().__init__(formatter_class=say.formatter, add_help=False, allow_abbrev=False, **settings)
        self._say, self._show = say, show
        self._positionals.title, self._optionals.title = say("arguments"), say("options")
        self.add_argument("-h", "--help", action="help", help=say("opt_help"))

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As in argparse; ``--version`` needs no command."""
        if list(args or ())[:1] == ["--version"]:
            from importlib.metadata import version

            self._show(f"erpilot {version('erpilot')}")
            raise SystemExit(0)
        return super().parse_args(args, namespace)

    def print_help(self, file: object = None) -> None:
        """The help, on stdout."""
        self._show(self.format_help().rstrip())

    def error(self, message: str) -> NoReturn:
        """Ends the command with exit code 2."""
        command = self.prog.removeprefix("erpilot").strip()
        raise Problem(USAGE, "usage", why=self._say.complaint(message), command=f"{command} " if command else "")


class _Sayer:
    """The help texts of one language."""

    def __init__(self, lang: Lang) -> None:
        self._lang = lang
        usage = self("usage")

        class Formatter(argparse.RawDescriptionHelpFormatter):
            def add_usage(self, text: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
                super().add_usage(text, actions, groups, usage if prefix is None else prefix)

        self.formatter = Formatter

    def __call__(self, key: str) -> str:
        english, chinese = HELP[key]
        return chinese if self._lang == "zh" else english

    def complaint(self, message: str) -> str:
        if self._lang == "zh":
            for pattern, chinese in COMPLAINTS:
                if re.fullmatch(pattern, message, re.DOTALL):
                    return re.sub(pattern, chinese, message, flags=re.DOTALL)
        return message[:1].upper() + message[1:] + "."


def _common(parser: argparse.ArgumentParser, say: _Sayer) -> None:
    parser.add_argument("--lang", choices=("zh", "en"), default=argparse.SUPPRESS, metavar="LANG", help=say("opt_lang"))
    parser.add_argument("--verbose", action="store_true", default=argparse.SUPPRESS, help=say("opt_verbose"))


def _runs(parser: argparse.ArgumentParser, say: _Sayer) -> None:
    parser.add_argument("--model", metavar="MODEL", help=say("opt_model"))
    parser.add_argument("--approve", choices=("write",), metavar="write", help=say("opt_approve"))
    parser.add_argument("--trace", metavar="FILE", help=say("opt_trace"))


def _add_setup(parser: argparse.ArgumentParser, say: _Sayer) -> None:
    parser.add_argument("--model", metavar="MODEL", help=say("opt_model"))
    parser.add_argument("--base-url", metavar="URL", help=say("opt_base_url"))
    key = parser.add_mutually_exclusive_group()
    key.add_argument("--key-variable", metavar="NAME", help=say("opt_key_variable"))
    key.add_argument("--key-stdin", action="store_true", help=say("opt_key_stdin"))
    parser.add_argument("--currency", metavar="CNY|USD", help=say("opt_currency"))
    parser.add_argument("--exchange-rate", metavar="RATE", help=say("opt_exchange_rate"))
    parser.add_argument("--today", metavar="DATE", help=say("opt_today"))
    parser.add_argument("--zone", metavar="ZONE", help=say("opt_zone"))
    parser.add_argument("--no-test", action="store_true", help=say("opt_no_test"))


def _end_politely() -> None:
    """A request to terminate is treated like Ctrl-C: what happened is kept and the code is 130."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
