"""What an endpoint and model were found to accept, beyond or short of the canonical form.

Invariant: a profile is a value. It changes only by ``learnt``, one remedy a round, and never to a form that was tried
before, so that learning ends.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, structs

from ..errors import ModelError
from ..files import replace_file

_MOST_DROPPED = 16
_KEPT = frozenset({"model", "messages", "tools", "stream", "role", "content", "tool_calls", "tool_call_id"})
"""Keys without which a request is no request: never dropped."""
_TWINS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


class Profile(Struct, frozen=True, omit_defaults=True):
    """How requests to one endpoint and model are written. The default is the canonical form."""

    drop: tuple[str, ...] = ()
    """Parameters of the body, and keys of messages and calls, that are left out."""
    rename: dict[str, str] = {}
    """Parameters that go by another name."""
    stream: bool = True
    """False: the endpoint cannot stream, or refuses to."""
    empty_content: Literal["null", "empty"] = "null"
    """What an assistant message with calls and no text has for content."""
    simple_schemas: bool = False
    """Tool schemas with plain keywords only."""
    short_names: bool = False
    """Tool names of at most 40 letters, digits and ``_``."""
    nine_ids: bool = False
    """Call ids as nine letters and digits, call and result alike."""
    merge_roles: bool = False
    """One system message, first; then user and assistant in turn."""
    pair_tool_messages: bool = False
    """Each call gets exactly one result right behind it; a result without a call is left out."""
    reasoning_content: bool = False
    """Assistant messages with calls carry ``reasoning_content``, empty where it is unknown."""
    call_extras: bool = False
    """Unknown keys of a call go back to every model of the endpoint that they came from."""
    cache_marks: Literal["", "request", "system"] = ""
    """Where a provider that does not cache by itself is asked to: for the whole of each request, up to its end, or for
    the system prompt and the tools alone. Marks never move, so requests still extend each other.
    """
    learnt: tuple[str, ...] = ()
    """The remedies applied so far, in order."""


DEFAULT = Profile()


def learnt(profile: Profile, error: ModelError) -> Profile | None:
    """The profile after applying the error's remedy, or None when there is nothing (more) to learn from it."""
    remedy, param = error.remedy, error.param
    if remedy in ("drop_param", "rename_param"):
        return _without(profile, remedy, param, error.replacement)
    if remedy == "inline_refs":
        remedy = "simplify_schema"  # references are inlined anyway: what is left to do is to use plain keywords
    if remedy == "omit_empty_tools":
        return _once(profile, remedy, drop=_added(profile.drop, "tool_choice", "parallel_tool_calls"))
    if remedy == "send_call_extras":
        kept = tuple(key for key in profile.drop if key not in ("extra_content", "thought_signature"))
        return _once(profile, remedy, call_extras=True, drop=kept)
    changes: dict[str, dict[str, object]] = {
        "simplify_schema": {"simple_schemas": True},
        "shorten_tool_names": {"short_names": True},
        "tool_id_9_alnum": {"nine_ids": True},
        "merge_roles": {"merge_roles": True},
        "pair_tool_messages": {"pair_tool_messages": True},
        "send_reasoning_content": {"reasoning_content": True},
        "content_null": {"empty_content": "null"},
        "content_empty_string": {"empty_content": "empty"},
        "enable_stream": {"stream": True},
        "disable_stream": {"stream": False},
    }
    return _once(profile, remedy, **changes[remedy]) if remedy in changes else None


def _once(profile: Profile, remedy: str, **changes: object) -> Profile | None:
    """The profile with ``changes``, unless they change nothing or the remedy was applied before."""
    if remedy in profile.learnt or all(getattr(profile, key) == value for key, value in changes.items()):
        return None
    return structs.replace(profile, learnt=(*profile.learnt, remedy), **changes)


def _without(profile: Profile, remedy: str, param: str | None, replacement: str | None) -> Profile | None:
    if not param or param in _KEPT or len(profile.drop) >= _MOST_DROPPED:
        return None
    sent_as = {new: old for old, new in profile.rename.items()}
    ours = sent_as.get(param, param)
    if ours in profile.drop:
        return None
    step = f"{remedy}:{param}"
    if remedy == "rename_param" and ours not in profile.rename:
        new = replacement or _TWINS.get(param)
        if new and new != param:
            rename = {**profile.rename, param: new}
            return structs.replace(profile, rename=rename, learnt=(*profile.learnt, step))
    return structs.replace(profile, drop=_added(profile.drop, ours), learnt=(*profile.learnt, f"drop_param:{ours}"))


def _added(present: tuple[str, ...], *names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*present, *names)))


class ProfileStore:
    """Profiles by origin in one JSON file. A file that cannot be read counts as empty; what it held is learnt anew."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def all(self) -> dict[str, Profile]:
        """Every profile, by origin; those a newer program wrote in a way unknown here are left out."""
        try:
            raw = msgspec.json.decode(self.path.read_bytes(), type=dict[str, msgspec.Raw])
        except (OSError, msgspec.MsgspecError):
            return {}
        profiles = {}
        for origin, value in raw.items():
            with contextlib.suppress(msgspec.MsgspecError):
                profiles[origin] = msgspec.json.decode(value, type=Profile)
        return profiles

    def get(self, origin: str) -> Profile:
        """The profile of an endpoint and model; the canonical one when nothing was learnt."""
        return self.all().get(origin, DEFAULT)

    def put(self, origin: str, profile: Profile) -> None:
        """Keeps a profile; the file is replaced in one step."""
        profiles = {**self.all(), origin: profile}
        content = msgspec.json.format(msgspec.json.encode(dict(sorted(profiles.items()))))
        replace_file(self.path, content)
