"""Reads a question as one of the jobs of ``jobs.toml``: its words by tag, and what it names (who, which document, when,
how much).

Invariant: a question is a job only when every piece of it is a word that the job knows, a time that it can take, or a
name that it has room for; of one that is so but for some pieces, these are told. Nothing here knows a product, a
customer or a document.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from importlib import resources
from typing import Any, NamedTuple

from .days import Found, spans
from .reading import BARE, LONGEST, NO_NAME, WORDS, is_chinese, pattern, place_of, refusal, trimmed
from .slots import DOCUMENT, slots, units_of
from .span import Span

JOBS: dict[str, Any] = tomllib.loads(resources.files(__package__).joinpath("jobs.toml").read_text(encoding="utf-8"))
_WHEN = "\ue000"
_TAGS: dict[str, str] = (
    {"number": WORDS["scan"]["order"], "place": WORDS["scan"]["place"]}
    | JOBS["tags"]
    | {
        "price_word": WORDS["scan"]["price"],
        "qty": WORDS["scan"]["qty"],
    }
)
_NUMBERED = pattern(r"<C>|^#?\d{1,6}\s*号?$|\d\s*号(?:$|单)|\borders? (?:no\.? ?)?#?\d|订单")
_WRITE = pattern(WORDS["refuse"]["write"])
_ORDER_WORDS = {"number", "order_word"}
_NOUN = pattern(JOBS["nouns"]["kinds"])
_HIM = pattern(JOBS["pronouns"]["customer"])
_FOLLOWS = re.compile(
    r"(?:那么?|and|what about|how about)\s*(?P<rest>.{1,40}?)\s*[呢?]*|(?P<other>.{1,40}?)\s*呢\??", re.IGNORECASE
)
_SMALL = r"[的了呢吗么吧啊呀都还就也把从在给于\s,、.:?!;]|我们?|咱们?"
_EDGES = re.compile(
    rf"^(?:{_SMALL}|请问|那边|这边|(?:for|of|to|the|by|from|on|at|in)\b)+|(?:{_SMALL}|那边|这边|'s|\b(?:for|of|to))+$",
    re.I,
)


def _known(job: Mapping[str, Any]) -> set[str]:
    """The tags that a job makes something of."""
    return {tag for need in job["needs"] for tag in need.split("|")} | set(job.get("may", ()))


def _scanner(job: Mapping[str, Any]) -> re.Pattern[str]:
    """Finds the words that a job knows: its own first, then what may stand in any question."""
    known = _known(job) | set(job.get("not", ())) | ({"place"} if "warehouse" in job.get("filters", ()) else set())
    tags = [tag for tag in _TAGS if tag in known or tag == "this_doc"] + ["list_it"]
    parts = [f"(?P<{tag}>{_TAGS[tag]})" for tag in tags] + [f"(?P<pad>{WORDS['scan']['pad']})"]
    return pattern("|".join(parts))


_JOBS = [(job, _scanner(job)) for job in JOBS["job"]]


@dataclass(frozen=True, slots=True)
class Want:
    """A job that is asked for. ``names``: as they were written; ``qtys``: (number, unit); ``days``: a length of time;
    ``problem``: the template that asks for what is missing; ``left``: pieces that nothing accounts for, so that it is
    no job."""

    job: Mapping[str, Any]
    chinese: bool
    tags: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    qtys: tuple[tuple[str, str], ...] = ()
    when: tuple[Span, ...] = ()
    days: int | None = None
    top: int | None = None
    money: str | None = None
    problem: str | None = None
    left: tuple[str, ...] = ()
    today: date | None = None

    def text_of(self, tag: str) -> str:
        """What was said of a tag."""
        return self.tags.get(tag, "")


class _Fit(NamedTuple):
    """How a question meets a job: what has to be asked first ("" for nothing), and the pieces that nothing accounts
    for."""

    problem: str
    left: tuple[str, ...]


def read_want(text: str, today: date | None, before: Want | None = None) -> Want | None:
    """The job that a question is: the most particular of those that all of it fits; one with ``left``, where it is one
    but for these pieces; None when it is none of them."""
    if today is None or not text.strip() or len(text) > LONGEST or refusal(text, ("negative", "vague")):
        return None
    named = spans(text, today)
    plain = text
    for start, end, _ in reversed(named):
        plain = f"{plain[:start]}{_WHEN}{plain[end:]}"
    him = _HIM.search(plain)
    spoken = _HIM.sub(" ", plain) if him else plain
    best: tuple[tuple[bool, int, int], Want] | None = None
    for job, scanner in _JOBS:
        said, names, tags = _scanned(spoken, scanner)
        if him and job.get("name") == "customer" and not names:
            names = before.names if before and before.job.get("name") == "customer" else ()
        elif him:
            continue
        if "qty" in job["needs"] and "qty" not in tags and len(names) == 1 and (bare := BARE.fullmatch(names[0])):
            names, tags = (bare[2],), tags | {"qty": bare[1]}  # "80 hoodies"
        fit = _fits(job, tags, names, [(span, text[start:end]) for start, end, span in named], today)
        if fit is None:
            continue
        unread = sum(map(len, {*fit.left, *names}))
        rank = (not fit.left, -unread, len(job["needs"]) - 2 * bool(fit.problem))
        if best is None or rank > best[0]:
            want = Want(
                job,
                is_chinese(said, plain, None),
                tags,
                names,
                problem=fit.problem or None,
                left=fit.left,
                when=tuple(span for _, _, span in named),
                today=today,
                **slots(tags),
            )
            best = (rank, want)
    return None if best is None else best[1]


def followed(text: str, before: Want, today: date | None) -> Want | None:
    """The job of the question before, for another time, another name or another place: "上个月呢", "what about
    Chengnan?", "东门店呢"."""
    if today is None or not (found := _FOLLOWS.fullmatch(text)):
        return None
    rest = (found["rest"] or found["other"]).strip()
    named: list[Found] = spans(rest, today)
    left = rest
    for start, end, _ in reversed(named):
        left = f"{left[:start]}{left[end:]}"
    name = _EDGES.sub("", trimmed(_EDGES.sub("", left)))
    job, chinese = before.job, is_chinese(text, text, None)
    if named and not name and before.when:
        when = tuple(span for *_, span in named)
        fits = all(_takes(job, span, today) for span in when) and len(when) == 1
        return replace(before, when=when, chinese=chinese) if fits else None
    if named or not name or _is_no_name(name):
        return None
    if "warehouse" in job.get("filters", ()) and pattern(_TAGS["place"]).fullmatch(left.strip()):
        return replace(before, tags={**before.tags, "place": left.strip()}, chinese=chinese)
    room = len(before.names) == 1 or (not before.names and bool(job.get("filters")) and "name" not in job)
    return replace(before, names=(name,), chinese=chinese) if room else None


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
    left = (_piece(each) for each in names)
    return "".join(said), tuple(name for name in left if name), tags


def _piece(text: str) -> str:
    """What stands between known words, without particles; a noun for a kind of records stays: it says something."""
    bare = _EDGES.sub("", text)
    return bare if _NOUN.fullmatch(bare) else _EDGES.sub("", trimmed(bare))


def _fits(
    job: Mapping[str, Any],
    tags: Mapping[str, str],
    names: Sequence[str],
    named: Sequence[tuple[Span, str]],
    today: date,
) -> _Fit | None:
    """None when the question is not this job."""
    have = set(tags) | ({"name"} if names else set())
    units = units_of(tags.get("qty", ""))
    if job.get("each") and len(units) > 1:
        have |= {"several"} if len(units) != len(names) else set()
    else:
        have |= {"qty2"} if len(set(units)) > 1 else {"several"} if len(units) > 1 else set()
    if have & {"several", *job.get("not", ())} or ("this_doc" in have and not _ORDER_WORDS & _known(job)):
        return None
    missing = [need for need in job["needs"] if not set(need.split("|")) & have]
    if any(need not in job.get("asks", {}) for need in missing) or len(missing) == len(job["needs"]):
        return None
    room = job.get("names", 1) if "name" in job or "filters" in job else 0
    room = max(len(units), 1) if job.get("each") else room
    strange = [name for name in names if _is_no_name(name)]
    strange += [name for name in names if len(name) > 60 or (len(name) == 1 and not name.isascii())]
    strange += [] if len(names) <= room or strange else list(names)
    times = [said for span, said in named if _WHEN in "".join(names) or not _takes(job, span, today)]
    times += [said for _, said in named] if len(named) > job.get("spans", 1) and not times else []
    repeated = [tags["span"]] if len(re.findall(r"天|月|周|年|days?|weeks?|months?", tags.get("span", ""))) > 1 else []
    dimension = dimension_of(tags, job)
    repeated += (
        [tags.get("by_dim") or tags["which_dim"]]
        if dimension and dimension not in job.get("dims", (dimension,))
        else []
    )
    documents = DOCUMENT.findall(tags.get("number", "").replace("#", " "))
    repeated += [tags["number"]] if len(documents) > 1 else []
    left = tuple(dict.fromkeys(each.replace(_WHEN, "").strip() for each in (*strange, *times, *repeated)))
    return _Fit(str(job["asks"][missing[0]]) if missing else "", left)


def _is_no_name(text: str) -> bool:
    """Whether a piece says something else than what somebody or something is called."""
    said = (NO_NAME, _WRITE, _NUMBERED)
    return (
        _NOUN.fullmatch(text) is not None
        or any(words.search(text) for words in said)
        or refusal(text, ("condition",)) is not None
    )


def _takes(job: Mapping[str, Any], span: Span, today: date) -> bool:
    """Whether a job can do something with such a time: ``when`` says which."""
    match job.get("when", "any"):
        case "past":
            return span.start <= today and not span.until and not (span.kind == "range" and span.end > today)
        case "ended":
            return span.end <= today and (span.until or span.kind in ("day", "end"))
        case "today":
            return span.start == span.end == today
        case "by":
            return span.end >= today and span.kind != "range"
        case "history":
            return (span.kind == "days" and span.end == today) or span.start > today
        case _:
            return not span.until


def dimension_of(tags: Mapping[str, str], job: Mapping[str, Any]) -> str | None:
    """By what something is listed, as the question says it, else as the job does."""
    said = f"{tags.get('by_dim', '')} {tags.get('which_dim', '')}".casefold()
    found = next((name for word, name in JOBS["dimensions"].items() if word in said), None)
    return found or ("warehouse" if "shops" in tags else job.get("by"))


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
        "place": place_of(want.text_of("place")) or None,
        "overdue_only": True if "overdue" in want.tags else None,
    }
    if today is not None:
        values["yesterday"] = str(today - timedelta(1))
        if want.days is not None and "within" in want.tags:
            values["to"] = str(today + timedelta(want.days))
    if span is not None:
        values |= {"from": str(span.start), "to": str(span.end)}
    return {key: value for key, value in values.items() if value is not None}
