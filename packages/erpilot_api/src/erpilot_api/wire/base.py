"""What the shapes have in common."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from erpilot.shop.rights import Role as Role

Text = Annotated[str, Meta(min_length=1, max_length=100_000)]
ClientId = Annotated[str, Meta(min_length=1, max_length=200)]
Seq = Annotated[int, Meta(ge=1, le=2**53)]


class Body(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of what is sent in: an unknown key is refused, since it would be ignored otherwise."""


class Answer(Struct, frozen=True, kw_only=True):
    """Base of what is answered; a key may be added at any time."""
