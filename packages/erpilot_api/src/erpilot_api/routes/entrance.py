"""Coming in and going out: the one-time code becomes a token, and a cookie for a browser."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from ..access import TOKEN_SECONDS
from ..asked import Asker, TheHouse, body, gives, problems, takes, told
from ..door import COOKIE
from ..problems import Trouble
from ..wire import Enter, Entered, Me

router = APIRouter(tags=["entrance"])
_COOKIE = f"{COOKIE}={{}}; Path=/; HttpOnly; SameSite=Strict; Max-Age={{}}"


@router.post(
    "/api/session",
    operation_id="enter",
    summary="Exchange a one-time code for a token",
    responses=gives(Entered, "The token, also as a cookie."),
    openapi_extra={**takes(Enter, {"code": "eyJ…"}), "security": []},
)
async def enter(house: TheHouse, request: Request, entering: Annotated[Enter, Depends(body(Enter))]) -> Response:
    """`erpilot serve` prints a link with the code in its fragment, which no browser sends anywhere by itself."""
    user = house.access.redeem(entering.code)
    if user is None:
        raise Trouble("wrong-code", "The code was used, has expired or never held; `erpilot users link` gives another.")
    token, expires = house.access.token(user.name)
    secure = "; Secure" if request.url.scheme == "https" else ""
    cookie = _COOKIE.format(token, int(TOKEN_SECONDS)) + secure
    return told(Entered(token=token, expires=expires, me=house.me(user)), headers={"set-cookie": cookie})


@router.get(
    "/api/session", operation_id="me", summary="Who asks, and what the server runs with", responses=gives(Me, "You.")
)
async def me(house: TheHouse, user: Asker) -> Response:
    """Your name, your role and what it allows."""
    return told(house.me(user))


@router.delete(
    "/api/session",
    operation_id="leave",
    summary="Forget the cookie",
    status_code=204,
    responses={204: {"description": "The browser holds no token any more."}, **problems()},
)
async def leave(_: Asker) -> Response:
    """For a browser; a token that a program holds stays valid until it expires."""
    return Response(status_code=204, headers={"set-cookie": _COOKIE.format("", 0)})


@router.get(
    "/api/health",
    operation_id="health",
    summary="Whether the server answers",
    responses={
        200: {
            "description": "It does.",
            "content": {"application/json": {"schema": {"type": "object"}, "example": {"status": "ok"}}},
        },
        **{status: value for status, value in problems().items() if status != 401},
    },
    openapi_extra={"security": []},
)
async def health() -> dict[str, Any]:
    """Needs no token and tells nothing else."""
    return {"status": "ok"}
