"""The model boundary: clients that stream one turn of a conversation, and what tests and offline use need instead.

Importing this package loads no HTTP client; that happens with the first request.
"""

from .client import OpenAIModel
from .profile import Profile, ProfileStore
from .recorded import RecordedModel, Recording
from .retry import RetryPolicy, delay
from .scripted import ScriptedModel, ScriptExhausted
from .secrets import mask
from .wire import frame, prepare, render_message, render_tools

__all__ = [
    "OpenAIModel",
    "Profile",
    "ProfileStore",
    "RecordedModel",
    "Recording",
    "RetryPolicy",
    "ScriptExhausted",
    "ScriptedModel",
    "delay",
    "frame",
    "mask",
    "prepare",
    "render_message",
    "render_tools",
]
