"""Reads a question: what is asked (facets), about which documents and products, how much, for whom.

Invariant: every piece of a question is a known word or becomes a name to look up; what fits nowhere makes the question
not understood. Nothing here knows a product, a customer or a document.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib import resources
from itertools import pairwise
from typing import Any

from agent_core.context.front import STOPPED

from ..shop.numerals import in_digits
from .amounts import in_figures

WORDS: dict[str, Any] = tomllib.loads(resources.files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))
LONGEST, MOST_ITEMS, MOST_ORDERS, MOST_CALLS = 1000, 8, 3, 8


def pattern(source: str) -> re.Pattern[str]:
    """A pattern of several lines in one, with its macros; a macro may be made of those below it."""
    for name, macro in WORDS["macros"].items():
        source = source.replace(f"<{name}>", macro)
    return re.compile("".join(map(str.strip, source.splitlines())), re.IGNORECASE)


_SCAN = pattern("|".join(f"(?P<{kind}>{source})" for kind, source in WORDS["scan"].items()))
_REFUSED = {problem: pattern(source) for problem, source in WORDS["refuse"].items()}
_MEANING = {kind: {each: pattern(words) for each, words in table.items()} for kind, table in WORDS["meaning"].items()}
_LEAD, _TAIL, _EMPTY, NO_NAME, BARE = map(pattern, WORDS["names"].values())
_DOCUMENT, _AMOUNT, _CJK = pattern("<D>"), pattern(r"(<Q>|an?|one)?\s*(<U>)?$"), re.compile("[\u3400-\u9fff]")
_SIMPLIFIED = {ord(a): b for pair in WORDS["traditional"]["pairs"] for a, b in zip(*pair.split("="), strict=True)}
_PLACE = re.compile(
    r"^(?:它们?)?(?:在|从|\b(?:in|at|for|from) (?:the |our )?)|(?:里面?|的|还|内)+$|"
    r"(?<=[A-Za-z]) (?:shop|store|warehouse|branch)$",
    re.IGNORECASE,
)
_COMMA = re.compile(r"[,;。?!:]")
_COUNTED = pattern(r"(\S.*?[^\d\s.,-])\s+(<N>)")
_MIXED = re.compile("(?<=[\u4e00-\u9fff])(?=[A-Za-z]{3})|(?<=[A-Za-z]{3})(?=[\u4e00-\u9fff])")
_ASKED = re.compile(r"(?<=[\u4e00-\u9fff])(?<![要是好])不\s*[?。]*$")  # "...好不?": a particle at the very end
_FROZEN = re.compile(r"\s*(?:\[(?!file:).*\])?\s*")


@dataclass(frozen=True, slots=True)
class Item:
    """A product as it was called, and how much of it. No name: the one spoken of before."""

    name: str = ""
    qty: str | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question. ``orders``: (number, kind). ``apart``: some of its names are parted by no more than a comma, so that
    one which nothing is called makes it not understood. ``problem``: the template that says why it is not answered."""

    chinese: bool
    facets: frozenset[str] = frozenset()
    orders: tuple[tuple[str, str | None], ...] = ()
    items: tuple[Item, ...] = ()
    customer: str | None = None
    price_list: str | None = None
    unit: str | None = None
    pick: int | None = None
    listed: bool = False
    more: bool = False
    place: str | None = None
    goes_on: bool = False
    apart: bool = False
    problem: str | None = None
    piece: str = ""


def question(content: str) -> str:
    """What the person wrote, in half width and simplified characters, what is counted in digits, without what the
    runtime puts before it and the lines that it freezes in behind it."""
    lines = content.removeprefix(STOPPED).translate(_SIMPLIFIED).split("\n")
    while lines and _FROZEN.fullmatch(lines[-1]):
        lines.pop()
    text = unicodedata.normalize("NFKC", "\n".join(lines)).strip()
    return in_figures(_ASKED.sub("吗", _MIXED.sub(" ", text))) if len(text) <= LONGEST else text


def place_of(said: str) -> str:
    """The warehouse that a place in a question names: without "in the" and "shop", 在 and 的."""
    return _PLACE.sub("", said).strip()


def refusal(text: str, problems: Iterable[str]) -> tuple[str, str] | None:
    """The first of these problems that a question has, and the words that show it."""
    for problem in problems:
        if refused := _REFUSED[problem].search(text):
            return problem, refused.group().strip(" ,.;!?")
    return None


def read(text: str, before: Asked | None = None) -> Asked:
    """A question as it stands; ``turns`` adds what earlier ones say about it."""
    if len(text) > LONGEST:
        return Asked(_CJK.search(text) is not None, problem="too_long")
    elements, at = list[tuple[str, str]](), 0
    for match in _SCAN.finditer(text):
        elements += [("name", text[at : match.start()]), (str(match.lastgroup), match.group())]
        at = match.end()
    elements.append(("name", text[at:]))
    said = "".join(part for kind, part in elements if kind != "name")
    asked = Asked(is_chinese(_DOCUMENT.sub("", said), _DOCUMENT.sub("", text), before))
    if (refused := refusal(text, _REFUSED)) is not None:
        return replace(asked, problem=refused[0], piece=refused[1])
    return _assembled(asked, [each for each in elements if each[0] != "name" or trimmed(each[1])])


def is_chinese(said: str, text: str, before: Asked | None) -> bool:
    """The language of the known words; without any, that of the message before, else of the names."""
    own = said if re.search("[A-Za-z\u3400-\u9fff]", said) else text
    return before.chinese if before and own is text else bool(_CJK.search(own) or not re.search("[A-Za-z]", own))


def trimmed(text: str) -> str:
    name = _TAIL.sub("", _LEAD.sub("", text))
    return "" if _EMPTY.fullmatch(name) else name


def _assembled(asked: Asked, elements: list[tuple[str, str]]) -> Asked:
    """Puts the elements together; an amount belongs to the name right behind it, else to the one before."""
    said: dict[str, Any] = {"facets": frozenset(), "orders": ()}
    pieces, amounts = list[dict[str, Any]](), list[tuple[str, str | None]]()
    behind = _each_behind([kind for kind, _ in elements])
    role: str | None = None  # of the next name: to or for (who buys, perhaps); "and" when it is tied to the one before
    tie = ""  # what ties it to the one before: "and" or a list, a comma, or nothing at all
    for (kind, text), (following, _) in pairwise([*elements, ("", "")]):
        meaning = next((each for each, words in _MEANING.get(kind, {}).items() if words.search(text)), None)
        amount, unit = _AMOUNT.findall(text.lower())[0]
        if kind in ("lines", "stock", "price"):
            said |= {"facets": said["facets"] | {kind}} | ({"unit": unit} if kind == "stock" and unit else {})
        elif kind == "order":
            numbers = _DOCUMENT.findall(text.replace("#", " "))
            said["orders"] += tuple((each, meaning if each.isdigit() else None) for each in numbers)
        elif kind == "place":
            said["place"] = place_of(text)
        elif kind in ("pick", "price_list", "goes_on", "listed", "more"):
            said[kind] = int(meaning or 0) if kind == "pick" else meaning or True
        elif kind in ("to", "for", "and"):
            role = kind
            for piece in pieces[-1:] if kind == "and" else ():
                piece["role"] = piece["role"] or kind
        elif kind == "qty":
            target = pieces[-1]["amounts"] if pieces and (behind or following != "name") else amounts
            target.append(("1" if re.match("[a-z]", amount) else in_digits(amount).replace(",", ""), unit or None))
        if kind == "and" or (kind == "pad" and not tie and _COMMA.search(text)):
            tie = kind
        elif kind == "name":
            name = trimmed(text)
            if not amounts and (bare := BARE.fullmatch(name)):
                name, amounts = bare[2], [(bare[1].replace(",", ""), None)]
            pieces.append({"name": name, "role": role, "amounts": amounts, "tie": tie})
            amounts, role, tie = [], None, ""
    concluded = _concluded(replace(asked, **said), pieces, amounts)
    return replace(concluded, apart=concluded.apart or behind)


def _each_behind(kinds: list[str]) -> bool:
    """Whether names and quantities take turns, each name first: "cola 20 cases sprite 10 cases"."""
    told = "".join({"name": "n", "qty": "q", "pad": "", "and": ""}.get(kind, "|") for kind in kinds)
    return re.fullmatch(r"[^nq]*(?:nq){2,}[^nq]*", told) is not None


def _concluded(asked: Asked, pieces: list[dict[str, Any]], amounts: list[tuple[str, str | None]]) -> Asked:
    """Tells who buys from what is bought, and checks that all fits together."""
    counted = [_COUNTED.fullmatch(piece["name"]) for piece in pieces if not piece["amounts"]]
    if len(pieces) > 1 and counted and all(counted):  # "A4 paper 15, tape 40": a list with bare numbers behind
        for bare in (each for each in pieces if not each["amounts"]):
            if (found := _COUNTED.fullmatch(bare["name"])) is not None:
                bare |= {"name": found[1], "amounts": [(found[2].replace(",", ""), None)]}
    facets = asked.facets | ({"price"} if asked.price_list else frozenset())
    if asked.place and not facets and pieces:  # "cola in the East shop"
        facets = frozenset({"stock"})
    loose = [piece for piece in pieces if not piece["amounts"]]
    to, towards, plain = ([piece for piece in loose if piece["role"] == role] for role in ("to", "for", None))
    # Beside a product, what "for" points to is who buys; beside a quantity, so is a single name without one.
    perhaps = towards or (plain if len(loose) < len(pieces) else [])
    buyer = (asked.goes_on and towards) or ("price" in facets and len(pieces) > 1)
    buyers = to or (perhaps if buyer and len(perhaps) == 1 else [])
    things = [piece for piece in pieces if piece not in buyers] + [{"name": "", "amounts": amounts}] * bool(amounts)
    items = tuple(Item(each["name"], *(each["amounts"] or [()])[0]) for each in things)
    scrap = [each["name"] for each in things if len(each["name"]) == 1]  # beside others: a word that is not known
    for one, other in pairwise(things):  # what stands beside another name, tied to it by nothing, is no name
        scrap += [each["name"] for each in (one, other) if not (other.get("tie", "and") or each["amounts"])]
    denied = [each["name"] for each in pieces if NO_NAME.search(each["name"])]
    commas = len(things) > 1 and any(each.get("tie") == "pad" for each in things)
    apart = commas and any(not each["amounts"] for each in things)
    for_nothing = buyers and facets and "price" not in facets
    problems = {
        "amounts": any(len(each["amounts"]) > 1 for each in things) or (amounts and len(things) > 1),
        "unclear": denied or len(buyers) > 1 or for_nothing or (len(things) > 1 and scrap),
        "mixed": asked.orders
        and items
        and (not facets or "lines" in facets or len(asked.orders) > 1 or len(items) > 1 or bool(buyers)),
        "place": asked.place and not (things or asked.orders),
        "too_many": len(items) > MOST_ITEMS or len(asked.orders) > MOST_ORDERS,
    }
    problem = next((each for each, wrong in problems.items() if wrong), None)
    names = [each["name"] for each in (buyers if problem == "unclear" else things)]
    piece = next(filter(None, [*denied, "」「".join(dict.fromkeys(scrap)), *names]), "")
    piece = piece or next((each["name"] for each in things), "")
    customer = buyers[-1]["name"] if buyers else None
    return replace(asked, facets=facets, items=items, customer=customer, apart=apart, problem=problem, piece=piece)
