"""Errors as RFC 9457 problems: what is wrong, in one sentence, with a type that a program can tell apart.

Invariant: nothing internal is told (no traceback, no path, no key); what is not somebody's own is told exactly like
what does not exist.
"""

from __future__ import annotations

import logging
from typing import Any

import msgspec
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from agent_core.errors import (
    AgentError,
    Busy,
    DamagedLog,
    Erased,
    Fenced,
    Malformed,
    Refused,
    StoreError,
    UnknownSession,
)

from .wire import Decision, Problem

MEDIA_TYPE = "application/problem+json"
_log = logging.getLogger(__name__)

TITLES = {
    "not-http": (400, "The request is not HTTP"),
    "invalid": (422, "The request is not understood"),
    "not-json": (415, "The body has to be application/json"),
    "too-large": (413, "The body is too large"),
    "wrong-host": (421, "This server does not answer for that host"),
    "foreign-origin": (403, "Requests from other sites are refused"),
    "no-token": (401, "A valid token is needed"),
    "wrong-code": (401, "The code does not hold"),
    "not-allowed": (403, "The role does not allow this"),
    "not-found": (404, "There is no such thing"),
    "wrong-method": (405, "This resource has no such method"),
    "refused": (409, "This cannot be done now"),
    "busy": (409, "A run is going on"),
    "decided": (409, "The question was answered already"),
    "expired": (410, "The question has expired"),
    "erased": (410, "The content was erased"),
    "too-many": (429, "Too many requests"),
    "storage": (503, "The log cannot be read or written now"),
    "damaged": (500, "The log of the session is damaged"),
    "closing": (503, "The server is going down"),
    "failed": (500, "Something went wrong on the server"),
}
"""Kind to status and title."""


class Trouble(Exception):
    """A problem to be answered. ``headers``: besides."""

    def __init__(
        self,
        kind: str,
        detail: str | None = None,
        *,
        errors: tuple[str, ...] = (),
        session_id: str | None = None,
        standing: Decision | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(detail or kind)
        self.problem = problem(kind, detail, errors=errors, session_id=session_id, standing=standing)
        self.headers = headers


def problem(kind: str, detail: str | None = None, **more: Any) -> Problem:
    """The problem of a kind of ``TITLES``."""
    status, title = TITLES[kind]
    return Problem(type=f"urn:erpilot:problem:{kind}", title=title, status=status, detail=detail, **more)


def problem_of(error: BaseException) -> Problem:
    """What an error of the runtime is to whoever asked."""
    match error:
        case Trouble():
            return error.problem
        case UnknownSession():
            return problem("not-found", "There is no such session.")
        case Busy():
            return problem("busy", "Another run of this session is going on: queue the message, or interrupt the run.")
        case Malformed():
            return problem("invalid", str(error))
        case Refused():
            return problem("refused", str(error))
        case Erased():
            return problem("erased", "What this session held was erased for good.")
        case DamagedLog():
            return problem("damaged", str(error), session_id=error.session_id)
        case Fenced():
            return problem("busy", "Another process took the session over.")
        case StoreError():
            _log.error("storage: %s", error)
            return problem("storage")
        case AgentError():
            return problem("refused", str(error))
        case _:
            _log.error("unexpected", exc_info=error)
            return problem("failed")


def answer(found: Problem, headers: dict[str, str] | None = None) -> Response:
    """The problem as a response."""
    return Response(msgspec.json.encode(found), found.status, headers, MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Makes every error of ``app`` a problem."""

    async def known(_: Request, error: Exception) -> Response:
        return answer(problem_of(error), error.headers if isinstance(error, Trouble) else None)

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError), "registered for it alone"
        places = tuple(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()[:10])
        return answer(problem("invalid", "A parameter is not what it has to be.", errors=places))

    async def http(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException), "registered for it alone"
        kind = {404: "not-found", 405: "wrong-method"}.get(error.status_code, "failed")
        return answer(problem(kind), dict(error.headers or {}))

    app.add_exception_handler(Trouble, known)
    app.add_exception_handler(AgentError, known)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(Exception, known)
