"""What is wrong with a file, by row and column, in codes for which ``words`` has sentences.

Invariant: rows and columns are those that a person sees in the spreadsheet: rows from 1, columns as letters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ..errors import Invalid

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem:
    """``error``: the row is left out; ``warning``: it is taken, and should be looked at. ``row`` 0: the whole sheet."""

    row: int
    column: str
    code: str
    values: dict[str, str] = field(default_factory=dict)
    severity: Severity = "error"


class UnreadableFile(Invalid):
    """The file cannot be read at all. ``code`` and ``values`` are for ``words``."""

    def __init__(self, code: str, **values: object) -> None:
        self.code = code
        self.values = {name: str(value) for name, value in values.items()}
        from .words import sentence

        super().__init__(sentence(code, self.values, "en"))


def column_letters(index: int) -> str:
    """0 is A, 25 is Z, 26 is AA."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
