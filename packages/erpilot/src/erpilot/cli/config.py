"""What a person has set: the home folder, ``config.toml`` in it, and the environment, which wins.

Invariant: the file is only ever replaced whole, readable by its owner alone; a setting that is not understood is
refused with its name, never ignored.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from agent_core.files import replace_file
from erpilot.shop.connection import EMBEDDED, Connection, read_connection

from .home import CONFIG_NAME, prepare_home
from .problems import Problem
from .rules import WrittenRule, read_rules


@dataclass(frozen=True, slots=True)
class Settings:
    """The values of ``config.toml``; None where nothing is set."""

    model: str | None = None
    """``provider:model``, ``offline``, or the name of a model at ``base_url``."""
    base_url: str | None = None
    """Address of an OpenAI-compatible API, for models without a known provider."""
    key: str | None = None
    """Sent to the endpoint of ``model`` and to no other."""
    key_variable: str | None = None
    """Environment variable that holds the key instead."""
    currency: str | None = None
    """CNY or USD: what costs are shown in."""
    exchange_rate: Decimal | None = None
    """CNY per USD."""
    lang: str | None = None
    """zh or en."""
    today: date | None = None
    """The day the built-in shop lives on."""
    zone: str | None = None
    """Time zone of the times on the screen; None: the computer's."""
    context_tokens: int | None = None
    """Tokens of one request, for models that take fewer than usual, or to send more."""
    summary_model: str | None = None
    """The model that sums up what is older, as ``model``; None: the one in use."""
    shop: Connection = EMBEDDED
    """The table ``[shop]``: the ERP to work with."""
    rules: tuple[WrittenRule, ...] = ()
    """What may run unasked, is asked, or never runs."""

    def __repr__(self) -> str:
        shown = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "key"}
        return f"Settings({shown}, key={'set' if self.key else None})"


def read_settings(home: Path, environment: Mapping[str, str]) -> Settings:
    """The file's settings, with what the environment says of the language and the day on top."""
    path = home / CONFIG_NAME
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raw = {}
    except OSError as error:
        raise Problem(6, "config_unreadable", path=path, why=error.strerror or error) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Problem(2, "config_not_toml", path=path, why=error) from None
    settings = Settings(**{name: _value(name, value, str(path)) for name, value in raw.items()})
    for variable, name in _VARIABLES:
        if written := environment.get(variable, "").strip():
            settings = replace(settings, **{name: _value(name, written, variable)})
    return settings


def write_settings(home: Path, settings: Settings) -> Path:
    """Replaces the file in one step; mode 0600."""
    path = prepare_home(home) / CONFIG_NAME
    lines = ["# Written by `erpilot setup`; may be edited by hand. This file can hold a key: keep it to yourself."]
    for item in fields(settings):
        value = getattr(settings, item.name)
        if item.name == "shop":
            continue
        if item.name == "rules":
            lines += ["rules = [", *(f"  {rule.toml()}," for rule in value), "]"] if value else []
        elif value is not None:
            lines.append(f"{item.name} = {json.dumps(str(value), ensure_ascii=False)}")
    if table := settings.shop.table():  # the last, since everything behind a table belongs to it
        lines += ["", "[shop]"]
        lines += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in table.items()]
    try:
        replace_file(path, ("\n".join(lines) + "\n").encode())
    except OSError as error:
        raise Problem(6, "home_unusable", home=home, why=error.strerror or error) from None
    return path


def read_value(name: str, written: str, source: str) -> Any:
    """A setting as its type; ``source`` is named when it is wrong."""
    return _value(name, written, source)


def _value(name: str, value: object, source: str) -> Any:
    known = [item.name for item in fields(Settings)]
    if name not in known:
        raise Problem(2, "unknown_setting", name=name, source=source, known=", ".join(known))
    if name == "rules":
        return read_rules(value, "user", source)
    if name == "shop":
        return read_connection(value, source)
    if isinstance(value, bool) or not isinstance(value, str | int | float | date):
        raise Problem(2, "bad_setting", name=name, source=source, value=value, wanted="text")
    text = str(value).strip()
    if any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in text):
        raise Problem(2, "bad_setting", name=name, source=source, value=text, wanted="text")
    if not text:
        return None
    read = _READERS.get(name)
    if read is None:
        return text
    function, wanted = read
    try:
        return function(text)
    except (ValueError, InvalidOperation):
        raise Problem(2, "bad_setting", name=name, source=source, value=text, wanted=wanted) from None


def _tokens(text: str) -> int:
    tokens = int(text)
    if not 1000 <= tokens <= 10_000_000:
        raise ValueError
    return tokens


def _currency(text: str) -> str:
    upper = text.upper()
    if upper not in ("CNY", "USD"):
        raise ValueError
    return upper


def _language(text: str) -> str:
    short = text.lower()[:2]
    if short not in ("zh", "en"):
        raise ValueError
    return short


def _rate(text: str) -> Decimal:
    rate = Decimal(text)
    if not (rate.is_finite() and Decimal("0.01") <= rate <= 1000):
        raise ValueError
    return rate


def _zone(text: str) -> str:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, OSError):
        raise ValueError from None
    return text


def _address(text: str) -> str:
    from urllib.parse import urlsplit

    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError
    return text.rstrip("/")


_VARIABLES = (("ERPILOT_LANG", "lang"), ("ERPILOT_TODAY", "today"), ("ERPILOT_CONTEXT_TOKENS", "context_tokens"))
_READERS: dict[str, tuple[Any, str]] = {
    "context_tokens": (_tokens, "24000"),
    "currency": (_currency, "CNY / USD"),
    "exchange_rate": (_rate, "7.2"),
    "lang": (_language, "zh / en"),
    "today": (date.fromisoformat, "2026-11-30"),
    "zone": (_zone, "Asia/Shanghai"),
    "base_url": (_address, "https://host/v1"),
}
