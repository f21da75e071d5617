"""Puts a question about a call to the person at the terminal.

Invariant: the preview is quoted and comes first; the question, with tool, tier and target, is the last thing on the
screen before the answer. Yes counts only when everything that was folded has been opened, and only when it was typed
after the question stood there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .answers import Answer, read_answer
from .desk import Desk
from .editing import Check, edit_arguments
from .gate import mark_line
from .previews import Folded, always_sentence, fold, name, preview_lines, rows

if TYPE_CHECKING:
    from agent_core.trace.transcript import Question

_OWN_ROWS = 9
"""Rows of the screen that the question itself may take."""


class Undecided(Exception):
    """The person went away without an answer."""


async def ask_person(desk: Desk, question: Question, check: Check) -> Answer:
    """Shows what the call would do and waits for an answer. Raises ``Undecided`` on Ctrl-C and Ctrl-D."""
    from .prompt import forget_typed, prompt_line

    columns, height = desk.terminal.size()
    folded = fold(rows(preview_lines(question, desk.texts), columns), height - _OWN_ROWS)
    opened = 1
    _show(desk, folded.pages[0])
    while True:
        forget_typed()
        _put(desk, question, folded, opened)
        try:
            answer = read_answer(await prompt_line("? "))
        except (EOFError, KeyboardInterrupt):
            raise Undecided from None
        closed = opened < len(folded.pages)
        if answer == "open" and closed:
            _show(desk, folded.pages[opened])
            opened += 1
        elif answer == "edit":
            arguments = await edit_arguments(desk, question.arguments, check)
            if arguments is not None:
                return Answer(True, arguments=arguments)
        elif not isinstance(answer, Answer):
            desk.terminal.note(desk.texts("answer_clearly"), "wait")
        elif answer.approve and closed:
            desk.terminal.note(desk.texts("open_first"), "wait")
        elif answer.always and question.offer is None:
            desk.terminal.note(desk.texts("no_offer", tier=mark_line(question.tier)), "wait")
        else:
            return answer


def _show(desk: Desk, page: tuple[str, ...]) -> None:
    for row in page:
        desk.terminal.note(row, "wait")


def _put(desk: Desk, question: Question, folded: Folded, opened: int) -> None:
    """The question itself, last."""
    say, texts = desk.terminal.note, desk.texts
    count, characters = folded.hidden(opened)
    if count:
        say(texts("folded", rows=count, characters=f"{characters:,}"), "wait")
    say(texts.get(f"why_{question.why}", mark_line(question.why)), "wait")
    if question.offer is not None:
        say(always_sentence(question.tool, question.offer, texts), "wait")
    tool, tier = mark_line(question.tool), mark_line(question.tier)
    target = "" if question.target is None else texts("for_target", target=name(question.target, texts))
    say(texts("question", tool=tool, tier=tier, target=target), "wait")
