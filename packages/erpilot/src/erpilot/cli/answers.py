"""What a person may answer to a question about a call, read from the words that were typed.

Invariant: pure; only a clear word decides, and whatever else was typed decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

_YES = ("y", "yes", "ok", "是", "好", "好的", "同意", "可以")
_NO = ("n", "no", "否", "不", "不要", "拒绝", "取消")
_ALWAYS = ("a", "always", "总是", "以后都", "以后都照办", "照办")
_EDIT = ("e", "edit", "改", "修改", "编辑")
_OPEN = ("o", "open", "展开", "打开")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person said. ``reason``: words for the assistant; ``always``: also takes the offer; ``arguments``:
    those that are wanted instead.
    """

    approve: bool
    reason: str | None = None
    always: bool = False
    arguments: dict[str, Any] | None = None


Wish = Literal["edit", "open"]


def read_answer(written: str) -> Answer | Wish | None:
    """``y``, ``n``, ``n REASON``, ``a``, ``e`` or ``o``, in words of both languages; None when it is none of them."""
    word, _, rest = written.strip().partition(" ")
    word = word.lower().rstrip(".!。！,，:：")
    if word in _NO:
        return Answer(False, rest.strip() or None)
    if rest.strip():
        return None
    if word in _YES:
        return Answer(True)
    if word in _ALWAYS:
        return Answer(True, always=True)
    if word in _EDIT:
        return "edit"
    return "open" if word in _OPEN else None
