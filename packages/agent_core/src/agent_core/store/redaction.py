"""Masks what a session should not tell strangers: secrets always, and on demand what says who a person is.

Invariant: a masked payload is still the JSON of an event of the same type. Masking errs towards too much: an address or
a number that only looks like a person's is masked as well. What it recognises is written in this module and nowhere
else: it is a help for bug reports, no proof of anonymity.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from ..codec import decode, type_name
from ..model.secrets import mask

_ROLES = frozenset({"owner", "author", "by", "decided_by"})
"""Keys of events that hold a person's name or account."""
_PEOPLE = re.compile(
    r"(?i)^(?:customer|client|buyer|contact|recipient|receiver|consignee|employee|salesperson|person|party|member)"
    r"(?:_?name)?$|^(?:full|first|last|nick|user)_?name$|客户|联系人|收货人|收件人|姓名|业务员"
)
"""Keys of data that hold a person, or their name."""
_MARK_OF = (
    (re.compile(r"(?i)phone|mobile|^tel$|^fax$|wechat|电话|手机|微信"), "[phone]"),
    (re.compile(r"(?i)e?mail|邮箱"), "[email]"),
    (re.compile(r"(?i)address|^addr$|^street|^zip|postcode|地址|邮编"), "[address]"),
    (
        re.compile(r"(?i)id_?(?:card|number)|passport|tax_?(?:id|no)|bank|account_?(?:no|number)|身份证|税号|账号"),
        "[number]",
    ),
)
"""Keys of data whose whole value is personal."""
_STRUCTURE = frozenset(
    (
        "type",
        "kind",
        "v",
        "run_id",
        "environment",
        "model",
        "call_id",
        "grant_id",
        "id",
        "digest",
        "idempotency_key",
        "tool",
        "tier",
        "raw_name",
        "finish_reason",
        "raw_finish_reason",
        "frame",
        "tools",
        "base",
        "status",
        "currency",
        "amount",
        "tool_call_id",
        "role",
        "session_id",
    )
)
"""Keys whose values programs go by."""
_HASH = re.compile(r"=?[0-9a-f]{24,}")
_NOBODY = frozenset(
    (
        "user",
        "users",
        "system",
        "assistant",
        "tool",
        "boss",
        "clock",
        "backend",
        "admin",
        "me",
        "cli",
        "api",
        "web",
        "mcp",
        "worker",
    )
)
"""Words that stand where a name could stand."""

_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""Full-width forms to plain ones, character by character."""
_NUMBERS = (
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), "[email]"),
    (
        re.compile(
            r"(?<![0-9A-Za-z])[1-9]\d{5}(?:18|19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?!\w)"
        ),
        "[number]",
    ),
    (re.compile(r"(?<![0-9A-Za-z])(?:\+?86[- ]?)?1[3-9]\d[- ]?\d{4}[- ]?\d{4}(?![0-9A-Za-z])"), "[phone]"),
    (re.compile(r"(?<![0-9A-Za-z])\(?0\d{2,3}\)?[- ]?\d{7,8}(?:[-转]\d{1,6})?(?![0-9A-Za-z])"), "[phone]"),
    (re.compile(r"(?<![0-9A-Za-z])\+\d{1,3}(?:[- .]?\(?\d{1,4}\)?){2,5}(?![0-9A-Za-z])"), "[phone]"),
    (re.compile(r"(?<![0-9A-Za-z])\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}(?![0-9A-Za-z])"), "[phone]"),
)
_CARD = re.compile(r"(?<![0-9A-Za-z])\d{4}(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![0-9A-Za-z])")
_HAN = "\u4e00-\u9fff"
_TEXTS = (
    (re.compile(r"((?:地址|住址|收货地|\baddress)\s*[:：]\s*)[^\n;；|]{4,80}", re.I), r"\1[address]"),
    (
        re.compile(
            rf"[{_HAN}]{{2,12}}?(?:省|市|区|县|镇|乡|村|路|街|道|巷|弄|胡同)[{_HAN}\w\-－—#,， ]{{0,40}}?\d+\s*"
            rf"(?:号|弄|室|楼|栋|幢|单元|层|座)(?:[{_HAN}\w\-]{{0,20}}?(?:号|室|楼|栋|幢|单元|层|座))*"
        ),
        "[address]",
    ),
    (re.compile(rf"[{_HAN}]{{2,7}}(?:省|自治区)[{_HAN}]{{2,8}}市(?:[{_HAN}]{{1,8}}(?:区|县|市))?"), "[address]"),
    (
        re.compile(
            r"\b\d{1,5}\s+(?:[A-Z][\w.'-]*\s+){1,5}"
            r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Court|Ct|Place|Pl)\b\.?"
        ),
        "[address]",
    ),
    (re.compile(rf"((?:联系人|收货人|收件人|姓名)\s*[:：]\s*)[{_HAN}A-Za-z·. ]{{2,20}}"), r"\1[name]"),
    (re.compile(rf"[{_HAN}]{{1,2}}(?=先生|女士|小姐)"), "[name]"),
    (re.compile(r"\b(Mr|Mrs|Ms|Miss|Dr)(\.?\s+)[A-Z][\w'-]+(?:\s+[A-Z][\w'-]+)?"), r"\1\2[name]"),
)


class Redactor:
    """Masks the payloads and contents of one session. ``payloads``: all of them, for the names that are in them."""

    def __init__(self, payloads: Iterable[bytes], secrets: Iterable[str] = (), *, personal: bool) -> None:
        self.personal = self.hides_key = personal
        """``hides_key``: the key of the contents' names is masked, with which guesses at masked ones could be tried."""
        self._secrets = tuple(secrets)
        self._names: dict[str, str] = {}
        if personal:
            self._names = _numbered(payloads)
        alternatives = "|".join(_as_word(name) for name in sorted(self._names, key=len, reverse=True))
        self._named = re.compile(alternatives) if alternatives else None

    def payload(self, payload: bytes) -> bytes | None:
        """A payload without what is not to be told; the same bytes when there is nothing. None when it could not be
        masked without becoming something else.
        """
        value = msgspec.json.decode(payload)
        masked = self._value(value, "", False)
        if self.hides_key and isinstance(masked, dict) and masked.get("salt"):
            masked = {**masked, "salt": ""}
        if masked == value:
            return payload
        encoded = msgspec.json.encode(masked)
        try:
            return encoded if type_name(decode(encoded)) == type_name(decode(payload)) else None
        except ValueError:
            return None

    def content(self, data: bytes) -> bytes | None:
        """The same for a content. None for a file that is no text and may show anything."""
        try:
            return self._text(data.decode()).encode()
        except UnicodeDecodeError:
            return None if self.personal else data

    def _value(self, value: Any, key: str, data: bool) -> Any:
        """``data``: the value comes from outside (tool results, arguments), so its keys tell what it is."""
        if isinstance(value, str):
            if key in _STRUCTURE or _HASH.fullmatch(value):
                return value
            whole = self._whole(value, key, data)
            return self._text(value) if whole is None else whole
        if isinstance(value, dict):
            inner = data or key in ("evidence", "limits", "replay", "extra")
            return {
                self._text(name) if isinstance(name, str) and name not in _STRUCTURE else name: self._value(
                    item, name if _is_plain(name) else key, inner
                )
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [self._value(item, key, data) for item in value]
        if data and self.personal and isinstance(value, int) and not isinstance(value, bool):
            whole = self._whole(str(value), key, data)
            masked = self._plain(str(value)) if whole is None else whole
            return value if masked == str(value) else masked
        return value

    def _whole(self, value: str, key: str, data: bool) -> str | None:
        if not self.personal or not value:
            return None
        if key in _ROLES or (data and _PEOPLE.search(key)):
            return self._names.get(value)
        if data:
            return next((mark for pattern, mark in _MARK_OF if pattern.search(key)), None)
        return None

    def _text(self, text: str) -> str:
        if text[:1] in ("{", "["):
            try:
                inner = msgspec.json.decode(text)
            except (msgspec.MsgspecError, UnicodeEncodeError):
                return self._plain(text)
            masked = self._value(inner, "", True)
            return text if masked == inner else msgspec.json.encode(masked).decode()
        return self._plain(text)

    def _plain(self, text: str) -> str:
        text = mask(text, self._secrets)
        if not self.personal:
            return text
        for pattern, mark in _NUMBERS:
            text = _narrowly(pattern, mark, text)
        text = _CARD.sub(lambda match: "[number]" if _is_card(match[0]) else match[0], text)
        if self._named is not None:
            text = self._named.sub(lambda match: self._names[match[0]], text)
        for pattern, mark in _TEXTS:
            text = pattern.sub(mark, text)
        return text


def _narrowly(pattern: re.Pattern[str], mark: str, text: str) -> str:
    """``mark`` in the place of what matches, be it written in full-width forms; the rest as it is."""
    parts, end = [], 0
    for match in pattern.finditer(text.translate(_WIDE)):
        parts += [text[end : match.start()], mark]
        end = match.end()
    return "".join([*parts, text[end:]])


def _is_plain(name: object) -> bool:
    """Keys such as ``name`` below ``customer`` say less than the key above them."""
    return name not in ("name", "title", "value", "text", "display_name")


def _numbered(payloads: Iterable[bytes]) -> dict[str, str]:
    """Every name with what stands for it, the same one everywhere."""
    found: dict[str, None] = {}
    tools: set[str] = set()
    for payload in payloads:
        _collect(msgspec.json.decode(payload), "", False, found, tools)
    names = [name for name in found if name not in tools and name.lower() not in _NOBODY and _is_name(name)]
    return {name: f"[name {number}]" for number, name in enumerate(names, 1)}


def _collect(value: Any, key: str, data: bool, found: dict[str, None], tools: set[str]) -> None:
    if isinstance(value, dict):
        for name, item in value.items():
            _collect(item, name if _is_plain(name) else key, data, found, tools)
    elif isinstance(value, list):
        for item in value:
            _collect(item, key, data, found, tools)
    elif isinstance(value, str):
        if key == "tool":
            tools.add(value)
        elif key in _ROLES or (data and _PEOPLE.search(key)):
            found[value] = None
        elif value[:1] in ("{", "["):
            try:
                _collect(msgspec.json.decode(value), "", True, found, tools)
            except (msgspec.MsgspecError, UnicodeEncodeError):
                return


def _is_name(text: str) -> bool:
    return 2 <= len(text) <= 60 and not text.isdigit() and "\n" not in text and not text.startswith("[")


def _as_word(name: str) -> str:
    """The name where it is no part of a longer word; Chinese has no such borders."""
    edge = r"(?<![0-9A-Za-z_])", r"(?![0-9A-Za-z_])"
    before = edge[0] if name[0].isascii() else ""
    return before + re.escape(name) + (edge[1] if name[-1].isascii() else "")


def _is_card(text: str) -> bool:
    digits = [int(char) for char in text if char.isdigit()]
    if not 13 <= len(digits) <= 19:
        return False
    doubled = (digit if place % 2 == 0 else digit * 2 - 9 * (digit > 4) for place, digit in enumerate(digits[::-1]))
    return sum(doubled) % 10 == 0
