"""What the runtime recalled for a message, read back from its lines in brackets, for a model that is no language model.

Invariant: pure; a passage is given as it stands, with its day and who said it. Results of tools are left out: they are
of then, and can be looked up again.
"""

from __future__ import annotations

import re

_LINE = re.compile(r"^\[recalled: event \d+, (\d{4}-\d\d-\d\d)[^,]*, (?!result of )([^:]*): (.*)\]$", re.MULTILINE)
_SAID = re.compile(
    r"答应|承诺|约定|商定|谈[好妥过定到]|说[好过]|讲[好过]|报过|提[到过]|记得|交代|"
    r"\b(?:promis|agree|told|said|say|mention|remember|quoted?)\w*\b",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"[?？吗呢]|多少|什么|哪|谁|几|怎么|\b(?:what|who|whom|whose|which|when|where|how|did)\b", re.IGNORECASE
)


def recalled(content: str) -> list[dict[str, str]]:
    """What was said before, in the order in which it was said: ``day``, ``who``, ``text``. What the assistant said only
    where no person said anything.
    """
    found = [{"day": day, "who": who, "text": text} for day, who, text in _LINE.findall(content)]
    return [each for each in found if each["who"] != "assistant"] or found


def asks_what_was_said(question: str) -> bool:
    """Whether a question is about the conversation itself: what was promised, agreed, told."""
    return _SAID.search(question) is not None and _ASKING.search(question) is not None
