"""The OpenAPI document: the routes as FastAPI knows them, the shapes as the wire has them."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from .examples import examples
from .schemas import components

_ABOUT = """\
Sessions, events, approvals and branches of Erpilot. One stream serves every program: the frames are the events of the
log. See docs/http.md.
"""


def described(app: FastAPI) -> None:
    """Makes ``app`` answer with the whole document."""

    def openapi() -> dict[str, Any]:
        if not app.openapi_schema:
            app.openapi_schema = document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def document(app: FastAPI) -> dict[str, Any]:
    """The document of the routes that ``app`` has."""
    found = get_openapi(title="Erpilot", version="1", description=_ABOUT, routes=app.routes)
    found["components"] = {
        "schemas": components(),
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer"},
            "cookie": {"type": "apiKey", "in": "cookie", "name": "erpilot"},
        },
    }
    _add_examples(found["paths"])
    found["security"] = [{"bearer": []}, {"cookie": []}]
    return found


def _add_examples(paths: dict[str, Any]) -> None:
    """Gives every answer the example of its shape; FastAPI would leave nulls out of them."""
    known = examples()
    for item in paths.values():
        for operation in item.values():
            for answer in operation["responses"].values():
                for content in answer.get("content", {}).values():
                    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
                    if name in known:
                        content["example"] = known[name]
