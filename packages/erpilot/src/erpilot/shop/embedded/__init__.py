"""A shop in one SQLite file: the backend that needs no server."""

from .shop import EmbeddedShop

__all__ = ["EmbeddedShop"]
