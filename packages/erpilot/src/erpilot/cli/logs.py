"""Diagnostics for operators: one JSON object a line on stderr, only when asked for (``--verbose``, ``$ERPILOT_LOG``).

Invariant: they are no part of the record of a run, and neither a control character nor a known secret leaves in them.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterable, Mapping

from .gate import escape_json

_logger = logging.getLogger("erpilot")


class _JsonLines(logging.Formatter):
    mask: Callable[[str], str] = staticmethod(str)
    """Takes known secrets out of a text."""

    def format(self, record: logging.LogRecord) -> str:
        """One record as JSON; a traceback becomes a field of it."""
        line = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self.mask(record.getMessage()),
        }
        if record.exc_info:
            line["traceback"] = self.mask(self.formatException(record.exc_info))
        return escape_json(json.dumps(line, ensure_ascii=False))


def start_logs(verbose: bool, environment: Mapping[str, str]) -> None:
    """Sends log records to stderr from the level that was asked for; none otherwise."""
    wanted = environment.get("ERPILOT_LOG", "").strip().upper() or ("INFO" if verbose else "")
    root = logging.getLogger()
    root.handlers.clear()
    if not wanted:
        root.addHandler(logging.NullHandler())
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    root.addHandler(handler)
    root.setLevel(logging.getLevelNamesMapping().get(wanted, logging.INFO))


def hide_in_logs(secrets: Iterable[str]) -> None:
    """Keeps secrets out of the records from here on: tools and endpoints put them into what they raise."""
    from agent_core.masking import Masker

    masker = Masker(secrets)
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, _JsonLines):
            handler.formatter.mask = masker.text


def log_failure(error: BaseException) -> None:
    """What ended the command, with its traceback."""
    _logger.error("the command failed", exc_info=error)
