"""What of a log can be found, and which pieces of it answer a question best.

Invariant: pure, and every store ranks with it, so all of them find the same. What people and models said and what tools
answered can be found, as it was recorded; what was frozen into a message is not part of what its author said.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from .. import events as ev
from ..text import without_notices
from .words import words_of

LONGEST = 200_000
"""Characters of a text that can be found."""
LOOKED_AT = 24
"""Events that are read for one question."""
REPLY_WITHIN = 40
"""Events behind a question in which its answer is looked for."""
FOUND_TYPES = ("UserMessage", "AssistantMessage", "ToolCallFinished", "ApprovalDecided", "OutcomeResolved")
"""Types of events with such a text."""
WEAK = 2.0
"""Score below which a passage has hardly anything in common with a question."""

_PIECE, _WHOLE, _REPLY = 240, 320, 160
"""Characters of what is ranked, of a passage with its surroundings, of the answer to a question that was found."""
_SATURATION, _LENGTH_COUNTS = 1.2, 0.4
"""BM25's k1 and b."""
_ENDS = re.compile(r"(?<=[。!?！？;；\n])|(?<=[.,，、 ])")
_QUESTION = re.compile(r"[?？吗呢么]\s*$")
_NEWEST = re.compile(
    r"上一?次|最近|最后|最新|刚才|刚刚|\b(?:last|latest|newest|most recent(?:ly)?|just now)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+")

Speaker = Literal["user", "assistant", "tool"]


class Passage(Struct, frozen=True):
    """A piece of a log: where it stands, who said it (``name``: which person or tool) and when (Unix seconds)."""

    session_id: str
    seq: int
    at: float
    speaker: Speaker
    name: str
    text: str
    score: float = 0.0


class Source(Struct, frozen=True):
    """An event that may hold an answer; ``reply``: what was answered to it, where it is a question of a person."""

    item: ev.Recorded
    reply: str | None = None


def findable(event: ev.AnyEvent) -> tuple[Speaker, str, str] | None:
    """Who said it, under which name, and the text; None where there is nothing to find."""
    match event:
        case ev.UserMessage():
            text = "\n\n".join(part.text if isinstance(part, ev.TextPart) else part.name for part in event.content)
            return ("user", event.author, text[:LONGEST])
        case ev.AssistantMessage() if event.content:
            return ("assistant", "", event.content[:LONGEST])
        case ev.ToolCallFinished() if event.ok and event.tool != "recall":
            return ("tool", event.tool, readable(without_notices(event.content)[:LONGEST]))
        case ev.ApprovalDecided() if event.reason:
            return ("user", event.by, event.reason[:LONGEST])
        case ev.OutcomeResolved() if event.content:
            return ("user", event.by, event.content[:LONGEST])
    return None


def readable(content: str) -> str:
    """A result as lines of text: one for each record of a JSON value, which a passage can be made of."""
    if content[:1] not in ("{", "["):
        return content
    try:
        value = msgspec.json.decode(content)
        return "\n".join(_told(value, ""))
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return content


def asks(event: ev.AnyEvent) -> bool:
    """Whether a person asked rather than said something, as far as the last character tells."""
    return isinstance(event, ev.UserMessage) and _QUESTION.search((findable(event) or ("", "", ""))[2]) is not None


def ranked(
    question: str,
    asked: Mapping[str, float],
    places: Mapping[str, Sequence[int]],
    events: int,
    read: Callable[[int], Source | None],
    *,
    limit: int,
    least: float = 0.0,
) -> list[Passage]:
    """The passages that answer ``question`` best, the best first: what scores ``least``, and not far below the best.

    ``places``: the events in which each of the ``asked`` words stands, among all ``events`` that were searched.
    """
    values = {word: weight * _rarity(len(places[word]), events) for word, weight in asked.items() if word in places}
    scores: dict[int, float] = {}
    for word, value in values.items():
        for seq in places[word]:
            scores[seq] = scores.get(seq, 0.0) + value
    likely = sorted(scores, key=lambda seq: (-scores[seq], -seq))[:LOOKED_AT]
    return best((source for seq in likely if (source := read(seq)) is not None), question, values, limit, least)


def _rarity(found: int, events: int) -> float:
    """BM25's inverse document frequency."""
    return math.log(1 + (max(events, found) - found + 0.5) / (found + 0.5))


def best(
    sources: Iterable[Source], question: str, values: Mapping[str, float], limit: int, least: float = 0.0
) -> list[Passage]:
    """The best passages of these events; ``values``: what each word of the question counts.

    Newer ones win over older ones of about the same worth, more so where the question is for the newest.
    """
    found = [passage for source in sources if (passage := _passage(source, values)) is not None]
    found = [one for one in found if one.score >= least]
    oldest, newest = min((one.at for one in found), default=0.0), max((one.at for one in found), default=0.0)
    weight = 0.5 if _NEWEST.search(question) else 0.1
    scored = [
        msgspec.structs.replace(one, score=one.score * (1 + weight * (one.at - oldest) / ((newest - oldest) or 1.0)))
        for one in found
    ]
    scored.sort(key=lambda one: (-one.score, -one.at, -one.seq))
    chosen: list[Passage] = []
    for one in scored:
        if one.score < 0.4 * scored[0].score or len(chosen) == limit:
            break
        if not any(_is_said_by(one, other) for other in chosen):
            chosen.append(one)
    return chosen


def _is_said_by(one: Passage, other: Passage) -> bool:
    """Whether a passage adds nothing to another: the same words, for a result of the same tool whatever the figures."""
    if one.speaker == other.speaker == "tool" and one.name == other.name:
        return _NUMBER.sub("", one.text) == _NUMBER.sub("", other.text) and one.at <= other.at
    return one.text == other.text


def _passage(source: Source, values: Mapping[str, float]) -> Passage | None:
    found = findable(source.item.event)
    if found is None:
        return None
    speaker, name, text = found
    pieces = list(_pieces(text))
    scores = [_score(piece, values) for piece in pieces]
    at = max(range(len(pieces)), key=lambda place: scores[place], default=None)
    if at is None or not scores[at]:
        return None
    told, score = _surrounded(pieces, at, headed=speaker == "tool"), scores[at]
    if source.reply:
        told = f"{told} → {_cut(' '.join(source.reply.split()), _REPLY)}"
    elif asks(source.item.event):  # what it asks for is not in it
        score *= 0.5
    item = source.item
    return Passage(item.session_id, item.seq or 0, item.at, speaker, name, told, score)


def _score(piece: str, values: Mapping[str, float]) -> float:
    """BM25 of a piece; a word is there or not, since repeating it says no more."""
    common = words_of(piece) & values.keys()
    if not common:
        return 0.0
    length = 1 - _LENGTH_COUNTS + _LENGTH_COUNTS * len(piece) / (_PIECE / 2)
    return sum(values[word] for word in common) * (_SATURATION + 1) / (1 + _SATURATION * length)


def _pieces(text: str) -> Iterator[str]:
    """The lines of a text, long ones cut where a sentence or a word ends, short ones that follow each other joined."""
    held = ""
    for line in text.splitlines():
        for piece in _cut_line(line.strip()):
            if held and len(held) + len(piece) >= _PIECE / 2:
                yield held
                held = ""
            held = f"{held} / {piece}" if held else piece
    if held:
        yield held


def _cut_line(line: str) -> Iterator[str]:
    while len(line) > _PIECE:
        ends = [end.end() for end in _ENDS.finditer(line, _PIECE // 2, _PIECE)]
        cut = ends[-1] if ends else _PIECE
        yield line[:cut].strip()
        line = line[cut:].strip()
    if line:
        yield line


def _surrounded(pieces: Sequence[str], at: int, *, headed: bool) -> str:
    """A piece with what stands beside it as far as there is room; the records of a result with what it begins with."""
    first = last = at
    size = len(pieces[at])
    head = f"{_cut(pieces[0], _WHOLE - size)} … " if headed and at > 1 and size < _WHOLE - 40 else ""
    size += len(head)
    while not headed:
        if last + 1 < len(pieces) and size + len(pieces[last + 1]) <= _WHOLE:
            last += 1
            size += len(pieces[last])
        elif first > 0 and size + len(pieces[first - 1]) <= _WHOLE:
            first -= 1
            size += len(pieces[first])
        else:
            break
    return head + " / ".join(pieces[first : last + 1])


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def _told(value: Any, name: str) -> Iterator[str]:
    """A JSON value line by line: what is plain in a record is one line, each record in it another."""
    if isinstance(value, dict):
        plain, inner = [], list[tuple[str, Any]]()
        for key, each in value.items():
            if isinstance(each, dict) or (isinstance(each, list) and any(isinstance(one, dict | list) for one in each)):
                inner.append((key, each))
            elif each not in (None, "", []):
                plain.append(f"{key}: {_plain(each)}")
        if plain:
            yield f"{name}: {'; '.join(plain)}" if name else "; ".join(plain)
        for key, each in inner:
            yield from _told(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _told(each, name)
    elif value not in (None, ""):
        yield f"{name}: {_plain(value)}" if name else _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)
