"""Finish reasons: many words, few meanings.

Invariant: a word that is not known here means nothing; what the message holds decides then.
"""

from __future__ import annotations

from typing import Literal

from ..messages import FinishReason

Meaning = Literal["stop", "tool_calls", "length", "content_filter", "overflow", "failed"]

_WORDS: dict[str, Meaning] = {
    **dict.fromkeys(
        ("length", "max_tokens", "max_output_tokens", "max_length", "token_limit", "max_completion_tokens"), "length"
    ),
    **dict.fromkeys(
        (
            "model_context_window_exceeded",
            "context_window_exceeded",
            "context_length_exceeded",
            "context_length",
            "model_length",
        ),
        "overflow",
    ),
    **dict.fromkeys(
        (
            "content_filter",
            "content_filtered",
            "contentfilter",
            "sensitive",
            "safety",
            "blocked",
            "blocklist",
            "prohibited_content",
            "recitation",
            "spii",
            "guardrail_intervened",
            "guardrails",
            "refusal",
            "error_toxic",
        ),
        "content_filter",
    ),
    **dict.fromkeys(
        ("tool_calls", "tool_call", "tool_use", "function_call", "function_calls", "tool", "action"), "tool_calls"
    ),
    **dict.fromkeys(
        (
            "error",
            "network_error",
            "server_error",
            "internal_error",
            "insufficient_system_resource",
            "timeout",
            "abort",
            "aborted",
            "failed",
            "malformed_function_call",
        ),
        "failed",
    ),
}


def meaning(raw: str | None) -> Meaning:
    """What a reason from the wire says, in any case and with either dash."""
    return _WORDS.get((raw or "").strip().lower().replace("-", "_"), "stop")


def normalised(raw: str | None, has_calls: bool) -> FinishReason:
    """``length`` and ``content_filter`` stay; else the calls decide."""
    told = meaning(raw)
    if told in ("length", "overflow"):
        return "length"
    if told == "content_filter":
        return "content_filter"
    return "tool_calls" if has_calls else "stop"
