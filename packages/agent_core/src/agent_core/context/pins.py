"""The facts that outlive what they were said in: the goal, what was done, promises and rules, and what a summary found
worth keeping.

Invariant: pure. A fact that a model names is kept only if every figure in it stands in what it was made from; the list
never takes more than its share of the budget, and the goal is the last to go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..sizes import Rates, text_size
from ..state import Entry, State
from ..text import clip

_GOAL = "The conversation began with: "
_DONE = "Done: "
_LONGEST = 240
"""Characters of one fact."""
_MOST_COMMITMENTS = 8
_SENTENCE = re.compile(r"(?<=[。！？!?；;\n])|(?<=\. )")
_BINDING = re.compile(
    r"\b(?:promis\w*|agreed|guarantee\w*|remember|always|never|must|from now on)\b"
    r"|答应|承诺|保证|约定|说好|记住|以后|一律|必须|不得|不要再",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_FROZEN = re.compile(r"\n\n\[[a-z][a-z_-]*: [\s\S]*\]\Z")
"""As ``fold.message_text`` puts it behind a message."""


def pins_behind(
    state: State, removed: Sequence[Entry], found: Iterable[str], most_tokens: float, rates: Rates
) -> tuple[str, ...]:
    """The pinned facts once ``removed`` is gone: those so far, what was done there, and those that were ``found``."""
    facts = list(state.pinned)
    if not any(fact.startswith(_GOAL) for fact in facts):
        facts[:0] = [_line(_GOAL + said(entry)) for entry in removed[:1]]
    facts += done(state, removed)
    facts += [_line(fact) for fact in found]
    kept = list(dict.fromkeys(facts))
    while len(kept) > 1 and rates.tokens(text_size("\n".join(kept), len(kept))) > most_tokens:
        del kept[1]  # the oldest behind the goal
    return tuple(kept)


def done(state: State, entries: Iterable[Entry]) -> list[str]:
    """A line for each change that these made: what was called with what, and what it gave (numbers of documents)."""
    run = state.run
    return [
        _line(f"{_DONE}{call.call.name} {clip(call.call.arguments, 100)} -> {_opening(call.result.content or '')}")
        for entry in entries
        for call in entry.calls
        if call.result is not None and call.attempts and call.status == "done"
        if run is not None and run.rules(call.call.name).tier != "READ" and not call.failed
    ]


def commitments(entries: Iterable[Entry]) -> list[str]:
    """What people and the model promised and ruled, in their own words: the newest of each range."""
    found = [
        sentence
        for entry in entries
        if not entry.note and entry.message.content
        for sentence in sentences_of(said(entry))
        if _BINDING.search(sentence) and not sentence.endswith(("?", "？"))
    ]
    return found[-_MOST_COMMITMENTS:]


def said(entry: Entry) -> str:
    """The words of a message without what was frozen into it, where a person said it."""
    text = entry.message.content or ""
    return text if entry.message.role != "user" or entry.note else _FROZEN.sub("", text)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, each in one line."""
    return [line for part in _SENTENCE.split(text) if (line := " ".join(part.split()))]


def checked(facts: Iterable[str], source: str) -> list[str]:
    """The facts all of whose figures stand in ``source``."""
    known = {_plain(figure) for figure in _FIGURE.findall(source)}
    return [fact for fact in facts if all(_plain(figure) in known for figure in _FIGURE.findall(fact))]


def _plain(figure: str) -> str:
    return figure.replace(",", "").strip(".")


def _opening(text: str) -> str:
    return text if len(text) <= 120 else text[:120] + "…"


def _line(fact: str) -> str:
    flat = " ".join(fact.split())
    return flat if len(flat) <= _LONGEST else flat[:_LONGEST] + "…"
