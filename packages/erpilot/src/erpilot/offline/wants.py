"""Reads a question as one of the jobs of ``jobs.toml``: its words by tag, and what it names (who, which document, when,
how much).

Invariant: a question is a job only when every piece of it is a word that the job knows, or a name that it has room for;
what fits no job is left to ``reading``. Nothing here knows a product, a customer or a document.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from importlib import resources
from typing import Any

from ..shop.numerals import in_digits
from .days import Span, number, spans
from .reading import BARE, LONGEST, WORDS, is_chinese, pattern, trimmed

JOBS: dict[str, Any] = tomllib.loads(resources.files(__package__).joinpath("jobs.toml").read_text(encoding="utf-8"))
_WHEN = "\ue000"
_TAGS: dict[str, str] = (
    {"number": WORDS["scan"]["order"]}
    | JOBS["tags"]
    | {
        "price_word": WORDS["scan"]["price"],
        "qty": WORDS["scan"]["qty"],
    }
)
_DOCUMENT = pattern("<D>")
_QTY = pattern(f"(?:{WORDS['scan']['qty']})")
_AMOUNT = pattern(r"(<Q>|an?|one)?\s*(<U>)?$")
_NUMBERED = pattern(r"<C>|^#?\d{1,6}\s*号?$|\d\s*号$")
_WRITE = pattern(WORDS["refuse"]["write"])
_FOLLOWS = re.compile(
    r"(?:那么?|and|what about|how about)\s*(?P<rest>.{1,40}?)\s*[呢?]*|(?P<other>.{1,40}?)\s*呢\??", re.IGNORECASE
)
_SMALL = r"[的了呢吗么吧啊呀都还就也把从在给于\s,、.:?!;]|我们?|咱们?"
_EDGES = re.compile(
    rf"^(?:{_SMALL}|请问|那边|这边|(?:for|of|to|the|by|from|on|at|in)\b)+|(?:{_SMALL}|那边|这边|'s|\b(?:for|of|to))+$",
    re.I,
)


def _scanner(job: Mapping[str, Any]) -> re.Pattern[str]:
    """Finds the words that a job knows: its own first, then what may stand in any question."""
    known = [tag for need in job["needs"] for tag in need.split("|")] + list(job.get("may", ()))
    tags = [tag for tag in _TAGS if tag in known] + ["list_it"]
    parts = [f"(?P<{tag}>{_TAGS[tag]})" for tag in tags] + [f"(?P<pad>{WORDS['scan']['pad']})"]
    return pattern("|".join(parts))


_JOBS = [(job, _scanner(job)) for job in JOBS["job"]]


@dataclass(frozen=True, slots=True)
class Want:
    """A job that is asked for. ``names``: as they were written; ``qtys``: (number, unit); ``days``: a length of time;
    ``problem``: the template that asks for what is missing."""

    job: Mapping[str, Any]
    chinese: bool
    tags: Mapping[str, str]
    names: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    qtys: tuple[tuple[str, str], ...] = ()
    when: tuple[Span, ...] = ()
    days: int | None = None
    top: int | None = None
    money: str | None = None
    problem: str | None = None
    today: date | None = None

    def text_of(self, tag: str) -> str:
        """What was said of a tag."""
        return self.tags.get(tag, "")


def read_want(text: str, today: date | None) -> Want | None:
    """The job that a question is: the most particular of those that all of it fits. None when it is none of them."""
    if today is None or not text.strip() or len(text) > LONGEST:
        return None
    named = spans(text, today)
    plain = text
    for start, end, _ in reversed(named):
        plain = f"{plain[:start]}{_WHEN}{plain[end:]}"
    best: tuple[int, int, Want] | None = None
    for job, scanner in _JOBS:
        said, names, tags = _scanned(plain, scanner)
        if "qty" in job["needs"] and "qty" not in tags and len(names) == 1 and (bare := BARE.fullmatch(names[0])):
            names, tags = (bare[2],), tags | {"qty": bare[1]}  # "80 hoodies"
        problem = _fits(job, tags, names)
        if problem is None:
            continue
        left, met = -sum(map(len, names)), len(job["needs"]) - 2 * bool(problem)
        if best is None or (left, met) > best[:2]:
            chinese = is_chinese(said, plain, None)
            want = Want(job, chinese, tags, names, problem=problem or None, today=today)
            best = (left, met, replace(_slotted(want, tags), when=tuple(span for _, _, span in named)))
    return None if best is None else best[2]


def followed(text: str, before: Want, today: date | None) -> Want | None:
    """The job of the question before, for another time or another name: "上个月呢", "what about Chengnan?"."""
    if today is None or not (found := _FOLLOWS.fullmatch(text)):
        return None
    rest = (found["rest"] or found["other"]).strip()
    named = spans(rest, today)
    left = rest
    for start, end, _ in reversed(named):
        left = f"{left[:start]}{left[end:]}"
    name = _EDGES.sub("", trimmed(_EDGES.sub("", left)))
    chinese = is_chinese(text, text, None)
    if named and not name and before.when:
        return replace(before, when=tuple(span for *_, span in named), chinese=chinese)
    fits = (
        bool(name) and not named and len(before.names) == 1 and not _WRITE.search(name) and not _NUMBERED.search(name)
    )
    return replace(before, names=(name,), chinese=chinese) if fits else None


def _scanned(plain: str, scanner: re.Pattern[str]) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """The known words together, the names between them, and the text of each tag."""
    tags, names, said, at = dict[str, str](), list[str](), list[str](), 0
    for match in scanner.finditer(plain):
        if not match.group().strip():
            continue
        names.append(plain[at : match.start()])
        said.append(match.group())
        tag, at = str(match.lastgroup), match.end()
        tags[tag] = f"{tags[tag]} {match.group()}" if tag in tags else match.group()
    names.append(plain[at:])
    left = (_EDGES.sub("", trimmed(_EDGES.sub("", each))) for each in names)
    return "".join(said), tuple(name for name in left if name), tags


def _fits(job: Mapping[str, Any], tags: Mapping[str, str], names: Sequence[str]) -> str | None:
    """None when the question is not this job; else what has to be asked first ("" for nothing)."""
    have = set(tags) | ({"name"} if names else set())
    units = [_AMOUNT.findall(each.lower())[0][1] for each in _QTY.findall(tags.get("qty", ""))]
    have |= {"qty2"} if len(set(units)) > 1 else {"several"} if len(units) > 1 else set()
    if have & {"several", *job.get("not", ())}:
        return None
    if len(names) > (job.get("names", 1) if "name" in job else 0) or any(_WRITE.search(name) for name in names):
        return None
    if any(_WHEN in name or len(name) > 60 or _NUMBERED.search(name) for name in names):
        return None
    missing = [need for need in job["needs"] if not set(need.split("|")) & have]
    if any(need not in job.get("asks", {}) for need in missing) or len(missing) == len(job["needs"]):
        return None
    return str(job["asks"][missing[0]]) if missing else ""


def _slotted(want: Want, tags: Mapping[str, str]) -> Want:
    """The want with the values of its tags."""
    numbers = tuple(_DOCUMENT.findall(tags["number"].replace("#", " "))) if "number" in tags else ()
    qtys = []
    for amount, unit in (_AMOUNT.findall(each.lower())[0] for each in _QTY.findall(tags.get("qty", ""))):
        qtys.append(("1" if re.match("[a-z]", amount) else in_digits(amount).replace(",", ""), unit))
    if not qtys and tags.get("qty"):
        qtys.append((tags["qty"].replace(",", ""), ""))
    days = None
    if "span" in tags and (
        found := re.search(
            r"([\d一二两三四五六七八九十]+|\b[a-z]+)\s*-?(个月|m|周|个?星期|w|年|y|天|日|d)", tags["span"]
        )
    ):
        scale = {"个": 30, "m": 30, "周": 7, "星": 7, "w": 7, "年": 365, "y": 365}.get(found[2][0], 1)
        days = number(found[1]) * (7 if "星期" in found[2] else scale)
    top = None
    if "top" in tags and (found := re.search(r"\d+|[一二两三四五六七八九十]+|three|five|ten", tags["top"])):
        top = number(found[0])
    money = None
    if "more_money" in tags and (
        found := re.search(r"[\d.,]*\d\s*万?|[一二两三四五六七八九十]+万", tags["more_money"])
    ):
        money = found[0].replace(",", "")
    return replace(want, numbers=numbers, qtys=tuple(qtys), days=days, top=top, money=money)


def values_of(want: Want) -> dict[str, Any]:
    """What the places in the calls of a job stand for, as far as the question says it."""
    today, span = want.today, want.when[0] if want.when else None
    values: dict[str, Any] = {
        "number": want.numbers[0] if want.numbers else None,
        "subject": want.numbers[0] if want.numbers else None,
        "qty": " ".join(want.qtys[0]).strip() if want.qtys else None,
        "days": want.days,
        "top": want.top,
        "money": want.money,
    }
    if today is not None:
        values["yesterday"] = str(today - timedelta(1))
        values["past"] = str(span.end) if span and span.end < today else None
    if span is not None and today is not None:
        ends = (
            min(span.end, today) if span.start <= today < span.end and "past" in want.job.get("days", "") else span.end
        )
        values |= {"from": str(span.start), "to": str(ends)}
    return {key: value for key, value in values.items() if value is not None}
