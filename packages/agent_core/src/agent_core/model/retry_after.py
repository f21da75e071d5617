"""Reads how long a server wants to be left alone, in every spelling seen.

Invariant: seconds, never negative; None where nothing was told. The finer statement wins over the coarser.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

_NUMBER = r"(\d+(?:\.\d+)?)\s*"
_DURATION = re.compile("".join(rf"(?:{_NUMBER}{unit})?" for unit in ("d", "h", "m", "s", "ms")))
_IN_WORDS = re.compile(
    r"""(?ix)
      (?: (?:try|retry|again|wait|available|reset\w*) \W+ (?:again\W+)? (?:(?:in|after|for|at\ least|about)\W+)*
        | retry[-_ ]?after\W+
      )
      (\d+(?:\.\d+)?) \s* (milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h)?
      (?: \s* (\d+(?:\.\d+)?) \s* (s|seconds?)\b)? (?![\w.]*\d)
    """
)
_CHINESE = re.compile(r"(\d+(?:\.\d+)?)\s*(毫秒|秒|分钟)\s*(?:之?后|以后)")
_EPOCH = 1_000_000_000
_EPOCH_MS = 1_000_000_000_000


def from_response(headers: Mapping[str, str], error: Any, message: str, *, now: float | None = None) -> float | None:
    """The wait told by headers (lower-case names), by keys of the error object, or in words. ``now``: Unix seconds."""
    now = _server_time(headers) or (time.time() if now is None else now)
    for name in ("retry-after-ms", "x-retry-after-ms", "x-ms-retry-after-ms"):
        if (wait := _number(headers.get(name))) is not None:
            return wait / 1000
    for name in ("retry-after", "x-retry-after"):
        if (wait := _moment(headers.get(name), now)) is not None:
            return wait
    if (wait := _in_object(error, now)) is not None:
        return wait
    if (wait := _in_words(message)) is not None:
        return wait
    return _limit_headers(headers, now)


def _server_time(headers: Mapping[str, str]) -> float | None:
    """The server's own clock, so that a date in its answer is read by it."""
    try:
        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError, TypeError):
        return None


def _in_object(error: Any, now: float, depth: int = 0) -> float | None:
    if depth > 4:
        return None
    if isinstance(error, list):
        return next((wait for item in error if (wait := _in_object(item, now, depth + 1)) is not None), None)
    if not isinstance(error, dict):
        return None
    for key, value in error.items():
        name = str(key).lower().replace("-", "_")
        if (
            name in ("retry_after_ms", "retryafterms", "retry_after_milliseconds")
            and (wait := _number(value)) is not None
        ):
            return wait / 1000
        if name in ("retrydelay", "retry_delay", "retry_after", "retryafter", "retry_after_seconds", "retry_in"):
            if isinstance(value, dict):
                seconds, nanos = _number(value.get("seconds")) or 0.0, _number(value.get("nanos")) or 0.0
                return seconds + nanos / 1e9
            if (wait := _moment(value, now)) is not None:
                return wait
    return next(
        (
            wait
            for value in error.values()
            if isinstance(value, (dict, list)) and (wait := _in_object(value, now, depth + 1)) is not None
        ),
        None,
    )


def _in_words(message: str) -> float | None:
    if match := _IN_WORDS.search(message):
        unit = (match.group(2) or "s").lower()
        wait = float(match.group(1)) * _unit(unit)
        if match.group(3) and unit.startswith("m") and not unit.startswith(("ms", "mil")):
            wait += float(match.group(3))
        return wait
    if match := _CHINESE.search(message):
        return float(match.group(1)) * {"毫秒": 0.001, "秒": 1.0, "分钟": 60.0}[match.group(2)]
    return None


def _unit(unit: str) -> float:
    if unit.startswith(("ms", "mil")):
        return 0.001
    return 60.0 if unit.startswith("m") else 3600.0 if unit.startswith("h") else 1.0


def _limit_headers(headers: Mapping[str, str], now: float) -> float | None:
    """Rate-limit headers: of several limits, those that are used up count; a limit alone counts by itself."""
    waits: list[tuple[float, float | None]] = []
    for name, value in headers.items():
        if "ratelimit" not in name:
            continue
        if "reset" in name:
            wait = _moment(value, now)
            left = _number(headers.get(name.replace("reset", "remaining")))
        elif name == "ratelimit" and (match := re.search(r"(?:reset|\bt)\s*=\s*(\d+(?:\.\d+)?)", value)):
            wait = float(match.group(1))
            remaining = re.search(r"(?:remaining|\br)\s*=\s*(\d+)", value)
            left = float(remaining.group(1)) if remaining else None
        else:
            continue
        if wait is not None:
            waits.append((wait, left))
    used_up = [wait for wait, left in waits if left is not None and left <= 0]
    if used_up:
        return max(used_up)
    unknown = [wait for wait, left in waits if left is None]
    return max(unknown) if unknown and len(unknown) == len(waits) else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if 0 <= number < 1e15 else None


def _moment(value: Any, now: float) -> float | None:
    """A number of seconds, a duration (1m6.12s), a Unix time in seconds or milliseconds, or a date."""
    if (number := _number(value)) is not None:
        if number >= _EPOCH_MS:
            return max(0.0, number / 1000 - now)
        return max(0.0, number - now) if number >= _EPOCH else number
    if not isinstance(value, str) or not (text := value.strip()):
        return None
    if (match := _DURATION.fullmatch(text.lower())) and any(match.groups()):
        days, hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
        return days * 86400 + hours * 3600 + minutes * 60 + seconds + milliseconds / 1000
    if (
        match := re.fullmatch(r"(\d+(?:\.\d+)?)\s*(seconds?|secs?|minutes?|mins?|milliseconds?)", text.lower())
    ) is not None:
        return float(match.group(1)) * _unit(match.group(2))
    moment: datetime | None = None
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        try:
            moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now)
