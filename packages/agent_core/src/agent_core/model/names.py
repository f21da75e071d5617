"""Names of tools: made safe for the wire, and found again in what a model wrote.

Invariant: a name on the wire matches ``^[a-zA-Z0-9_-]{1,64}$`` and belongs to one tool; a name is only understood as
an offered tool's when exactly one fits.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

_SAFE = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SHORT = re.compile(r"[a-zA-Z][a-zA-Z0-9_]{0,39}")
_UNSAFE_CHARACTERS = re.compile(r"[^a-zA-Z0-9_-]+")
_END_OF_NAME = re.compile(r"[<>|({\[\"'`=,;]")
_SEPARATOR = re.compile(r"[.:/]+")
_COUNTER = re.compile(r":\d+$")
_NINE = re.compile(r"[a-zA-Z0-9]{9}")
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def safe_name(name: str, *, short: bool = False) -> str:
    """The tool's name as it is sent: itself where it fits, else a readable part of it and a digest.

    ``short``: at most 40 letters, digits and ``_``, a letter first, for gateways that put a prefix before it.
    """
    if (_SHORT if short else _SAFE).fullmatch(name):
        return name
    limit = 40 if short else 64
    readable = _UNSAFE_CHARACTERS.sub("_", name)
    if short:
        readable = readable.replace("-", "_")
        if not readable[:1].isalpha():
            readable = f"t{readable}"
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{readable[: limit - 9]}_{digest}"


def nine(text: str) -> str:
    """A call id of nine letters and digits, accepted everywhere; always the same for the same text."""
    if _NINE.fullmatch(text):
        return text
    number = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    digits = []
    for _ in range(9):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    return "".join(digits)


def resolve(raw: str, offered: Mapping[str, str]) -> str | None:
    """The tool that ``raw`` means, or None. ``offered`` maps the names on the wire to the tools' own names.

    Exactly; else after cutting at the first character no name can hold, trimming, taking off a namespace with its
    separator, and ignoring case and ``-``/``_``, if exactly one tool fits. Never by likeness.
    """
    if (exact := offered.get(raw)) is not None:
        return exact
    if raw in offered.values():
        return raw
    text = raw.strip()
    if cut := _END_OF_NAME.search(text):
        text = text[: cut.start()].rstrip()
    forms = {text, _COUNTER.sub("", text)}
    for form in tuple(forms):
        forms.update(form[separator.end() :].strip() for separator in _SEPARATOR.finditer(form))
    folded = {_fold(form) for form in forms if form}
    fitting = {name for wire, name in offered.items() if _fold(wire) in folded or _fold(name) in folded}
    return fitting.pop() if len(fitting) == 1 else None


def bare_name(raw: str) -> str:
    """Without namespace and counter: ``functions.get_order:0`` is ``get_order``."""
    return _SEPARATOR.split(_COUNTER.sub("", raw.strip()))[-1]


def _fold(name: str) -> str:
    return name.casefold().replace("-", "_")
