"""The model boundary: clients that stream one turn of a conversation, and what tests and offline use need instead.

Invariant: importing this package, or one small part of it (the retry policy is part of every configuration), loads no
client; each public name is loaded when it is first used, and an HTTP client with the first request.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .client import OpenAIModel as OpenAIModel
    from .profile import Profile as Profile
    from .profile import ProfileStore as ProfileStore
    from .recorded import RecordedModel as RecordedModel
    from .recorded import Recording as Recording
    from .retry import RetryPolicy as RetryPolicy
    from .retry import delay as delay
    from .scripted import ScriptedModel as ScriptedModel
    from .scripted import ScriptExhausted as ScriptExhausted
    from .secrets import mask as mask
    from .wire import frame as frame
    from .wire import prepare as prepare
    from .wire import render_message as render_message
    from .wire import render_tools as render_tools

_HOME = {
    "client": ("OpenAIModel",),
    "profile": ("Profile", "ProfileStore"),
    "recorded": ("RecordedModel", "Recording"),
    "retry": ("RetryPolicy", "delay"),
    "scripted": ("ScriptExhausted", "ScriptedModel"),
    "secrets": ("mask",),
    "wire": ("frame", "prepare", "render_message", "render_tools"),
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
