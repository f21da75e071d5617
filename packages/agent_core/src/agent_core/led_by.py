"""Which record led to a call: where the values in its arguments stand that nobody said.

Invariant: pure, and no judgement: a person who decides is told where the values were read, not whether that is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .state import Run, State
from .text import clip

SHORTEST = 3
"""Characters of a value that tell it from others; shorter ones stand everywhere."""
_LONGEST = 200


def led_by(state: State, run: Run, arguments: dict[str, Any]) -> str | None:
    """The call whose result, text by outsiders, holds most of the values of ``arguments`` that no person wrote; the
    newest of several. None when there is no such result."""
    said = "\n".join(
        entry.message.content or "" for entry in state.entries if entry.message.role == "user" and not entry.note
    ).casefold()
    wanted = {value for value in map(str.casefold, _texts(arguments)) if len(value) >= SHORTEST and value not in said}
    best, most = None, 0
    for entry in reversed(state.entries if wanted else []):
        for call in entry.calls:
            if call.result is None or not run.rules(call.call.name).untrusted:
                continue
            read = (call.result.content or "").casefold()
            if (found := sum(value in read for value in wanted)) > most:
                best, most = call.call, found
    return None if best is None else clip(f"{best.name} {best.arguments}", _LONGEST)


def _texts(value: Any) -> Iterator[str]:
    """The texts and numbers in plain data."""
    if isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value.strip()
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
