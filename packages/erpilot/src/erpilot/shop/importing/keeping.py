"""Files that were given to be imported, kept under a name until they are applied.

Invariant: a handle stands for the bytes of the files and how they are to be read; what is read later is what was given.
Only this folder is ever read from, and a handle is no path.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from ..errors import NotFound
from .applying import Options
from .problems import UnreadableFile
from .sheets import MOST_BYTES

KEEP_SECONDS = 30 * 86_400.0
"""A file that nobody applied is let go after so long."""
_HANDLE = re.compile(r"imp-[0-9a-f]{12}")


class Kept(Struct, frozen=True):
    """Files under a handle. ``names``: as the person calls them."""

    handle: str
    names: tuple[str, ...]
    paths: tuple[Path, ...]
    options: Options


class _Card(Struct):
    names: tuple[str, ...]
    options: Options


class ImportFolder:
    """Where the files of an installation are kept (``$ERPILOT_HOME/imports``)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, paths: Sequence[Path], options: Options) -> Kept:
        """Copies files in. Raises ``UnreadableFile`` for what cannot be read or is too large."""
        digest = hashlib.sha256(msgspec.json.encode(options, order="sorted"))
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._let_go()
        for path in paths:
            try:
                if path.stat().st_size > MOST_BYTES:
                    raise UnreadableFile("file_too_large", size="", limit=f"{MOST_BYTES // 1024 // 1024} MB")
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
            except OSError as error:
                raise UnreadableFile("file_unreadable", name=path.name, why=error.strerror or error) from None
        handle = f"imp-{digest.hexdigest()[:12]}"
        place = self._folder / handle
        place.mkdir(mode=0o700, exist_ok=True)
        for number, path in enumerate(paths):
            temporary = place / f".{number}.new"
            shutil.copyfile(path, temporary)
            temporary.replace(place / f"{number}{path.suffix.lower()[:8]}")
        card = _Card(tuple(path.name for path in paths), options)
        (place / "card.json").write_bytes(msgspec.json.encode(card))
        os.utime(place)
        return self.find(handle)

    def keep_as(self, kept: Kept, options: Options) -> Kept:
        """The same files, to be read in another way, under a handle of their own."""
        digest = hashlib.sha256(f"{kept.handle} ".encode() + msgspec.json.encode(options, order="sorted")).hexdigest()
        place = self._folder / f"imp-{digest[:12]}"
        place.mkdir(mode=0o700, exist_ok=True)
        for path in kept.paths:
            shutil.copyfile(path, place / path.name)
        (place / "card.json").write_bytes(msgspec.json.encode(_Card(kept.names, options)))
        return self.find(place.name)

    def find(self, handle: str) -> Kept:
        """The files of a handle. Raises ``NotFound``."""
        name = handle.strip()
        place = self._folder / name
        if not _HANDLE.fullmatch(name) or not (place / "card.json").is_file():
            raise NotFound(f"There is no file {name[:60]!r} to import.", hint="Hand it over: erpilot import PATH")
        card = msgspec.json.decode((place / "card.json").read_bytes(), type=_Card)
        paths = sorted(path for path in place.iterdir() if path.name[0].isdigit())
        return Kept(name, card.names, tuple(paths), card.options)

    def named(self, text: str) -> Kept:
        """The files of a handle, or the newest file that a person calls so. Raises ``NotFound``."""
        if _HANDLE.fullmatch(text.strip()):
            return self.find(text)
        places = sorted(self._folder.glob("imp-*"), key=lambda place: -place.stat().st_mtime)
        for place in places:
            kept = self.find(place.name)
            if text.strip() in (*kept.names, *(Path(name).stem for name in kept.names)):
                return kept
        known = [", ".join(self.find(place.name).names) for place in places[:5]]
        raise NotFound(
            f"There is no file {text.strip()[:60]!r} to import.",
            hint="Hand it over: erpilot import PATH",
            nearest=known,
        )

    def _let_go(self) -> None:
        for place in self._folder.glob("imp-*"):
            if time.time() - place.stat().st_mtime > KEEP_SECONDS:
                shutil.rmtree(place, ignore_errors=True)
