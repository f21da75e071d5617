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
from .moments import times_meant
from .words import folded, words_of

LONGEST = 200_000
"""Characters of a text that can be found."""
LOOKED_AT = 24
"""Events that are read for one question."""
REPLY_WITHIN = 40
"""Events behind a question in which its answer is looked for."""
FOUND_TYPES = ("UserMessage", "AssistantMessage", "ToolCallFinished", "ApprovalDecided", "OutcomeResolved")
"""Types of events with such a text."""

_PIECE, _WHOLE, _REPLY = 240, 320, 160
"""Characters of what is ranked, of a passage with its surroundings, of the answer to a question that was found."""
_MOST_READ = 300_000
"""Characters that are read for one question; what is likeliest comes first."""
_THEN_MEANT = 1.6
"""How much more a passage is worth that was said at a time which the question names."""
_TELLING = 12
"""Words of a question, those that count most, that make up the whole of it."""
_FAR_BELOW = 0.5
"""Part of the best score below which a passage is not given."""
_SATURATION, _LENGTH_COUNTS = 1.2, 0.4
"""BM25's k1 and b."""
_ENDS = re.compile(r"(?<=[。!?！？;；\n])|(?<=[.,，、 ])")
_QUESTION = re.compile(r"[?？吗呢么]\s*$")
_NEWEST = re.compile(
    r"上一?次|最近|最后|最新|刚才|刚刚|\b(?:last|latest|newest|most recent(?:ly)?|just now)\b", re.IGNORECASE
)
_THEN = " → "
"""Stands between a question and its answer."""
_NUMBER = re.compile(r"\d+")

Speaker = Literal["user", "assistant", "tool"]
Kind = Speaker | Literal["question", "answered"]
_WORTH: Mapping[Kind, float] = {"user": 1.0, "assistant": 0.6, "tool": 0.3, "answered": 0.5, "question": 0.3}
"""What is told counts more than what was looked up, which can be looked up again, and than what was only asked."""


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
    now: float | None = None,
) -> list[Passage]:
    """The passages that answer ``question`` best, the best first.

    ``places``: the events in which each of the ``asked`` words stands, among all ``events`` that were searched.
    ``least``: the part of the question, by what its words count, that a passage has to have in common with it.
    ``now``: what the times that the question names are seen from.
    """
    counts = {word: weight * _rarity(len(places.get(word, ())), events) for word, weight in asked.items()}
    values = {word: counts[word] for word in asked if word in places}
    scores: dict[int, float] = {}
    for word, value in values.items():
        for seq in places[word]:
            scores[seq] = scores.get(seq, 0.0) + value
    likely = sorted(scores, key=lambda seq: (-scores[seq], -seq))[:LOOKED_AT]
    sources = (source for seq in likely if (source := read(seq)) is not None)
    whole = sum(sorted(counts.values(), reverse=True)[:_TELLING])
    return best(sources, question, values, limit, least * whole, now)


def _rarity(found: int, events: int) -> float:
    """BM25's inverse document frequency."""
    return math.log(1 + (max(events, found) - found + 0.5) / (found + 0.5))


def best(
    sources: Iterable[Source],
    question: str,
    values: Mapping[str, float],
    limit: int,
    least: float = 0.0,
    now: float | None = None,
) -> list[Passage]:
    """The best passages of these events: those that have words worth ``least`` in common with the question, and are not
    far below the best. ``values``: what each word of the question counts.

    Newer ones win over older ones of about the same worth, more so where the question is for the newest; those of a
    time that it names win over others.
    """
    found, room = list[Passage](), _MOST_READ
    for source in sources:
        if (text := findable(source.item.event)) is None or room < 0:
            continue
        room -= len(text[2])
        if (passage := _passage(source, text, values, least)) is not None:
            found.append(passage)
    oldest, newest = min((one.at for one in found), default=0.0), max((one.at for one in found), default=0.0)
    weight = 0.5 if _NEWEST.search(question) else 0.1
    times = [] if now is None else times_meant(question, now)

    def worth(at: float) -> float:
        meant = _THEN_MEANT if any(begin <= at <= end for begin, end in times) else 1.0
        return meant * (1 + weight * (at - oldest) / ((newest - oldest) or 1.0))

    scored = [msgspec.structs.replace(one, score=one.score * worth(one.at)) for one in found]
    scored.sort(key=lambda one: (-one.score, -one.at, -one.seq))
    chosen: list[Passage] = []
    for one in scored:
        if one.score < _FAR_BELOW * scored[0].score or len(chosen) == limit:
            break
        if not any(_is_said_by(one, other) for other in chosen):
            chosen.append(one)
    return chosen


def _is_said_by(one: Passage, other: Passage) -> bool:
    """Whether a passage adds nothing to a better one: the same words, in results and answers whatever the figures."""
    if one.speaker == "user" and _THEN not in one.text:
        return one.text == other.text
    return one.speaker == other.speaker and one.name == other.name and form(one.text) == form(other.text)


def form(text: str) -> str:
    """A text without its figures and without what was answered to it: two look-ups of one kind have the same."""
    return _NUMBER.sub("", text.partition(_THEN)[0]).strip()


def _passage(
    source: Source, found: tuple[Speaker, str, str], values: Mapping[str, float], least: float
) -> Passage | None:
    item, (speaker, name, text) = source.item, found
    asked = asks(item.event)
    pieces = list(_pieces(text))
    shared = _shared(pieces, values)
    scores = [_score(sum(each), len(piece)) for each, piece in zip(shared, pieces, strict=True)]
    at = max(range(len(pieces)), key=lambda place: scores[place], default=None)
    if at is None or not scores[at] or sum(shared[at]) < least:
        return None
    told = _surrounded(pieces, at, headed=speaker == "tool")
    kind: Kind = "question" if asked else speaker
    if source.reply:
        told, kind = f"{told}{_THEN}{_cut(' '.join(source.reply.split()), _REPLY)}", "answered"
    return Passage(item.session_id, item.seq or 0, item.at, speaker, name, told, scores[at] * _WORTH[kind])


def _shared(pieces: Sequence[str], values: Mapping[str, float]) -> list[list[float]]:
    """What the words count that each piece has in common with the question. Most pieces have none, which a look at
    their letters tells: a word stands there all but its last letter, or in its parts.
    """
    letters = {word[:-1] if len(word) > 2 and word.isascii() else word for word in values}
    found = []
    for piece in pieces:
        plain = folded(piece)
        words = words_of(piece) if any(each in plain for each in letters) else set[str]()
        found.append([value for word, value in values.items() if word in words])
    return found


def _score(value: float, length: int) -> float:
    """BM25 of a piece, where a word is there or not, since repeating it says no more."""
    size = 1 - _LENGTH_COUNTS + _LENGTH_COUNTS * length / (_PIECE / 2)
    return value * (_SATURATION + 1) / (1 + _SATURATION * size)


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
