"""The questions of an evaluation: what is asked, which calls are right, what a right answer holds.

Invariant: a file is refused as a whole with one sentence when a question of it is not understood. That the facts are
those of the seeded shop is a test's business.
"""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

QUESTIONS = Path(__file__).with_name("questions.toml")
"""The twenty questions about the seeded shop."""


class Need(Struct, frozen=True, forbid_unknown_fields=True):
    """A call without which the question cannot be answered."""

    tools: tuple[str, ...]
    """Any of these will do."""
    arguments: dict[str, Any]
    """Of a right call of the first of ``tools``; an example, not a demand."""
    mentions: tuple[tuple[str, ...], ...] = ()
    """What the arguments have to hold: of each group, one. Digits are compared by value, other text as a part."""
    without: tuple[str, ...] = ()
    """Arguments that a right call leaves out: they would narrow what was asked for."""


class Question(Struct, frozen=True, forbid_unknown_fields=True):
    """One question, asked in a session of its own."""

    id: str
    language: Literal["zh", "en"]
    text: str
    needs: tuple[Need, ...]
    facts: tuple[tuple[str, ...], ...]
    """What a right answer holds: of each group, one. Numbers are compared by value, other text as a part."""


class QuestionFile(Struct, frozen=True, forbid_unknown_fields=True):
    """Questions about one day of the shop."""

    today: date
    question: tuple[Question, ...]


def read_questions(path: Path) -> QuestionFile:
    """Reads a TOML file. Raises ``ValueError`` with one sentence when it cannot be used."""
    try:
        file = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), QuestionFile)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"{path} is no file of questions: {error}.") from None
    names = [question.id for question in file.question]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{path} has two questions with the id {twice[0]!r}.")
    if not names:
        raise ValueError(f"{path} has no questions.")
    return file
