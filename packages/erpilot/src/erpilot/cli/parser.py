"""The commands, their arguments and options.

Invariant: loads nothing but argparse and the help texts, because every start passes here.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Protocol

from .extensions import Extension
from .help_texts import COMPLAINTS, HELP
from .language import Lang
from .parser_shop import add_shop_commands
from .problems import USAGE, Problem


def build_parser(lang: Lang, show: Any = print, brought: Mapping[str, Extension] | None = None) -> Parser:
    """The parser; ``show`` gets the help when it is asked for. ``brought``: commands of packages above."""
    brought = brought or {}
    say = _Sayer(lang, {key: text for extension in brought.values() for key, text in extension.HELP.items()})
    parser = Parser(say, show, prog="erpilot", description=say("program"), epilog=say("program_examples"))
    parser.add_argument("--version", action="store_true", default=argparse.SUPPRESS, help=say("opt_version"))
    _common(parser, say)
    parser.set_defaults(verbose=False, lang=None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title=say("commands"), required=True)

    def command(name: str, under: Any = None, key: str | None = None) -> Parser:
        about = key or name
        added: Parser = (under or commands).add_parser(
            name, say=say, show=show, help=say(about), description=say(about), epilog=say(f"{about}_examples")
        )
        _common(added, say)
        return added

    def group(name: str) -> Any:
        return command(name).add_subparsers(dest="action", metavar="ACTION", title=say("commands"), required=True)

    _add_talking(command, say)
    _add_reading(command, say)
    _add_deciding(command, group, say)
    _add_branches(command, say)
    _add_keeping(command, group, say)
    add_shop_commands(command, group, say)
    _add_setup(command("setup"), say)
    command("doctor").add_argument("--no-test", action="store_true", help=say("opt_no_test"))
    for name, extension in brought.items():
        extension.arguments(command(name), say)
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

    def __init__(self, lang: Lang, more: Mapping[str, tuple[str, str]]) -> None:
        self._lang, self._more = lang, more
        usage = self("usage")

        class Formatter(argparse.RawDescriptionHelpFormatter):
            def add_usage(self, text: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
                super().add_usage(text, actions, groups, usage if prefix is None else prefix)

        self.formatter = Formatter

    def __call__(self, key: str) -> str:
        english, chinese = self._more[key] if key in self._more else HELP[key]
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
    parser.add_argument("--rule", action="append", default=[], metavar="RULE", help=say("opt_rule"))
    parser.add_argument("--trace", metavar="FILE", help=say("opt_trace"))


def _session(parser: argparse.ArgumentParser, say: _Sayer, *, optional: bool = False) -> None:
    if optional:
        parser.add_argument("session", metavar="SESSION", nargs="?", default="last", help=say("opt_session_or_last"))
    else:
        parser.add_argument("session", metavar="SESSION", help=say("opt_session_argument"))


def _json(parser: argparse.ArgumentParser, say: _Sayer) -> None:
    parser.add_argument("--json", action="store_true", help=say("opt_json"))


def _add_talking(command: _Adder, say: _Sayer) -> None:
    ask, chat = command("ask"), command("chat")
    ask.add_argument("text", metavar="TEXT", help=say("opt_text"))
    for talk in (ask, chat):
        talk.add_argument("--session", metavar="SESSION", help=say("opt_session"))
        talk.add_argument("--profile", metavar="NAME", help=say("opt_profile"))
        _runs(talk, say)
    ask.add_argument("--queue", action="store_true", help=say("opt_queue"))
    _json(ask, say)


def _add_reading(command: _Adder, say: _Sayer) -> None:
    sessions = command("sessions")
    sessions.add_argument("--all", action="store_true", help=say("opt_all"))
    sessions.add_argument("--search", metavar="TEXT", help=say("opt_search"))
    show = command("show")
    _session(show, say)
    show.add_argument("--step", type=int, metavar="N", help=say("opt_step"))
    show.add_argument("--prompt", action="store_true", help=say("opt_prompt"))
    show.add_argument("--context", action="store_true", help=say("opt_context"))
    show.add_argument("--numbers", action="store_true", help=say("opt_numbers"))
    replay = command("replay")
    replay.add_argument("source", metavar="SESSION_OR_FILE", help=say("opt_source"))
    replay.add_argument("--step-by-step", action="store_true", help=say("opt_step_by_step"))


def _add_deciding(command: _Adder, group: Callable[[str], Any], say: _Sayer) -> None:
    for name in ("resume", "approve", "deny", "resolve"):
        decide = command(name)
        _session(decide, say)
        if name in ("approve", "deny"):
            decide.add_argument("call", metavar="CALL", nargs="?", help=say("opt_call"))
            decide.add_argument("--because", metavar="TEXT", required=name == "deny", help=say("opt_because"))
        if name == "resolve":
            decide.add_argument("call", metavar="CALL", help=say("opt_uncertain_call"))
            outcomes = ("happened", "did-not-happen", "send-again")
            decide.add_argument("outcome", choices=outcomes, metavar="|".join(outcomes), help=say("opt_outcome"))
            decide.add_argument("--content", metavar="TEXT", help=say("opt_content"))
        _runs(decide, say)
        _json(decide, say)
    trust = group("trust")
    _session(command("list", trust, "trust_list"), say, optional=True)
    revoke = command("revoke", trust, "trust_revoke")
    revoke.add_argument("grant", metavar="GRANT", help=say("opt_grant"))
    _session(revoke, say, optional=True)
    revoke.add_argument("--because", metavar="TEXT", help=say("opt_because"))


def _add_branches(command: _Adder, say: _Sayer) -> None:
    fork = command("fork")
    _session(fork, say)
    fork.add_argument("--at", type=int, metavar="SEQ", required=True, help=say("opt_at"))
    fork.add_argument("--system", metavar="FILE", help=say("opt_system"))
    fork.add_argument("--say", metavar="TEXT", help=say("opt_say"))
    _runs(fork, say)
    _json(fork, say)
    diff = command("diff")
    diff.add_argument("a", metavar="SESSION", help=say("opt_session_argument"))
    diff.add_argument("b", metavar="OTHER", help=say("opt_other_session"))
    rollback = command("rollback")
    _session(rollback, say)
    rollback.add_argument("--to", type=int, metavar="SEQ", required=True, help=say("opt_to"))
    rollback.add_argument("--because", metavar="TEXT", help=say("opt_why"))
    rollback.add_argument("--undo", action="store_true", help=say("opt_undo"))
    _runs(rollback, say)


def _add_keeping(command: _Adder, group: Callable[[str], Any], say: _Sayer) -> None:
    verify = command("verify")
    verify.add_argument("source", metavar="SESSION_OR_PATH", help=say("opt_verify_source"))
    verify.add_argument("--against", metavar="SEQ:HASH", help=say("opt_against"))
    verify.add_argument("--accept", metavar="FILE", help=say("opt_accept"))
    verify.add_argument("--because", metavar="TEXT", help=say("opt_accept_because"))
    export = command("export")
    _session(export, say)
    export.add_argument("--until", type=int, metavar="SEQ", help=say("opt_until"))
    export.add_argument("--redact", action="store_true", help=say("opt_redact"))
    export.add_argument("-o", "--output", metavar="FILE", help=say("opt_output"))
    command("import-session").add_argument("file", metavar="FILE", help=say("opt_export_file"))
    traced = command("export", group("trace"), "trace_export")
    _session(traced, say)
    traced.add_argument("--format", choices=("jsonl",), default="jsonl", metavar="jsonl", help=say("opt_format"))
    traced.add_argument("-o", "--output", metavar="FILE", help=say("opt_output"))
    erase = command("erase")
    _session(erase, say)
    erase.add_argument("--yes", action="store_true", help=say("opt_yes"))
    command("backup").add_argument("file", metavar="FILE", help=say("opt_backup_file"))
    restore = command("restore")
    restore.add_argument("file", metavar="FILE", help=say("opt_backup_file"))
    restore.add_argument("--yes", action="store_true", help=say("opt_yes"))


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
    shop = parser.add_argument_group(say("shop_options"))
    shop.add_argument("--shop", choices=("embedded", "tryton"), metavar="embedded|tryton", help=say("opt_shop"))
    shop.add_argument("--shop-url", metavar="URL", help=say("opt_shop_url"))
    shop.add_argument("--shop-database", metavar="NAME", help=say("opt_shop_database"))
    shop.add_argument("--shop-user", metavar="USER", help=say("opt_shop_user"))
    shop.add_argument("--password-stdin", action="store_true", help=say("opt_password_stdin"))
    parser.add_argument("--no-test", action="store_true", help=say("opt_no_test"))


class _Adder(Protocol):
    """Adds a command, also one under another; ``key`` names its texts where that is not its name."""

    def __call__(self, name: str, under: Any = None, key: str | None = None) -> Parser: ...
