"""What Tryton answers instead of a result, as the shop's errors.

Invariant: a message is the server's own sentence, never its schema dump or a traceback; an answer that does not say
whether a write happened becomes ``UnknownOutcome`` for a write and ``Unavailable`` for a read, never a success.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import Conflict, Denied, Invalid, NeedsConfirmation, Refused, ShopError, Unauthenticated, Unavailable
from ..errors import UnknownOutcome as UnknownOutcome

BUSY_HINT = "Try again in a moment."


class ServerRefused(Refused):
    """The server's own refusal. Whether it is for a right that is missing its text does not say; ``rights`` finds
    out.
    """


class SessionExpired(Unauthenticated):
    """The session is not known (any more), or never came to be: a wrong password."""


def of_error(error: object) -> ShopError:
    """The ``error`` of an answer: [kind, details], or [text, trace] for what the server itself tripped over."""
    kind, details = _parts(error)
    match kind:
        case "UserError":
            return ServerRefused(_sentence(details, 0))
        case "UserWarning":
            return NeedsConfirmation(_sentence(details, 1), token=str(_at(details, 0)))
        case "ConcurrencyException":
            return Conflict("The record was changed by somebody else since it was read.", hint="Read it again.")
        case "LoginException":
            return Unauthenticated(
                "The Tryton server wants another way to log in than a password.",
                hint="Give Erpilot a user with a password of its own.",
            )
        case "RateLimitException":
            return _locked_out()
        case _:
            # An unknown model or field, or a wrong argument: nothing was done, and repeating it would not help.
            return Invalid(
                f"The Tryton server cannot do that: {kind[:200]}.", hint="Are its modules those of the shop?"
            )


def of_status(status: int, *, write: bool) -> ShopError:
    """An HTTP status that is not 200."""
    if status == 401:
        return SessionExpired("The Tryton server does not accept the session.", hint="Check user and password.")
    if status == 403:
        return Denied("The Tryton server does not allow this user to do that.", right="call")
    if status == 404:
        return Unavailable("There is no such database on the Tryton server.", hint="Check its name: erpilot doctor.")
    if status == 409:
        return Conflict("The record was changed by somebody else since it was read.", hint="Read it again.")
    if status == 429:
        return _locked_out()
    if status == 503:
        return Unavailable("The Tryton server is busy; nothing was changed.", hint=BUSY_HINT)
    if write and status >= 500:
        return unknown(f"answered with HTTP {status}")
    return Unavailable(f"The Tryton server answered with HTTP {status}.", hint=BUSY_HINT)


def unknown(what: str) -> UnknownOutcome:
    """A write whose answer did not come, or did not say."""
    return UnknownOutcome(
        f"The Tryton server {what}: whether the change was made is not known.", hint="It is looked up."
    )


def unreachable(address: str, why: str) -> Unavailable:
    """Nothing was sent."""
    return Unavailable(
        f"The Tryton server at {address} cannot be reached ({why}); nothing was changed.",
        hint="Is it running? erpilot doctor tests the connection.",
    )


def _locked_out() -> Unauthenticated:
    return Unauthenticated(
        "The Tryton server refuses logins for a while after several wrong passwords, the right one too.",
        hint="Wait some minutes, then check the password.",
    )


def _parts(error: object) -> tuple[str, Sequence[Any]]:
    if isinstance(error, list | tuple) and error:
        details = error[1] if len(error) > 1 else ()
        return str(error[0]), details if isinstance(details, list | tuple) else (details,)
    return str(error), ()


def _at(details: Sequence[Any], position: int) -> Any:
    return details[position] if len(details) > position else ""


def _sentence(details: Sequence[Any], position: int) -> str:
    """Message and description: the element behind them is a dump of the domain, and not for people."""
    parts = [" ".join(str(_at(details, at) or "").split()) for at in (position, position + 1)]
    text = " ".join(part for part in parts if part)
    return (text or "The Tryton server refuses without saying why.")[:500]
