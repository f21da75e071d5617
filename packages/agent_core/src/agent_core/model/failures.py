"""Says what an error is: its kind, whether sending again can help, how long to wait, and what would have to change.

Invariant: throttling is told from an overflow before anything else, because compacting a history for it destroys
information for nothing. No message carries a secret, a page of HTML or more than a few lines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

import msgspec
from msgspec import Struct

from ..errors import ModelError, ModelErrorKind
from . import retry_after, wordings
from .secrets import bare_url, mask

_LONGEST = 400
_LEAD: dict[ModelErrorKind, str] = {
    "rate_limit": "asks to slow down",
    "quota": "says that the quota or credit of the account is used up",
    "overloaded": "is overloaded",
    "server_error": "failed",
    "auth": "refused the API key",
    "context_overflow": "says that the conversation is too long for the model",
    "unsupported_parameter": "does not accept a parameter of the request",
    "invalid_request": "refused the request",
    "tool_generation_failed": "rejected the tool call that its model made",
    "bad_response": "did not answer like a chat-completions endpoint",
    "stream_error": "reported an error in its answer",
    "timeout": "took too long",
    "model_not_found": "does not know the model",
}
_RETRYABLE = frozenset(
    {"rate_limit", "overloaded", "server_error", "stream_error", "timeout", "tool_generation_failed"}
)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>|<h1[^>]*>(.*?)</h1>", re.IGNORECASE | re.DOTALL)
_TAGS = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>", re.IGNORECASE | re.DOTALL)


class Endpoint(Struct, frozen=True):
    """Whom an error came from, and what must not be shown of it."""

    url: str = ""
    model: str = ""
    secrets: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """As the subject of a sentence."""
        where = bare_url(self.url) if self.url else ""
        return f"The model endpoint {where}" if where else "The model endpoint"

    def excerpt(self, text: str) -> str:
        """A short, single line of text without secrets."""
        text = " ".join(mask(text, self.secrets).split())
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


class _Told(Struct):
    """What an error object says."""

    message: str
    code: str | int | None
    kind: str
    param: str | None
    status: int | None
    failed_generation: str | None
    everything: str
    """Message, code and words, in lower case, for the tables."""
    whole: Any


def not_a_completion(endpoint: Endpoint, status: int, body: str) -> ModelError:
    """For a page or a text where a completion should be."""
    what, said = _page(body)
    hint = "check the base URL (it usually ends in /v1)"
    message = (
        f"{endpoint.shown} answered {status} with {what} instead of a completion; {hint}: {endpoint.excerpt(said)}"
    )
    return ModelError("bad_response", message, status=status)


def refused(body: Any, endpoint: Endpoint, status: int, headers: Mapping[str, str]) -> ModelError:
    """For a status of 400 or more. ``body``: JSON, or text."""
    return classify(body, endpoint, status, headers)


def classify(
    body: Any, endpoint: Endpoint, status: int, headers: Mapping[str, str], around: dict[str, Any] | None = None
) -> ModelError:
    """The error that a body, or an error object in a stream, amounts to. ``around``: the chunk that held it."""
    told = _read(body, around)
    effective = status if status >= 400 else told.status
    kind = _kind(told, effective, headers)
    remedy = param = replacement = None
    retryable = kind in _RETRYABLE
    if kind == "invalid_request":
        kind, remedy, param, replacement = _remedy(told)
        retryable = remedy is not None and remedy != "send_call_extras"
        if effective in (409, 425):
            retryable = True
    elif kind == "context_overflow":
        remedy = "compact_history"
    elif kind == "tool_generation_failed":
        remedy = "nudge"
    said = endpoint.excerpt(told.message)
    lead = _LEAD[kind]
    if kind == "unsupported_parameter" and param:
        lead = f"does not accept the parameter {param!r}"
    elif kind == "model_not_found" and endpoint.model:
        lead = f"does not know the model {endpoint.model!r}"
    shown_status = f" (HTTP {status})" if status >= 400 else ""
    return ModelError(
        kind,
        f"{endpoint.shown} {lead}{shown_status}{': ' + said if said else '.'}",
        retryable=retryable,
        retry_after=retry_after.from_response(headers, told.whole, told.message) if retryable else None,
        remedy=remedy,
        status=status,
        code=told.code,
        param=param,
        replacement=replacement,
        failed_generation=told.failed_generation,
    )


def _kind(told: _Told, status: int | None, headers: Mapping[str, str]) -> ModelErrorKind:
    text = told.everything
    code = str(told.code).lower() if told.code is not None else ""
    codes = {code, told.kind.lower()}
    waits = retry_after.from_response(headers, told.whole, told.message) is not None
    if (
        told.failed_generation is not None
        or codes & wordings.TOOL_GENERATION_CODES
        or wordings.TOOL_GENERATION.search(text)
    ):
        return "tool_generation_failed"
    if codes & wordings.QUOTA_CODES or status == 402:
        return "quota"
    if wordings.QUOTA.search(text) and not waits and status not in (401,):
        return "quota"
    overflow = bool(codes & wordings.OVERFLOW_CODES or wordings.OVERFLOW.search(text))
    if status == 429 or (
        wordings.THROTTLE.search(text) and status != 401 and not (codes & wordings.OVERFLOW_CODES or status == 413)
    ):
        return "rate_limit"
    if overflow or status == 413:
        return "context_overflow"
    if status in (401, 403, 407) or (
        status in (None, 400) and (wordings.AUTH.search(text) or codes & {"authentication_error", "permission_error"})
    ):
        return "auth"
    if status in (503, 529) or (status != 400 and wordings.OVERLOAD.search(text)):
        return "overloaded"
    if codes & wordings.MODEL_CODES or (
        (status is None or status in (400, 404, 410, 422)) and wordings.MODEL.search(text)
    ):
        return "model_not_found"
    if status in (404, 405, 501) and not _names_the_request(told):
        return "bad_response"
    if status in (408, 499):
        return "timeout"
    if status is not None and status >= 500:
        return "server_error"
    if status is not None and status >= 400:
        return "invalid_request"
    if wordings.SERVER.search(text):
        return "server_error"
    return "invalid_request" if wordings.REQUEST.search(text) else "stream_error"


def _names_the_request(told: _Told) -> bool:
    return told.param is not None or any(pattern.search(told.everything) for _, _, pattern in wordings.REMEDIES)


def _remedy(told: _Told) -> tuple[ModelErrorKind, str | None, str | None, str | None]:
    """Kind, remedy, parameter and its other name, for a request that was refused."""
    text = told.everything
    named = _parameter(told)
    top_level = named is not None and named not in ("messages", "tools", "stream", "content", "role", "model")
    inside_tools = "tools[" in text or "tools." in text or "function_declarations" in text
    unsupported = bool(wordings.UNSUPPORTED.search(text))
    if named is not None and top_level and not inside_tools:
        rename = wordings.RENAMED.search(told.message)
        replacement = rename.group(1) if rename and rename.group(1) != named else None
        about_body = unsupported and not _is_remedy_of_messages(text, named)
        if replacement and about_body:
            return "unsupported_parameter", "rename_param", named, replacement
        if about_body:
            return "unsupported_parameter", "drop_param", named, None
    for remedy, param, pattern in wordings.REMEDIES:
        if pattern.search(text):
            kind: ModelErrorKind = "unsupported_parameter" if remedy.endswith("_stream") else "invalid_request"
            return kind, remedy, param, None
    if named is not None and top_level and not inside_tools and told.param is not None:
        return "unsupported_parameter", "drop_param", named, None
    return "invalid_request", None, None, None


def _is_remedy_of_messages(text: str, named: str) -> bool:
    """Whether the name that stands in the text is what is missing, not what is too much."""
    return any(
        remedy in ("send_call_extras", "send_reasoning_content") and pattern.search(text)
        for remedy, _, pattern in wordings.REMEDIES
    ) or (named in ("tool_call_id", "tool_calls", "tool_use_id", "name"))


def _parameter(told: _Told) -> str | None:
    """The parameter that the error names: by its own key, or in words."""
    if told.param:
        return _leaf(told.param)
    for pattern in wordings.PARAMS:
        if match := pattern.search(told.message):
            name = _leaf(match.group(1))
            of_model = re.search(rf"model\s+[\"'`]?{re.escape(match.group(1))}", told.message, re.IGNORECASE)
            if name and name.lower() not in _NO_NAMES and not of_model:
                return name
    return None


_NO_NAMES = frozenset(
    [
        "the",
        "a",
        "an",
        "is",
        "are",
        "was",
        "were",
        "for",
        "with",
        "this",
        "that",
        "value",
        "values",
        "parameter",
        "parameters",
        "field",
        "fields",
        "property",
        "argument",
        "request",
        "json",
        "payload",
        "model",
        "streaming",
        "type",
        "input",
        "inputs",
        "it",
        "not",
        "by",
        "in",
        "of",
        "to",
        "true",
        "false",
        "null",
        "none",
        "on",
        "string",
        "number",
        "object",
        "array",
        "invalid",
        "unknown",
        "supplied",
        "provided",
    ]
)


def _leaf(path: str) -> str:
    """``messages.[6].role`` is about messages; ``body.temperature`` and ``messages[1].reasoning_content`` about their
    last key."""
    parts = [
        part
        for part in re.split(r"[.\[\]/]+", path)
        if part and not part.isdigit() and part not in ("body", "request", "$")
    ]
    if not parts:
        return ""
    return parts[0] if parts[-1] in ("role", "content", "tool_calls", "tool_call_id", "id") else parts[-1]


def _read(body: Any, around: dict[str, Any] | None) -> _Told:
    node = body
    if isinstance(node, list):
        node = next((item for item in node if isinstance(item, dict)), node)
    outer = node if isinstance(node, dict) else around or {}
    if isinstance(node, dict):
        for key in ("error", "errors", "fault"):
            inner = node.get(key)
            if isinstance(inner, list) and inner:
                inner = inner[0]
            if isinstance(inner, dict) or (isinstance(inner, str) and inner and not node.get("message")):
                node = inner
                break
    if not isinstance(node, dict):
        text = node if isinstance(node, str) else str(node)
        what, said = _page(text)
        message = f"{what}: {said}" if what == "an HTML page" else said
        return _Told(
            message,
            None,
            "",
            None,
            _number(outer.get("status") or outer.get("status_code")),
            None,
            message.lower(),
            outer,
        )
    message, param = _message(node, outer)
    code = _first(node, outer, "code")
    kind = next((value for key in ("type", "status") if isinstance(value := node.get(key), str) and value), "")
    failed = _first(node, outer, "failed_generation")
    status = next(
        (
            number
            for source in (node, outer)
            for key in ("code", "status", "status_code", "http_code", "raw_status_code", "statusCode")
            if (number := _number(source.get(key))) is not None
        ),
        None,
    )
    raw = node.get("metadata")
    raw_text = str(raw.get("raw") or "") if isinstance(raw, dict) else ""
    status_word = node.get("status") if isinstance(node.get("status"), str) else ""
    words = " ".join(str(part) for part in (message, code or "", kind, status_word, raw_text[:1000])).lower()
    return _Told(
        message,
        code if isinstance(code, (str, int)) and not isinstance(code, bool) else None,
        kind,
        param,
        status,
        failed if isinstance(failed, str) else None,
        words,
        [node, outer],
    )


def _message(node: dict[str, Any], outer: dict[str, Any]) -> tuple[str, str | None]:
    """The text of an error object, and the parameter it names by a key."""
    param = node.get("param")
    param = param if isinstance(param, str) and param else None
    for source in (node, outer):
        for key in ("message", "msg", "detail", "error_message", "error_description", "reason", "title", "error"):
            value = source.get(key)
            if isinstance(value, str) and value:
                return value, param
            if isinstance(value, list) and value:
                items = [item for item in value if isinstance(item, dict)]
                if items:  # FastAPI and its like
                    where = [str(part) for part in items[0].get("loc") or ()]
                    said = "; ".join(
                        f"{'.'.join(map(str, item.get('loc') or ()))}: {item.get('msg')}" for item in items
                    )
                    return said, param or ".".join(where) or None
                return "; ".join(map(str, value)), param
            if isinstance(value, dict):
                return _message(value, {})
    return msgspec.json.encode(node).decode(errors="replace") if node else "", param


def _first(node: dict[str, Any], outer: dict[str, Any], key: str) -> Any:
    for source in (node, outer):
        if source.get(key) not in (None, ""):
            return source[key]
    return None


def _number(value: Any) -> int | None:
    """An HTTP status as a number or digits."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600 else None


def _page(body: str) -> tuple[str, str]:
    """What a body that is not JSON is, and what of it is worth showing."""
    if re.search(r"<(?:!doctype|html|head|body|title|center)\b", body[:2000], re.IGNORECASE):
        title = _TITLE.search(body)
        text = (title.group(1) or title.group(2) or "") if title else _TAGS.sub(" ", body)[:200]
        return "an HTML page", unescape(_TAGS.sub(" ", text)).strip()
    return "a text", body.strip()[:300]
