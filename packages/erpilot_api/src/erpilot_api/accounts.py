"""Who may come in, as it is kept in the home: ``users.toml``, and the key that tokens are signed with.

Invariant: neither file holds a token; both are readable by their owner alone and only ever replaced whole. Without
``users.toml`` there is one user: the person whose home it is, with the role owner.
"""

from __future__ import annotations

import json
import logging
import secrets
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

from agent_core.files import replace_file
from erpilot.cli.home import prepare_home
from erpilot.cli.problems import STORAGE, USAGE, Problem

from .access import KEY_BYTES, Access, User
from .wire import Role

_log = logging.getLogger(__name__)
USERS_NAME, KEY_NAME = "users.toml", "serve.key"
ROLES: tuple[Role, ...] = get_args(Role)


def read_users(home: Path, person: str) -> tuple[User, ...]:
    """The users of a home; ``person`` alone, as owner, where none were added."""
    path = home / USERS_NAME
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return (User(person, "owner"),)
    except OSError as error:
        raise Problem(STORAGE, "users_unreadable", path=path, why=error.strerror or error) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Problem(USAGE, "users_unreadable", path=path, why=error) from None
    users = [_user(entry, path) for entry in _entries(raw, path)]
    if len({user.name for user in users}) < len(users):
        raise Problem(USAGE, "users_unreadable", path=path, why="a name stands there twice")
    return tuple(users)


class UserList:
    """The users of a home in a server that runs: ``changed`` brings ``access`` up to date and says whether it had to.
    A list that cannot be read changes nothing.
    """

    def __init__(self, home: Path, person: str) -> None:
        self._home, self._person = home, person
        self._stamp = self._look()
        self.access = Access(signing_key(home), read_users(home, person))

    def changed(self) -> bool:
        """Reads the list again, if the file is another one by now."""
        stamp = self._look()
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        try:
            self.access.users = {user.name: user for user in read_users(self._home, self._person)}
        except Problem as problem:
            _log.warning("the list of users cannot be read: %s", problem)
            return False
        return True

    def _look(self) -> tuple[int, int] | None:
        try:
            found = (self._home / USERS_NAME).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino


def write_users(home: Path, users: Iterable[User]) -> None:
    """Replaces the list of users."""
    lines = ["# Written by `erpilot users`; may be edited by hand. Roles: clerk, manager, owner."]
    for user in users:
        lines += ["", "[[users]]", f"name = {_text(user.name)}", f"role = {_text(user.role)}"]
        lines += [f"tenant = {_text(user.tenant)}"] if user.tenant is not None else []
    _replace(prepare_home(home), USERS_NAME, ("\n".join(lines) + "\n").encode())


def signing_key(home: Path) -> bytes:
    """The key of a home, made at its first use."""
    path = home / KEY_NAME
    try:
        key = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        key = b""
    except OSError as error:
        raise Problem(STORAGE, "users_unreadable", path=path, why=error.strerror or error) from None
    if len(key) >= KEY_BYTES:
        return key
    key = secrets.token_bytes(KEY_BYTES)
    _replace(prepare_home(home), KEY_NAME, key)
    return key


def check_name(name: str) -> str:
    """A name that can be a user's; raises ``Problem``."""
    clean = name.strip()
    if not clean or len(clean) > 100 or any(ord(sign) < 0x20 or 0x7F <= ord(sign) < 0xA0 for sign in clean):
        raise Problem(USAGE, "bad_user_name", name=name)
    try:
        clean.encode()
    except UnicodeEncodeError:
        raise Problem(USAGE, "bad_user_name", name=ascii(name)) from None
    return clean


def _entries(raw: dict[str, object], path: Path) -> list[dict[str, object]]:
    entries = raw.pop("users", [])
    if raw or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise Problem(USAGE, "users_unreadable", path=path, why="it is a list of [[users]] and nothing else")
    return entries


def _user(entry: dict[str, object], path: Path) -> User:
    known = {"name": entry.get("name"), "role": entry.get("role"), "tenant": entry.get("tenant")}
    texts = all(isinstance(value, str) for name, value in known.items() if name != "tenant" or value is not None)
    if set(entry) - set(known) or not texts or known["role"] not in ROLES:
        raise Problem(USAGE, "users_unreadable", path=path, why=f"a user has name, role ({', '.join(ROLES)}), tenant")
    return User(
        check_name(str(known["name"])), known["role"], None if known["tenant"] is None else str(known["tenant"])
    )


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _replace(home: Path, name: str, content: bytes) -> None:
    try:
        replace_file(home / name, content)
    except OSError as error:
        raise Problem(STORAGE, "home_unusable", home=home, why=error.strerror or error) from None
