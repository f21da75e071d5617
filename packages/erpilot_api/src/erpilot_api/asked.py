"""What a handler is given: the house, who asks, a session of theirs, a body in its shape.

Invariant: a handler with a session id in its path takes it through ``Own``, so it cannot be reached by somebody else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import msgspec
from fastapi import Depends, Path, Request
from starlette.responses import Response

from .access import User
from .cards import Card
from .house import House
from .problems import Trouble
from .wire import Answer, Body

B = TypeVar("B", bound=Body)
_encoder = msgspec.json.Encoder()


def house_of(request: Request) -> House:
    """What this server serves."""
    house: House = request.app.state.house
    return house


def user_of(request: Request) -> User:
    """Who asks; the door let them in."""
    user: User = request.state.user
    return user


async def own_session(
    request: Request, session_id: Annotated[str, Path(description="Id of a session that is yours to see.")]
) -> Card:
    """The session of the path; 404 when it is not theirs."""
    return await house_of(request).see(user_of(request), session_id)


TheHouse = Annotated[House, Depends(house_of)]
Asker = Annotated[User, Depends(user_of)]
Own = Annotated[Card, Depends(own_session)]


def body(shape: type[B]) -> Callable[[Request], Awaitable[B]]:
    """Reads the body of a request as ``shape``."""

    async def read(request: Request) -> B:
        try:
            return msgspec.json.decode(await request.body(), type=shape)
        except msgspec.ValidationError as error:
            raise Trouble("invalid", "The body is not what it has to be.", errors=(str(error),)) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Trouble("invalid", "The body is not JSON.", errors=(str(error),)) from None

    return read


def told(value: Answer, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer as JSON; never kept by a cache."""
    return Response(
        _encoder.encode(value), status, {"cache-control": "no-store", **(headers or {})}, "application/json"
    )


Said = dict[int | str, dict[str, Any]]
"""Answers by status, as FastAPI takes them."""


def takes(shape: type[Body], example: dict[str, Any]) -> dict[str, Any]:
    """What the OpenAPI document says of a body."""
    schema = {"$ref": f"#/components/schemas/{shape.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema, "example": example}}}}


def gives(shape: type[Answer], description: str, *, status: int = 200, also: tuple[int, ...] = ()) -> Said:
    """What the OpenAPI document says of the answers. ``also``: statuses of problems besides those of all resources."""
    schema = {"$ref": f"#/components/schemas/{shape.__name__}"}
    content = {"application/json": {"schema": schema}}
    return {status: {"description": description, "content": content}, **problems(*also)}


_PROBLEMS = {
    401: "No valid token.",
    403: "The role does not allow it, or the request comes from another site.",
    404: "No such thing, or it belongs to somebody else.",
    409: "It cannot be done as things stand.",
    410: "It is over: the question has expired, or the content was erased.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The server does not answer for that host.",
    422: "The body or a parameter is not what it has to be.",
    429: "Too many requests; `Retry-After` says when to come back.",
    500: "The log of the session is damaged, or something failed.",
    503: "The log cannot be read or written now, or the server is going down.",
}


def problems(*statuses: int) -> Said:
    """Problems that a resource may answer, and those that every one may."""
    schema = {"$ref": "#/components/schemas/Problem"}
    content = {"application/problem+json": {"schema": schema}}
    wanted = sorted({401, 403, 413, 415, 421, 422, 429, 500, 503, *statuses})
    return {status: {"description": _PROBLEMS[status], "content": content} for status in wanted}
