"""agent_core: a small event-sourced agent runtime.

Invariant: importing the package loads nothing heavy; each public name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .config import ContextPolicy as ContextPolicy
    from .config import LoopConfig as LoopConfig
    from .config import Price as Price
    from .config import Rule as Rule
    from .context.calibration import Calibrations as Calibrations
    from .errors import AgentError as AgentError
    from .errors import Busy as Busy
    from .errors import Conflict as Conflict
    from .errors import DamagedLog as DamagedLog
    from .errors import Erased as Erased
    from .errors import Fenced as Fenced
    from .errors import ModelError as ModelError
    from .errors import Refused as Refused
    from .errors import StoreError as StoreError
    from .errors import ToolError as ToolError
    from .errors import UnknownSession as UnknownSession
    from .events import Recorded as Recorded
    from .loop import AgentLoop as AgentLoop
    from .messages import Message as Message
    from .messages import ModelClient as ModelClient
    from .messages import ReasoningDelta as ReasoningDelta
    from .messages import StreamEnd as StreamEnd
    from .messages import TextDelta as TextDelta
    from .messages import TextWithdrawn as TextWithdrawn
    from .messages import ToolCall as ToolCall
    from .messages import ToolSchema as ToolSchema
    from .messages import Usage as Usage
    from .model.client import OpenAIModel as OpenAIModel
    from .model.retry import RetryPolicy as RetryPolicy
    from .store.base import EventStore as EventStore
    from .store.memory import MemoryStore as MemoryStore
    from .store.sqlite import SqliteStore as SqliteStore
    from .summarising import Summariser as Summariser
    from .tools.tool import Reconciled as Reconciled
    from .tools.tool import Tier as Tier
    from .tools.tool import Tool as Tool
    from .tools.tool import ToolContext as ToolContext
    from .tools.tool import Undo as Undo
    from .tools.tool import tool as tool
    from .trace.jsonl import JsonlTraceRecorder as JsonlTraceRecorder
    from .values import Change as Change
    from .values import Notice as Notice
    from .values import Preview as Preview

_HOME = {
    "config": ("ContextPolicy", "LoopConfig", "Price", "Rule"),
    "context.calibration": ("Calibrations",),
    "errors": (
        "AgentError",
        "Busy",
        "Conflict",
        "DamagedLog",
        "Erased",
        "Fenced",
        "ModelError",
        "Refused",
        "StoreError",
        "ToolError",
        "UnknownSession",
    ),
    "events": ("Recorded",),
    "loop": ("AgentLoop",),
    "messages": (
        "Message",
        "ModelClient",
        "ReasoningDelta",
        "StreamEnd",
        "TextDelta",
        "TextWithdrawn",
        "ToolCall",
        "ToolSchema",
        "Usage",
    ),
    "model.client": ("OpenAIModel",),
    "model.retry": ("RetryPolicy",),
    "store.base": ("EventStore",),
    "store.memory": ("MemoryStore",),
    "store.sqlite": ("SqliteStore",),
    "summarising": ("Summariser",),
    "tools.tool": ("Reconciled", "Tier", "Tool", "ToolContext", "Undo", "tool"),
    "trace.jsonl": ("JsonlTraceRecorder",),
    "values": ("Change", "Notice", "Preview"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULE_OF])
