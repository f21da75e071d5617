"""The offline model: a deterministic planner that serves the shop questions it knows when no language model is connected."""

from .model import OfflineModel

__all__ = ["OfflineModel"]
