"""Reads a question: what is asked (facets), about which documents and products, how much, for whom.

Invariant: every piece of a question is a known word or becomes a name to look up; what fits nowhere makes the question not
understood. Nothing here knows a product, a customer or a document.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

WORDS: dict[str, Any] = tomllib.loads(resources.files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))
FACETS = ("lines", "stock", "price")
LONGEST, MOST_ITEMS, MOST_ORDERS = 1000, 8, 3
_SPEECH: dict[str, Any] = WORDS["speech"]


def _pattern(sources: str | Iterable[str]) -> re.Pattern[str]:
    text = sources if isinstance(sources, str) else "|".join(sources)
    for name, macro in reversed(WORDS["macros"].items()):  # later ones are made of earlier ones
        text = text.replace(f"<{name}>", macro)
    return re.compile(text, re.IGNORECASE)


_SCAN = _pattern(f"(?P<{kind}>{'|'.join(sources)})" for kind, sources in WORDS["scan"].items())
_REFUSED = {kind: _pattern(WORDS["refuse"][kind]) for kind in ("write", "other")}
_UNLESS, _QUOTED = _pattern(WORDS["refuse"]["unless"]), _pattern(WORDS["scan"]["quoted"])
_LEAD, _TAIL, _EMPTY, _ENGLISH, _JOIN, _BARE = (
    _pattern(_SPEECH[key]) for key in ("lead", "tail", "empty", "english", "join", "bare")
)
_DOCUMENT, _UNIT, _AMOUNT = _pattern("<D>"), _pattern("<U>(?=\\W*(?:of)?$)"), _pattern("(<N>|<Z>|an?|one)\\s*(<U>)")
_CJK = re.compile("[\u3400-\u9fff]")
_FROZEN = re.compile(r"(?:^|\n)\[(?!file:)[^\n]*\]\s*$")


@dataclass(frozen=True, slots=True)
class Item:
    """A product as it was called, and how much of it. No name: what was spoken of before."""

    name: str = ""
    qty: str | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question. ``orders``: (number, kind). ``problem``: the template that says why it is not answered, about ``piece``."""

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


@dataclass(slots=True)
class _Piece:
    name: str
    role: str | None
    amounts: list[tuple[str, str]]
    joined: bool

    @property
    def counted(self) -> bool:
        return bool(self.amounts) or _BARE.fullmatch(self.name) is not None


def question(content: str) -> str:
    """What the person wrote, in half width: without the lines that the runtime freezes in behind it."""
    text = content.rstrip()
    while found := _FROZEN.search(text):
        text = text[: found.start()].rstrip()
    return unicodedata.normalize("NFKC", text).strip()


def read(text: str, before: Asked | None = None) -> Asked:
    """A question as it stands; ``turns`` adds what earlier ones say about it."""
    if len(text) > LONGEST:
        return Asked(_CJK.search(text) is not None, problem="too_long")
    elements = _elements(text)
    asked = Asked(_is_chinese(text, elements, before))
    for problem, pattern in _REFUSED.items():
        if found := pattern.search(_UNLESS.sub(" ", _QUOTED.sub(" ", text))):
            return replace(asked, problem=problem, piece=found.group().strip(" ,.;!?"))
    return _assembled(asked, elements)


def cut(item: Item) -> list[Item]:
    """A name that is none, in parts: at a conjunction, or behind a number; the item alone when it has no parts."""
    parts = [part for each in _JOIN.split(item.name) if (part := _trimmed(each))]
    if len(parts) > 1 and min(map(len, parts)) > 1 and item.qty is None:
        return [Item(part) for part in parts]
    found = _BARE.fullmatch(item.name)
    return [Item(found[2], number(found[1]))] if found and item.qty is None else [item]


def number(written: str) -> str:
    """A quantity as digits: "1,200", "三十二", "两百五", "a"."""
    written = written.replace(",", "").lower()
    digits, tens = _SPEECH["digits"], {"十": 10, "百": 100, "千": 1000}
    if written in digits or not _CJK.match(written):
        return str(digits.get(written, written))
    total = digit = 0
    for character in written:
        total, digit = (
            (total + (digit or 1) * tens[character], 0)
            if character in tens
            else (total, digit * 10 + digits.get(character, 0))
        )
    return str(total + digit * (tens.get(written[-2], 10) // 10 if len(written) > 1 else 1))


def _is_chinese(text: str, elements: list[tuple[str, str]], before: Asked | None) -> bool:
    text = _DOCUMENT.sub(" ", _QUOTED.sub(" ", text))
    english = len(_ENGLISH.findall(text))
    if not re.search(r"[^\W\d_]", text) or (not english and not _CJK.search(text)):
        return before.chinese if before else not re.search("[A-Za-z]", text)
    spoken = any(_CJK.search(part) for kind, part in elements if kind not in ("name", "quoted"))
    return not english or (english < 3 and spoken)


def _elements(text: str) -> list[tuple[str, str]]:
    """The question cut into known words and, as "name", what lies between them."""
    found, at = [], 0
    for match in _SCAN.finditer(text):
        found += [("name", text[at : match.start()]), (str(match.lastgroup), match.group())]
        at = match.end()
    return [(kind, part) for kind, part in [*found, ("name", text[at:])] if kind != "name" or part.strip()]


def _trimmed(text: str) -> str:
    name = text.strip()
    while name != (shorter := _TAIL.sub("", _LEAD.sub("", name)).strip()):
        name = shorter
    return "" if _EMPTY.fullmatch(name) else name


def _assembled(asked: Asked, elements: list[tuple[str, str]]) -> Asked:
    """Puts the elements together; an amount belongs to the name right behind it, else to the one before."""
    facets, orders, pieces, said = set[str](), list[tuple[str, str | None]](), list[_Piece](), dict[str, Any]()
    amounts, role = list[tuple[str, str]](), None
    for at, (kind, text) in enumerate(elements):
        lower = text.lower()
        meanings = [value for word, value in _SPEECH.get(kind, {}).items() if word in lower]
        if kind in FACETS or kind == "stock_unit":
            facets.add(kind.removesuffix("_unit"))
            if kind == "stock_unit" and (unit := _UNIT.search(text)):
                said["unit"] = unit.group()
        elif kind == "order":
            numbers = [each.lstrip("#") for each in _DOCUMENT.findall(text)]
            orders += [(each, meanings[0] if meanings and each.isdigit() else None) for each in numbers]
        elif kind in ("pick", "price_list"):
            said[kind] = meanings[0] if meanings else int(re.sub(r"\D", "", text))
        elif kind == "goes_on":
            said[kind] = True
        elif kind == "warehouse":
            said[kind] = re.sub(r"(?i)\s+(?:warehouse|shop|store)$", "", _trimmed(text))
        elif kind in ("to", "for"):
            role = kind
        elif kind == "buys" and pieces:
            pieces[-1].role = "to"
        elif kind == "qty" and (found := _AMOUNT.search(text)):
            following, behind = elements[at + 1] if at + 1 < len(elements) else ("", "")
            before_name = following == "quoted" or (following == "name" and _trimmed(behind) != "")
            target = pieces[-1].amounts if pieces and not before_name else amounts
            target.append((number(found[1]), found[2]))
        elif kind == "quoted" or (kind == "name" and _trimmed(text)):
            joined = bool(pieces) and role is None and _JOIN.match(text) is not None
            name = (
                text[1:-1].strip() if kind == "quoted" else _trimmed(_JOIN.sub("", text, count=1) if joined else text)
            )
            pieces.append(_Piece(name, role, amounts, joined))
            amounts, role = [], None
    asked = replace(asked, facets=frozenset(facets), orders=tuple(orders), **said)
    return _concluded(asked, [piece for piece in pieces if piece.name], amounts)


def _concluded(asked: Asked, pieces: list[_Piece], amounts: list[tuple[str, str]]) -> Asked:
    """Tells who buys from what is bought, and checks that all fits together."""
    facets = asked.facets or frozenset({"price"} if asked.price_list else ())
    buyers = [piece for piece in pieces if piece.role == "to" and not piece.counted]
    things = [piece for piece in pieces if piece not in buyers]
    if not buyers and "price" in facets and len(things) > 1:
        # Beside a product, what "for" points to is who buys; beside a quantity, so is a single name without one.
        loose = [piece for piece in things if not piece.counted and not piece.joined]
        pointed = [piece for piece in loose if piece.role == "for"]
        buyers = pointed or (loose if any(piece.counted for piece in things) else [])
        buyers = buyers if len(buyers) == 1 else []
        things = [piece for piece in things if piece not in buyers]
    twice = next((piece for piece in things if len(piece.amounts) > 1), None)
    items = [Item(piece.name, *(piece.amounts or [(None, None)])[0]) for piece in things]
    items = items or [Item("", *amount) for amount in amounts]
    problem = piece = None
    if twice or len(amounts) > 1 or (amounts and things):
        problem, piece = "amounts", twice.name if twice else amounts[0][0]
    elif len(buyers) > 1 or (buyers and facets and "price" not in facets):
        problem, piece = "unclear", buyers[-1].name
    elif asked.orders and items:
        problem, piece = "mixed", items[0].name or items[0].qty
    elif len(items) > MOST_ITEMS or len(asked.orders) > MOST_ORDERS:
        problem = "too_many"
    customer = buyers[0].name if buyers else None
    return replace(asked, facets=facets, items=tuple(items), customer=customer, problem=problem, piece=piece or "")
