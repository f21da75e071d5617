"""Who is who: tokens, one-time codes, users and what their roles allow.

Invariant: every token and code is signed with the key of this home and compared in constant time; none is stored or
logged. Whoever is taken off the list of users has no valid token any more.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Iterable

import msgspec
from msgspec import Struct

from .wire import Role

TOKEN_SECONDS = 30 * 24 * 3600.0
CODE_SECONDS = 600.0
KEY_BYTES = 32

APPROVES: dict[Role, tuple[str, ...]] = {
    "clerk": (),
    "warehouse": (),
    "buyer": (),
    "money": (),
    "manager": ("WRITE",),
    "owner": ("WRITE", "DANGEROUS"),
}
"""Tiers of calls that a role may approve; whoever may see a question may always deny it. What the role may do in the
shop is told by ``erpilot.shop.rights``."""
SEES_ALL: frozenset[Role] = frozenset({"manager", "owner"})
"""Roles that see the sessions of everybody of their tenant."""


class User(Struct, frozen=True):
    """Somebody who may come in. ``tenant``: whose shop; None is that of this home."""

    name: str
    role: Role
    tenant: str | None = None

    @property
    def approves(self) -> tuple[str, ...]:
        """Tiers this person may approve."""
        return APPROVES[self.role]

    @property
    def sees_all(self) -> bool:
        """Sessions of everybody of the tenant, not only their own."""
        return self.role in SEES_ALL

    def sees(self, owner: str | None, tenant: str | None) -> bool:
        """Whether a session of ``owner`` is theirs to see. One without an owner was begun on the command line of this
        home, so it belongs to its owners."""
        if tenant != self.tenant:
            return False
        return owner == self.name or (self.role == "owner" if owner is None else self.sees_all)


class _Claim(Struct, frozen=True, forbid_unknown_fields=True):
    kind: str
    user: str
    issued: float
    expires: float
    nonce: str


class Access:
    """Issues and checks tokens and codes for ``users`` with ``key``. A code works once, and only when it was issued
    after this object was made."""

    def __init__(self, key: bytes, users: Iterable[User], clock: Callable[[], float] = time.time) -> None:
        if len(key) < KEY_BYTES:
            raise ValueError(f"the key needs {KEY_BYTES} bytes")
        self._key, self._clock = key, clock
        self.users = {user.name: user for user in users}
        self._since = clock()
        self._used: dict[str, float] = {}

    def token(self, user: str, seconds: float = TOKEN_SECONDS) -> tuple[str, float]:
        """A token and when it expires."""
        return self._sign("token", user, seconds)

    def code(self, user: str) -> str:
        """A code to be exchanged for a token once."""
        return self._sign("code", user, CODE_SECONDS)[0]

    def user_of(self, token: str) -> User | None:
        """Whose token it is; None when it does not hold."""
        claim = self._read("token", token)
        return None if claim is None else self.users.get(claim.user)

    def redeem(self, code: str) -> User | None:
        """Whose code it is; it does not hold again."""
        claim = self._read("code", code)
        if claim is None or claim.nonce in self._used or claim.issued < self._since:
            return None
        now = self._clock()
        self._used = {nonce: until for nonce, until in self._used.items() if until > now}
        self._used[claim.nonce] = claim.expires
        return self.users.get(claim.user)

    def _sign(self, kind: str, user: str, seconds: float) -> tuple[str, float]:
        now = self._clock()
        claim = _Claim(kind, user, now, now + seconds, secrets.token_hex(8))
        body = base64.urlsafe_b64encode(msgspec.json.encode(claim)).rstrip(b"=")
        return f"{body.decode()}.{self._mac(body)}", claim.expires

    def _mac(self, body: bytes) -> str:
        digest = hmac.new(self._key, body, hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    def _read(self, kind: str, text: str) -> _Claim | None:
        body, dot, mac = text.partition(".")
        if not dot or not text.isascii() or not hmac.compare_digest(mac.encode(), self._mac(body.encode()).encode()):
            return None
        try:
            claim = msgspec.json.decode(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)), type=_Claim)
        except (ValueError, msgspec.MsgspecError):
            return None
        return claim if claim.kind == kind and self._clock() < claim.expires else None
