"""Which records a vague text means: folding, splitting into features, ranking. Pure; the index is the backend's.

Invariant: a number matches only a whole number ("50" is not "500", "小米9" is not "小米8"), a text is ``decided``
only when nothing else fits it as well. Order, spaces, case and width of characters do not matter; gaps are allowed
("黑色64G小米8").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

_PIECES = re.compile(r"[0-9]+(?:\.[0-9]+)?[a-z]*|[a-z]+[0-9]*|[\u3400-\u9fff]+")
_FILLER = re.compile(r"(?<=.)的(?=.)|那个|这个|那款|这款|一下")
_STOP_WORDS = frozenset({"the", "a", "an", "of", "for", "in", "and", "that", "this"})
_SPLIT = re.compile(r"[a-z]+|[0-9]+(?:\.[0-9]+)?")
_FULL, _LIKELY, _UNLIKELY = 0.999, 0.8, 0.5


def fold(text: str) -> str:
    """Lower case, half width, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def squeezed(text: str) -> str:
    """Folded, and without spaces and punctuation: for equality of names and codes."""
    return "".join(c for c in fold(text) if c.isalnum())


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.isalpha() and word.endswith("s") and not word.endswith("ss") else word


@dataclass(frozen=True, slots=True)
class Features:
    """``words``: Latin words and numbers; ``runs``: runs of Chinese characters."""

    words: tuple[str, ...]
    runs: tuple[str, ...]


@lru_cache(maxsize=4096)
def features(text: str) -> Features:
    """What a text is made of."""
    pieces: list[str] = _PIECES.findall(fold(text))
    latin = [_stem(p) for p in pieces if p[0].isascii()]
    return Features(tuple(w for w in latin if w not in _STOP_WORDS), tuple(p for p in pieces if not p[0].isascii()))


def query_features(text: str) -> Features:
    """As ``features``, without what only makes a sentence of it."""
    return features(_FILLER.sub(" ", fold(text))) if text else Features((), ())


def grams(text: str) -> set[str]:
    """What a record is found by: characters, pairs of characters, words, their parts, and trigrams of long words."""
    found: set[str] = set()
    known = features(text)
    for run in known.runs:
        found.update(run)
        found.update(run[i : i + 2] for i in range(len(run) - 1))
    for word in (*known.words, *_joined(known.words)):
        found.add(f"w:{word}")
        found.update(f"w:{part}" for part in _SPLIT.findall(word))
        found.update(_trigrams(word))
    return found


def query_grams(text: str) -> set[str]:
    """The grams to look a query up by; single characters only where a run is nothing else."""
    asked = query_features(text)
    found: set[str] = set()
    for run in asked.runs:
        found.update(run if len(run) < 3 else ())
        found.update(run[i : i + 2] for i in range(len(run) - 1))
    for word in asked.words:
        found.add(f"w:{word}")
        found.update(f"w:{part}" for part in _SPLIT.findall(word))
        found.update(_trigrams(word))
    return found


def _trigrams(word: str) -> set[str]:
    if len(word) < 4 or not word.isalpha():
        return set()
    return {f"t:{word[i : i + 3]}" for i in range(len(word) - 2)}


def _joined(words: Sequence[str]) -> list[str]:
    return [a + b for a, b in pairwise(words)]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record to be ranked: its names (any of which it is called) and, apart, what tells it from its variants."""

    key: str
    names: tuple[str, ...]
    detail: str = ""
    active: bool = True


@dataclass(frozen=True, slots=True)
class Ranked:
    """``coverage``: how much of the query the record accounts for; ``exact``: the query is one of its names."""

    key: str
    score: float
    coverage: float
    exact: bool
    number_missing: bool
    active: bool

    @property
    def whole(self) -> bool:
        """The record accounts for all of the query."""
        return self.exact or self.coverage >= _FULL


def rank(query: str, candidates: Iterable[Candidate]) -> list[Ranked]:
    """Best first; what shares nothing with the query is left out."""
    asked, flat = query_features(query), squeezed(query)
    ranked = [_score(asked, flat, each) for each in candidates]
    return sorted((r for r in ranked if r.coverage > 0), key=lambda r: (not r.exact, -r.score, not r.active, r.key))


def decided(ranked: Sequence[Ranked]) -> bool:
    """Whether the first alone is clearly meant."""
    if not ranked or ranked[0].number_missing:
        return False
    first, others = ranked[0], ranked[1:]
    if first.exact:
        return not any(each.exact and each.active >= first.active for each in others)
    if first.coverage >= _FULL:
        return not any(each.coverage >= _FULL and each.active >= first.active for each in others)
    return first.coverage >= _LIKELY and all(each.coverage <= _UNLIKELY for each in others)


@dataclass(frozen=True, slots=True)
class _Profile:
    """What ranking needs of a record; ``exact``: what a query that names it says; ``length`` in characters."""

    runs: tuple[str, ...]
    words: frozenset[str]
    exact: frozenset[str]
    length: int


@lru_cache(maxsize=8192)
def _profile(names: tuple[str, ...], detail: str) -> _Profile:
    known = [features(text) for text in (*names, detail)]
    flat = squeezed(detail)
    called = [squeezed(name) for name in names]
    return _Profile(
        tuple(run for each in known for run in each.runs),
        frozenset(word for each in known for word in (*each.words, *_joined(each.words))),
        frozenset(filter(None, (*called, *(name + flat for name in called)))),
        len(called[0]) + len(flat),
    )


def _score(asked: Features, flat: str, candidate: Candidate) -> Ranked:
    known = _profile(candidate.names, candidate.detail)
    total, covered, missing = 0.0, 0.0, False
    for run in asked.runs:
        total += len(run)
        covered += _covered(run, known.runs)
    for word in asked.words:
        share = _word_share(word, known.words)
        total += 2
        covered += 2 * share
        missing = missing or (share == 0 and any(c.isdigit() for c in word))
    coverage = covered / total if total else 0.0
    exact = flat in known.exact
    brevity = min(1.0, total / max(1, known.length))
    score = 1.0 if exact else round(0.9 * coverage + 0.1 * brevity, 4)
    return Ranked(candidate.key, score, coverage, exact, missing, candidate.active)


def _covered(run: str, known: Sequence[str]) -> float:
    """How many characters of a run occur in the record: in pieces of two and more, a single one counts a little."""
    if len(run) == 1:
        return 1.0 if any(run in text for text in known) else 0.0
    covered, at = 0.0, 0
    while at < len(run):
        end = len(run)
        while end > at + 1 and not any(run[at:end] in text for text in known):
            end -= 1
        length = end - at
        if length > 1:
            covered += length
        elif any(run[at] in text for text in known):
            covered += 0.4
        at = end
    return covered


def _word_share(word: str, known: frozenset[str]) -> float:
    """1 for a word that is there, or starts one that goes on with letters; less for one that is nearly there."""
    if word in known:
        return 1.0
    if any(each.startswith(word) and each[len(word)].isalpha() for each in known):
        return 1.0 if len(word) > 1 and not (word.isalpha() and len(word) < 3) else 0.5
    parts: list[str] = _SPLIT.findall(word)
    if len(parts) > 1 and "".join(parts) == word and all(part in known for part in parts):
        return 0.9
    if len(word) < 4 or not word.isalpha():
        return 0.0
    like = (
        SequenceMatcher(None, word, each).ratio()
        for each in known
        if abs(len(each) - len(word)) <= 2 and each.isalpha()
    )
    best = max(like, default=0.0)
    return 0.7 * best if best >= 0.75 else 0.0
