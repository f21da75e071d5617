"""Keeps known secrets out of everything a run records, sends or shows.

Invariant: what passes through a ``Masker`` holds none of its secrets, plain or in the forms that programs put text into
(URLs, JSON, base64), also where a stream cuts them in two. Masking happens at ingress, before anything is folded or
hashed, since events are kept for ever; without secrets it costs one comparison.
"""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints
from urllib.parse import quote, quote_plus, unquote, urlsplit

import msgspec
from msgspec import Struct

from .messages import ModelEvent, ReasoningDelta, StreamEnd, TextDelta, TextWithdrawn

T = TypeVar("T")

MARK = "[secret]"
"""Stands where a secret stood. A tool call whose arguments hold it is refused: nobody can act on it."""
SHORTEST = 6
"""Characters. Shorter secrets are not masked: they would tear ordinary words and numbers apart."""
_LONG_LINE = 16
"""Characters from which one line of a secret of several (a private key) is one by itself."""


class Masker:
    """Replaces ``secrets`` by ``[secret]``; false when there are none."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for part in _parts(secret) for form in _forms(part)}
        self._pattern = None
        if forms:  # the longest first: what contains another one is masked as a whole
            self._pattern = re.compile("|".join(map(re.escape, sorted(forms, key=lambda form: (-len(form), form)))))
        self._beginnings = frozenset(form[:end] for form in forms for end in range(1, len(form)))
        self._longest = max(map(len, forms), default=0)

    def __bool__(self) -> bool:
        return self._pattern is not None

    def text(self, text: str) -> str:
        """The text without secrets."""
        if self._pattern is None or self._pattern.search(text) is None:
            return text
        return self._pattern.sub(MARK, text)

    def value(self, value: T) -> T:
        """The value with every string in it masked; the same object where nothing was. Words of a closed set (which a
        ``Literal`` names) stay as they are.
        """
        if self._pattern is None:
            return value
        masked: Any = self._masked(value)
        return masked  # type: ignore[no-any-return]

    async def stream(self, events: AsyncIterator[ModelEvent]) -> AsyncGenerator[ModelEvent]:
        """A model's stream without secrets: text that may be the beginning of one waits for what follows."""
        text, reasoning = Pending(self), Pending(self)
        try:
            async for event in events:
                match event:
                    case TextDelta():
                        if piece := text.take(event.text):
                            yield TextDelta(piece)
                    case ReasoningDelta():
                        if piece := reasoning.take(event.text):
                            yield ReasoningDelta(piece)
                    case _:
                        if isinstance(event, TextWithdrawn):
                            text, reasoning = Pending(self), Pending(self)
                        elif isinstance(event, StreamEnd):
                            if piece := reasoning.end():
                                yield ReasoningDelta(piece)
                            if piece := text.end():
                                yield TextDelta(piece)
                        yield self.value(event)
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()

    def split(self, text: str) -> tuple[str, str]:
        """What of ``text`` can be said now, masked, and the end of it that may be the beginning of a secret."""
        said: list[str] = []
        while True:
            held = next(
                (
                    start
                    for start in range(max(0, len(text) - self._longest + 1), len(text))
                    if text[start:] in self._beginnings
                ),
                len(text),
            )
            found = None if self._pattern is None else self._pattern.search(text)
            if found is None or found.start() >= held:
                return "".join([*said, text[:held]]), text[held:]
            said += [text[: found.start()], MARK]
            text = text[found.end() :]

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Struct):
            changes = {}
            for name in _open_fields(type(value)):
                old = getattr(value, name)
                if (new := self._masked(old)) is not old:
                    changes[name] = new
            return msgspec.structs.replace(value, **changes) if changes else value
        if isinstance(value, tuple | list):
            items = [self._masked(item) for item in value]
            return value if all(map(_is, items, value)) else type(value)(items)
        if isinstance(value, dict):
            pairs = [(self._masked(key), self._masked(item)) for key, item in value.items()]
            same = all(
                new is old for pair in zip(pairs, value.items(), strict=True) for new, old in zip(*pair, strict=True)
            )
            return value if same else dict(pairs)
        return value


NOTHING = Masker()
"""Masks nothing."""


class Pending:
    """The text of one stream. ``take`` gives what can be said after each piece, ``end`` the rest."""

    def __init__(self, masker: Masker) -> None:
        self._masker, self._held = masker, ""

    def take(self, piece: str) -> str:
        """What can be said now."""
        said, self._held = self._masker.split(self._held + piece)
        return said

    def end(self) -> str:
        """What was held back, after all no secret, or one that another began inside of."""
        held, self._held = self._held, ""
        return self._masker.text(held)


def _parts(secret: str) -> list[str]:
    """A secret and what of it is one by itself: the password of an address, the lines of a key."""
    parts = [secret, secret.strip()]
    if "\n" in secret:
        parts += [line for raw in secret.splitlines() if len(line := raw.strip()) >= _LONG_LINE]
    if "://" in secret:
        try:
            password = urlsplit(secret).password
        except ValueError:
            password = None
        if password:
            parts += [password, unquote(password)]
    return [part for part in parts if len(part) >= SHORTEST]


def _forms(secret: str) -> set[str]:
    """How a text may hold a secret."""
    data = secret.encode("utf-8", "replace")
    once = msgspec.json.encode(data.decode()).decode()[1:-1]
    twice = msgspec.json.encode(once).decode()[1:-1]
    encoded = base64.b64encode(data).decode().rstrip("=")
    url_safe = encoded.replace("+", "-").replace("/", "_")
    return {secret, once, twice, encoded, url_safe, quote(data, safe=""), quote_plus(data)}


@cache
def _open_fields(kind: type[Struct]) -> tuple[str, ...]:
    """The fields of a struct that may hold any text."""
    return tuple(name for name, hint in get_type_hints(kind).items() if name != "v" and not _is_closed(hint))


def _is_closed(hint: Any) -> bool:
    return get_origin(hint) is Literal or any(get_origin(part) is Literal for part in get_args(hint))


def _is(one: object, other: object) -> bool:
    return one is other
