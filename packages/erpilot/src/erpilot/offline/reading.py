"""Reads a question: what is asked (facets), about which documents and products, how much, for whom.

Invariant: every piece of a question is a known word or becomes a name to look up; what fits nowhere makes the question
not understood. Nothing here knows a product, a customer or a document.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

WORDS: dict[str, Any] = tomllib.loads(resources.files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))
LONGEST, MOST_ITEMS, MOST_ORDERS, MOST_CALLS = 1000, 8, 3, 8
_SPEECH: dict[str, Any] = WORDS["speech"]


def _pattern(*sources: str) -> re.Pattern[str]:
    text = "|".join(sources)
    for name, macro in reversed(WORDS["macros"].items()):  # later ones are made of earlier ones
        text = text.replace(f"<{name}>", macro)
    return re.compile(text, re.IGNORECASE)


_SCAN = _pattern(*(f"(?P<{kind}>{'|'.join(sources)})" for kind, sources in WORDS["scan"].items()))
_UNLESS, *_REFUSED = ((kind, _pattern(*sources)) for kind, sources in WORDS["refuse"].items())
_LEAD, _TAIL, _EMPTY, _ENGLISH, _JOIN, _BARE = map(_pattern, WORDS["names"].values())
_DOCUMENT, _UNIT, _AMOUNT = _pattern("<D>"), _pattern("<U>(?=\\W*(?:of)?$)"), _pattern("(<N>|<Z>|an?|one)\\s*(<U>)")
_QUOTED, _CJK = _pattern(*WORDS["scan"]["quoted"]), re.compile("[\u3400-\u9fff]")
_FROZEN = re.compile(r"\s*(?:\[(?!file:).*\])?\s*")


@dataclass(frozen=True, slots=True)
class Item:
    """A product as it was called, and how much of it. No name: the one spoken of before."""

    name: str = ""
    qty: str | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question. ``orders``: (number, kind). ``problem``: the template that says why it is not answered."""

    chinese: bool
    facets: frozenset[str] = frozenset()
    orders: tuple[tuple[str, str | None], ...] = ()
    items: tuple[Item, ...] = ()
    customer: str | None = None
    price_list: str | None = None
    warehouse: str | None = None
    unit: str | None = None
    pick: int | None = None
    goes_on: bool = False
    problem: str | None = None
    piece: str = ""


def question(content: str) -> str:
    """What the person wrote, in half width: without the lines that the runtime freezes in behind it."""
    lines = content.split("\n")
    while lines and _FROZEN.fullmatch(lines[-1]):
        lines.pop()
    return unicodedata.normalize("NFKC", "\n".join(lines)).strip()


def read(text: str, before: Asked | None = None) -> Asked:
    """A question as it stands; ``turns`` adds what earlier ones say about it."""
    if len(text) > LONGEST:
        return Asked(_CJK.search(text) is not None, problem="too_long")
    found, at = [], 0
    for match in _SCAN.finditer(text):
        found += [("name", text[at : match.start()]), (str(match.lastgroup), match.group())]
        at = match.end()
    elements = [(kind, part) for kind, part in [*found, ("name", text[at:])] if kind != "name" or _trimmed(part)]
    open_text, said = _QUOTED.sub(" ", text), " ".join(part for kind, part in elements if kind != "name")
    words = len(_ENGLISH.findall(open_text))
    chinese = not words or (words < 3 and _CJK.search(said) is not None)
    if not words and not _CJK.search(open_text):  # nothing but codes and names
        chinese = before.chinese if before else not re.search("[A-Za-z]", _DOCUMENT.sub("", open_text))
    for problem, pattern in _REFUSED:
        if refused := pattern.search(_UNLESS[1].sub(" ", open_text)):
            return Asked(chinese, problem=problem, piece=refused.group().strip(" ,.;!?"))
    return _assembled(Asked(chinese), elements)


def cut(item: Item) -> list[Item]:
    """A name that is none, in parts: at a conjunction, or behind a number; the item alone when it has no parts."""
    parts = [part for each in _JOIN.split(item.name) if (part := _trimmed(each))]
    if item.qty is None and len(parts) > 1 and min(map(len, parts)) > 1:
        return [Item(part) for part in parts]
    found = _BARE.fullmatch(item.name) if item.qty is None else None
    return [Item(found[2], number(found[1]))] if found else [item]


def number(written: str) -> str:
    """A quantity as digits: "1,200", "三十二", "两百五", "a"."""
    written, digits = written.replace(",", "").lower(), _SPEECH["digits"]
    if written in digits or not _CJK.match(written):
        return str(digits.get(written, written))
    for ten, value in (("千", 1000), ("百", 100), ("十", 10)):
        if ten in written:
            front, rest = written.split(ten, 1)
            short = value // 10 if len(rest) == 1 and value > 10 else 1  # 两百五 is 250, 两百零五 is 205
            return str(int(number(front or "一")) * value + int(number(rest or "零")) * short)
    return str(int("".join(str(digits[each]) for each in written)))


def _trimmed(text: str) -> str:
    name = text.strip()
    while name != (shorter := _TAIL.sub("", _LEAD.sub("", name)).strip()):
        name = shorter
    return "" if _EMPTY.fullmatch(name) else name


def _assembled(asked: Asked, elements: list[tuple[str, str]]) -> Asked:
    """Puts the elements together; an amount belongs to the name right behind it, else to the one before."""
    said: dict[str, Any] = {"facets": frozenset(), "orders": ()}
    pieces, amounts = list[dict[str, Any]](), list[tuple[str, str]]()
    role: str | None = None  # of the next name: to or for (who buys, perhaps); "and" when it is tied to the one before
    for (kind, text), (following, _) in zip(elements, [*elements, ("", "")][1:], strict=True):
        meaning = next((value for word, value in _SPEECH.get(kind, {}).items() if word in text.lower()), None)
        if kind in ("lines", "stock", "price"):
            said["facets"] |= {kind}
            said |= {"unit": unit.group()} if kind == "stock" and (unit := _UNIT.search(text)) else {}
        elif kind == "order":
            numbers = [each.lstrip("#") for each in _DOCUMENT.findall(text)]
            said["orders"] += tuple((each, meaning if each.isdigit() else None) for each in numbers)
        elif kind in ("pick", "price_list", "goes_on", "warehouse"):
            said[kind] = _trimmed(text) if kind == "warehouse" else meaning or int(re.sub(r"\D", "", text) or 1)
        elif kind in ("to", "for"):
            role = kind
        elif kind == "buys" and pieces:
            pieces[-1]["role"] = "to"
        elif kind == "qty" and (found := _AMOUNT.search(text)):
            target = pieces[-1]["amounts"] if pieces and following not in ("name", "quoted") else amounts
            target.append((number(found[1]), found[2]))
        elif kind in ("name", "quoted"):
            tied = _JOIN.match(text) if pieces and role is None else None
            name = text[1:-1].strip() if kind == "quoted" else _trimmed(text[tied.end() :] if tied else text)
            pieces += [{"name": name, "role": "and" if tied else role, "amounts": amounts}] if name else []
            amounts, role = [], None
    return _concluded(replace(asked, **said), pieces, amounts)


def _concluded(asked: Asked, pieces: list[dict[str, Any]], amounts: list[tuple[str, str]]) -> Asked:
    """Tells who buys from what is bought, and checks that all fits together."""
    facets = asked.facets or frozenset({"price"} if asked.price_list else ())
    loose = [piece for piece in pieces if not piece["amounts"] and not _BARE.fullmatch(piece["name"])]
    buyers = [piece for piece in loose if piece["role"] == "to"]
    if not buyers and "price" in facets and len(pieces) > 1:
        # Beside a product, what "for" points to is who buys; beside a quantity, so is a single name without one.
        single = [piece for piece in loose if piece["role"] is None and len(loose) < len(pieces)]
        buyers = [piece for piece in loose if piece["role"] == "for"] or single
        buyers = buyers if len(buyers) == 1 else []
    things = [piece for piece in pieces if piece not in buyers]
    items = tuple(Item(each["name"], *(each["amounts"][0] if each["amounts"] else ())) for each in things)
    items = items or tuple(Item("", *amount) for amount in amounts[:1])
    double = [each["name"] for each in things if len(each["amounts"]) > 1] + [each[0] for each in amounts[not things :]]
    misplaced = len(buyers) > 1 or (buyers and facets and "price" not in facets)
    problems = [("amounts", double[0])] if double else []
    problems += [("unclear", buyers[-1]["name"])] if misplaced else []
    problems += [("mixed", items[0].name or str(items[0].qty))] if asked.orders and items else []
    problems += [("too_many", "")] if len(items) > MOST_ITEMS or len(asked.orders) > MOST_ORDERS else []
    problem, piece = problems[0] if problems else (None, "")
    customer = buyers[0]["name"] if buyers else None
    return replace(asked, facets=facets, items=items, customer=customer, problem=problem, piece=piece)
