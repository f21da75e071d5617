"""Takes secrets out of text that a person, a log or an event will hold.

Invariant: what ``mask`` returns contains none of the given secrets, no bearer token, no password or key of a URL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus, urlsplit, urlunsplit

MASK = "***"
_SHORTEST = 6
"""Shorter strings are not masked literally: they would tear ordinary words apart."""

_TOKENS = re.compile(
    r"""(?ix)
      \b(?:sk|pk|rk|gsk|xai|hf|key|api|pplx|nvapi)[-_](?=[\w-]*\d)[\w-]{8,}      # keys with a vendor's prefix
    | \bAIza[\w-]{16,}
    | \beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+)?                                     # JSON web tokens
    """
)
_NAMED = re.compile(
    r"""(?ix)
      ( \bbearer\s+
      | (?<![a-z])(?:api[-_]?key|access[-_]?token|auth[-_]?token|x-api-key|client[-_]?secret|password|passwd)
        ["']?\s*[=:]\s*["']?
      | [?&](?:key|token|secret|sig|signature|code)=
      )
      ([^\s"'&<>,;*]{4,})
    """
)
_USER_INFO = re.compile(r"(?i)(\b[a-z][a-z0-9+.-]*://)[^\s/@\"'<>]+@")


def mask(text: str, secrets: Iterable[str | None] = ()) -> str:
    """``text`` with every secret replaced by ``***``: those given (also URL-encoded), and what looks like one."""
    for secret in secrets:
        if not secret or len(secret) < _SHORTEST:
            continue
        for form in {secret, quote(secret, safe=""), quote_plus(secret)}:
            text = text.replace(form, MASK)
    text = _USER_INFO.sub(rf"\1{MASK}@", text)
    text = _NAMED.sub(rf"\1{MASK}", text)
    return _TOKENS.sub(MASK, text)


def bare_url(url: str) -> str:
    """``url`` without user, password, query and fragment: fit to be shown, and to name an endpoint."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    if parts.port is not None:
        host = f"{host}:{parts.port}"
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
