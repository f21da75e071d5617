"""What an assistant can be set up for: a name, a system prompt and a set of tools, each as one frozen value.

Invariant: a prompt is a constant; nothing that changes between two requests (a clock, a set without order) is in it.
"""

from __future__ import annotations

from .profile import Profile as Profile
from .profile import told_and_found as told_and_found
from .shop import MONEY, SALES, SHOP, WAREHOUSE

PROFILES: dict[str, Profile] = {profile.name: profile for profile in (SHOP, SALES, WAREHOUSE, MONEY)}
"""The profiles by name."""

DEFAULT = SHOP.name
