"""Everything the command line says to people, in Chinese and English, as data.

Invariant: each text exists in both languages with the same places to fill in.
"""

from __future__ import annotations

from collections.abc import Mapping

from .language import Lang
from .texts_commands import COMMANDS
from .texts_problems import PROBLEMS
from .texts_runs import RUNS
from .texts_shop import SHOP


class Texts:
    """The texts of one language: ``texts("busy", session=…, holder=…)``. ``more``: those that other packages bring."""

    def __init__(self, lang: Lang, more: Mapping[str, tuple[str, str]] | None = None) -> None:
        self.lang: Lang = lang
        self._messages = {**MESSAGES, **more} if more else MESSAGES

    def __call__(self, key: str, /, **values: object) -> str:
        """The text with its places filled in; an unknown key is a programming error."""
        english, chinese = self._messages[key]
        return (chinese if self.lang == "zh" else english).format(**values)

    def get(self, key: str, otherwise: str) -> str:
        """A text that takes no values, or ``otherwise`` where there is none (codes of newer programs)."""
        return self(key) if key in self._messages else otherwise


MESSAGES: dict[str, tuple[str, str]] = {**PROBLEMS, **RUNS, **COMMANDS, **SHOP}
"""Every text: English, Chinese. Which file holds it is told by what it is about."""
