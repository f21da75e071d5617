"""Where a number of an answer comes from: its figures are read, and each is traced to what the model had read."""

from __future__ import annotations

from .tracing import FIGURES as FIGURES
