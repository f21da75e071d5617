"""Which ERP an installation works with, and how a person logs in to it.

Invariant: a password is asked of the environment, then of the keyring of the computer, and is never written into the
settings; nothing is connected before it is needed.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final, Literal

from .errors import Invalid, ShopError, Unauthenticated

if TYPE_CHECKING:
    from .tryton.shop import TrytonShop

Backend = Literal["embedded", "tryton"]
PASSWORD_VARIABLE: Final = "ERPILOT_TRYTON_PASSWORD"
KEYRING_SERVICE: Final = "erpilot-tryton"


@dataclass(frozen=True, slots=True)
class Connection:
    """The table ``[shop]`` of the settings. ``password_variable``: environment variable that holds the password, None:
    ``ERPILOT_TRYTON_PASSWORD``; ``discount_limit``: per cent that a quotation may take off without more rights, which
    Tryton does not know; ``timeout``: seconds of one call.
    """

    backend: Backend = "embedded"
    url: str | None = None
    database: str | None = None
    user: str | None = None
    password_variable: str | None = None
    discount_limit: Decimal = Decimal(15)
    timeout: Decimal = Decimal(30)

    def table(self) -> dict[str, str]:
        """What differs from the defaults, as texts."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: str(value) for name, value in values.items() if value != getattr(EMBEDDED, name)}


EMBEDDED: Final = Connection()
"""The shop that is built in."""


def read_connection(table: object, source: str) -> Connection:
    """The connection that a table of the settings says. Raises ``Invalid``, which names the setting."""
    if not isinstance(table, Mapping):
        raise Invalid(f"{source}: shop is a table.", hint='Write [shop] and, below it, backend = "tryton".')
    known = {each.name for each in fields(Connection)}
    values: dict[str, Any] = {}
    for name, value in table.items():
        if name not in known:
            raise Invalid(
                f"{source} holds an unknown setting, shop.{name}.", hint=f"Known: {', '.join(sorted(known))}."
            )
        text = str(value).strip()
        if text:
            values[name] = _number(name, text, source) if name in ("discount_limit", "timeout") else text
    if values.get("backend", "embedded") not in ("embedded", "tryton"):
        raise Invalid(f"{source}: there is no ERP {values['backend']!r}.", hint="embedded, or tryton.")
    found = Connection(**values)
    missing = [name for name in ("url", "database", "user") if getattr(found, name) is None]
    if found.backend == "tryton" and missing:
        raise Invalid(
            f"{source}: a shop in Tryton needs {', '.join(missing)}.", hint="Set it by: erpilot setup --shop tryton"
        )
    return found


def _number(name: str, text: str, source: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal(-1)
    if not (number.is_finite() and 0 <= number <= (100 if name == "discount_limit" else 600)):
        raise Invalid(f"{source}: {text!r} is no value for shop.{name}.", hint="A number.")
    return number


def password_of(connection: Connection, environment: Mapping[str, str]) -> str:
    """The password, from the environment or the keyring. Raises ``Unauthenticated``, which says where it was looked
    for.
    """
    variable = connection.password_variable or PASSWORD_VARIABLE
    found = environment.get(variable, "") or _from_keyring(connection)
    if not found:
        raise Unauthenticated(
            f"There is no password for {connection.user} at {connection.url}.",
            hint=f"Set the environment variable {variable}, or store it: erpilot setup --shop tryton --password-stdin",
        )
    return found


def _account(connection: Connection) -> str:
    return f"{connection.user}@{connection.url}/{connection.database}"


def _from_keyring(connection: Connection) -> str | None:
    try:
        keyring = importlib.import_module("keyring")
        found = keyring.get_password(KEYRING_SERVICE, _account(connection))
    except Exception:  # no keyring here, or none that works: as if nothing were in it
        return None
    return found or None


def keep_password(connection: Connection, password: str) -> None:
    """Puts a password into the keyring. Raises ``Invalid`` where there is none."""
    try:
        keyring = importlib.import_module("keyring")
        keyring.set_password(KEYRING_SERVICE, _account(connection), password)
    except Exception as error:
        raise Invalid(
            "The password could not be stored: there is no keyring on this computer that works.",
            hint=f"Install the package keyring, or set the environment variable {PASSWORD_VARIABLE} instead.",
        ) from error


async def connect(connection: Connection, environment: Mapping[str, str]) -> TrytonShop:
    """A shop in Tryton, connected: its company is known. Raises ``Unauthenticated``, ``Unavailable``."""
    from .tryton.rpc import Rpc
    from .tryton.shop import TrytonShop

    password = password_of(connection, environment)
    url, database, user = connection.url or "", connection.database or "", connection.user or ""
    rpc = Rpc(url, database, user, password, timeout=float(connection.timeout))
    shop = TrytonShop(rpc, discount_limit=connection.discount_limit)
    try:
        await shop.connect()
    except ShopError:
        await shop.aclose()
        raise
    return shop
