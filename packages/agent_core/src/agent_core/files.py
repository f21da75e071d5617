"""Small files that are replaced as a whole.

Invariant: a reader sees the old file or the new one, never a part; the file is for its owner alone.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Puts ``content`` in the place of what is there, on disk before it is seen; makes the folder where it is missing.
    Raises ``OSError``; the old file is then as it was.
    """
    target = Path(path)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name)  # mode 0600 by itself
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
