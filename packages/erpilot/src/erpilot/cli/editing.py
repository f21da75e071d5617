"""Lets a person change the arguments of a call: in the editor that they chose, else in a line at the terminal.

Invariant: what comes back is a JSON object that the tool accepts, or nothing. What is edited in a file is for its owner
alone and gone afterwards.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .desk import Desk
from .gate import escape_json

Check = Callable[[str], dict[str, Any] | str]
"""Takes JSON text; gives the arguments, or what is wrong with them in one sentence."""


async def edit_arguments(desk: Desk, arguments: str, check: Check) -> dict[str, Any] | None:
    """The changed arguments; None when the person left it, or changed nothing. A mistake is said and can be mended."""
    text = escape_json(_pretty(arguments) if _editor(desk) else arguments)
    while True:
        written = await (_in_editor(desk, text) if _editor(desk) else _in_line(desk, text))
        if written is None or not written.strip():
            desk.terminal.note(desk.texts("edit_left"), "quiet")
            return None
        checked = check(written)
        if isinstance(checked, dict):
            if _value(written) == _value(arguments):
                desk.terminal.note(desk.texts("edit_unchanged"), "quiet")
                return None
            return checked
        desk.terminal.note(desk.texts("edit_wrong", why=checked), "error")
        if _editor(desk) and written == text:  # an editor that does nothing would be started for ever
            return None
        text = written


async def _in_line(desk: Desk, text: str) -> str | None:
    from .prompt import prompt_line

    desk.terminal.note(desk.texts("edit_hint"), "quiet")
    try:
        return await prompt_line("{} ", default=text)
    except (EOFError, KeyboardInterrupt):
        return None


async def _in_editor(desk: Desk, text: str) -> str | None:
    try:
        return await asyncio.to_thread(_edited_file, shlex.split(_editor(desk)), text)
    except (OSError, ValueError) as error:
        desk.terminal.note(desk.texts("edit_no_editor", editor=_editor(desk), why=error), "error")
        return None


def _edited_file(editor: list[str], text: str) -> str | None:
    """What the editor left in the file; None when it says that it failed."""
    handle, name = tempfile.mkstemp(prefix="erpilot-", suffix=".json")  # mode 0600 by itself
    path = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        if subprocess.run([*editor, name], check=False).returncode:
            return None
        return path.read_text(encoding="utf-8", errors="replace").rstrip("\n")
    finally:
        path.unlink(missing_ok=True)


def _editor(desk: Desk) -> str:
    return (desk.environment.get("VISUAL") or desk.environment.get("EDITOR") or "").strip()


def _pretty(arguments: str) -> str:
    value = _value(arguments)
    return arguments if value is None else json.dumps(value, ensure_ascii=False, indent=2)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
