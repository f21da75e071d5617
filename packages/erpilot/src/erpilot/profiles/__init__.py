"""What an assistant can be set up for: a name, a system prompt and a set of tools, each as one frozen value.

Invariant: a prompt is a constant; nothing that changes between two requests (a clock, a set without order) is in it.
"""

from __future__ import annotations

from .profile import Profile as Profile
from .shop import SHOP

PROFILES: dict[str, Profile] = {profile.name: profile for profile in (SHOP,)}
"""The profiles by name."""

DEFAULT = SHOP.name
