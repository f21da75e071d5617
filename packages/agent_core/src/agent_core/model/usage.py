"""Reads token counts, wherever and however they are spelt.

Invariant: a count that was not reported stays None; reports are totals, so a later value of a field replaces an
earlier one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..messages import Usage

_PATHS: dict[str, tuple[tuple[str, ...], ...]] = {
    "prompt_tokens": (
        ("prompt_tokens",),
        ("input_tokens",),
        ("promptTokens",),
        ("promptTokenCount",),
        ("prompt_eval_count",),
    ),
    "completion_tokens": (
        ("completion_tokens",),
        ("output_tokens",),
        ("completionTokens",),
        ("candidatesTokenCount",),
        ("eval_count",),
    ),
    "total_tokens": (("total_tokens",), ("totalTokens",), ("totalTokenCount",)),
    "cached_tokens": (
        ("prompt_tokens_details", "cached_tokens"),
        ("input_tokens_details", "cached_tokens"),
        ("cached_tokens",),
        ("prompt_cache_hit_tokens",),
        ("cache_read_input_tokens",),
        ("num_cached_tokens",),
        ("cachedContentTokenCount",),
    ),
    "cache_write_tokens": (
        ("cache_creation_input_tokens",),
        ("cache_write_tokens",),
        ("prompt_tokens_details", "cache_write_tokens"),
        ("prompt_tokens_details", "cache_creation_tokens"),
    ),
    "reasoning_tokens": (
        ("completion_tokens_details", "reasoning_tokens"),
        ("output_tokens_details", "reasoning_tokens"),
        ("reasoning_tokens",),
        ("thoughtsTokenCount",),
    ),
}
_HOLDERS = ("usage", "usage_metadata", "usageMetadata", "token_usage")


def read_usage(report: Mapping[str, Any], before: Usage | None) -> Usage | None:
    """``before`` with the counts of ``report`` over it; None when neither holds any."""
    counts: dict[str, int | None] = {}
    for field, paths in _PATHS.items():
        counts[field] = getattr(before, field) if before else None
        for path in paths:
            if path[0] in report and (count := _count(_at(report, path))) is not None:
                counts[field] = count
                break
    return Usage(**counts) if any(count is not None for count in counts.values()) else None


def reports_in(chunk: Mapping[str, Any], choices: list[Any]) -> Iterator[dict[str, Any]]:
    """The usage objects of a chunk that has none at its top: in a choice, a delta, or one vendor's envelope."""
    for choice in choices:
        if isinstance(choice, dict):
            yield from _held(choice)
            for key in ("delta", "message"):
                if isinstance(inner := choice.get(key), dict):
                    yield from _held(inner)
    yield from _held(chunk)
    for key, value in chunk.items():
        if isinstance(value, dict) and key not in _HOLDERS:
            yield from _held(value)


def _held(node: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for key in _HOLDERS:
        if isinstance(value := node.get(key), dict):
            yield value


def _at(report: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        report = report.get(key) if isinstance(report, dict) else None
    return report


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, float):
        return int(value) if value >= 0 and value.is_integer() else None
    return value if isinstance(value, int) and value >= 0 else None
