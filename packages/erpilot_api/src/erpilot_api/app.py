"""The application: the door, the resources, the page.

Invariant: nothing but the entrance and the page's own files is reached without a token; what stands in the OpenAPI
document is all there is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from . import problems
from .door import LOOPBACK, Door
from .house import House
from .openapi import described
from .pace import Paces
from .routes import approvals, branches, entrance, going_on, looking, sessions, streams, trust
from .watch import watch

STATIC = Path(__file__).parent / "static"


def create_app(
    house: House,
    *,
    hosts: Collection[str] = LOOPBACK,
    paces: Paces | None = None,
    static: Path = STATIC,
    users_changed: Callable[[], bool] = lambda: False,
) -> FastAPI:
    """The application over ``house``, answering for ``hosts``; ``static``: the built page, if it is there.
    ``users_changed`` reads the users again, where they are others than before.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(watch(house, users_changed))
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait({watching})
            house.close_streams()
            await house.runs.leave(0.0)

    app = FastAPI(title="Erpilot", docs_url=None, redoc_url=None, openapi_url="/api/openapi.json", lifespan=lifespan)
    app.state.house = house
    app.add_middleware(Door, access=house.access, paces=paces or Paces(), hosts=hosts)
    problems.install(app)
    for module in (entrance, streams, sessions, going_on, approvals, trust, branches, looking):
        app.include_router(module.router)
    described(app)
    if (static / "index.html").exists():
        app.router.default = _beside_the_api(_Page(directory=static, html=True), app.router.not_found)
    return app


def _beside_the_api(page: ASGIApp, nothing: ASGIApp) -> ASGIApp:
    """The page where no resource is meant; mounted, it would hide that a resource is there under another method."""

    async def chosen(scope: Scope, receive: Receive, send: Send) -> None:
        await (nothing if scope["path"].startswith("/api/") else page)(scope, receive, send)

    return chosen


class _Page(StaticFiles):
    """The built page: what has its content's hash in its name is kept for ever, the rest is asked for each time."""

    def file_response(self, full_path: Any, *arguments: Any, **more: Any) -> Response:
        """One file."""
        response = super().file_response(full_path, *arguments, **more)
        kept = "assets" in Path(full_path).parts[-2:-1]
        response.headers["cache-control"] = "public, max-age=31536000, immutable" if kept else "no-cache"
        return response
