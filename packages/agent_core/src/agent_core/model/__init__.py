"""The model boundary: clients that stream one turn of a conversation, and what tests and offline use need instead.

Importing this package loads no HTTP client; that happens with the first request.
"""

from .profile import Profile, ProfileStore
from .scripted import ScriptedModel
from .wire import frame, prepare, render_message, render_tools

__all__ = ["Profile", "ProfileStore", "ScriptedModel", "frame", "prepare", "render_message", "render_tools"]
