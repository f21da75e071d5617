"""Commands that packages above this one bring, found through the entry points of the group ``erpilot.commands``.

Invariant: nothing is looked for while a built-in command runs, so that having more commands costs no start-up time.

An entry point is named like its command and leads to a module with ``HELP`` and ``MESSAGES`` (texts in both languages,
as in ``help_texts`` and ``texts``), ``arguments(parser, say)``, which adds its arguments, and ``run(desk, parsed)``,
which returns the exit code. Importing it has to be cheap: help loads it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from .problems import USAGE, Problem

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from .desk import Desk
    from .language import Lang
    from .texts import Texts

GROUP = "erpilot.commands"
EXTRAS = {"serve": "api", "users": "api"}
"""Commands that an extra of the package brings."""


class Extension(Protocol):
    """One command; a module is one."""

    HELP: Mapping[str, tuple[str, str]]
    MESSAGES: Mapping[str, tuple[str, str]]

    def arguments(self, parser: argparse.ArgumentParser, say: Callable[[str], str]) -> None:
        """Adds the command's arguments."""

    def run(self, desk: Desk, parsed: argparse.Namespace) -> int:
        """Runs the command and returns its exit code."""


def extensions(arguments: Sequence[str], built_in: Collection[str]) -> dict[str, Extension]:
    """The commands that are brought by others, where one of them or the help is asked for."""
    word = _word(arguments)
    if word in built_in:
        return {}
    from importlib.metadata import entry_points

    found: dict[str, Extension] = {point.name: point.load() for point in sorted(entry_points(group=GROUP))}
    if word in EXTRAS and word not in found:
        raise Problem(USAGE, "needs_extra", command=word, extra=EXTRAS[word])
    return found


def texts_of(lang: Lang, brought: Mapping[str, Extension]) -> Texts:
    """The texts of the command line and of what was brought."""
    from .texts import Texts

    return Texts(lang, {key: text for extension in brought.values() for key, text in extension.MESSAGES.items()})


def _word(arguments: Sequence[str]) -> str:
    """The command that is asked for; empty for the help of the whole."""
    value = False
    for argument in arguments:
        if value:
            value = False
        elif argument == "--lang":
            value = True
        elif not argument.startswith("-"):
            return argument
    return ""
