"""Named places where a test may stop the program.

Invariant: off (always, outside of tests) a place costs one comparison with None. ``agent_core.testing.failpoints``
arms them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

hook: Callable[[str, Any], None] | None = None
"""Called with the place and what it is about, when armed."""


def failpoint(place: str, about: Any) -> None:
    """A place where the program may be made to stop. ``about``: an event, a list of recorded events, or a name."""
    if hook is not None:
        hook(place, about)
