"""Puts a question about a call to the person at the terminal.

Invariant: the preview is quoted and comes first; the question, with tool and tier, is the last thing on the screen
before the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .desk import Desk
from .gate import mark_line
from .lines import Lines

if TYPE_CHECKING:
    from agent_core.trace.transcript import Question

_YES = ("y", "yes", "ok", "是", "好", "好的", "同意", "可以")
_NO = ("n", "no", "否", "不", "不要", "拒绝", "取消")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person said. ``reason``: words for the assistant."""

    approve: bool
    reason: str | None = None


class Undecided(Exception):
    """The person went away without an answer."""


async def ask_person(desk: Desk, lines: Lines, question: Question) -> Answer:
    """Shows what the call would do and waits for y or n. Raises ``Undecided`` on Ctrl-C and Ctrl-D."""
    from .prompt import prompt_line

    for text, style in lines.preview(question):
        desk.terminal.note(text, style)
    asked = desk.texts("question", tool=mark_line(question.tool), tier=mark_line(question.tier))
    while True:
        desk.terminal.note(asked, "wait")
        try:
            answer = read_answer(await prompt_line("? "))
        except (EOFError, KeyboardInterrupt):
            raise Undecided from None
        if answer is not None:
            return answer
        desk.terminal.note(desk.texts("answer_y_or_n"), "wait")


def read_answer(written: str) -> Answer | None:
    """``y``, ``n`` or ``n REASON``, in words of both languages; None when it is neither."""
    word, _, rest = written.strip().partition(" ")
    word = word.lower().rstrip(".!。！,，:：")
    if word in _YES and not rest.strip():
        return Answer(True)
    if word in _NO:
        return Answer(False, rest.strip() or None)
    return None
