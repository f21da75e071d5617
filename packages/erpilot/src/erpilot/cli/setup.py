"""``erpilot setup``: which model, with whose key, shown in which currency; tried before it is saved.

Invariant: a key is never shown, never an argument of the command line, and never kept for another endpoint than its
own.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent_core.errors import ModelError
from erpilot.shop.connection import (
    EMBEDDED,
    PASSWORD_VARIABLE,
    Connection,
    connect,
    keep_password,
    read_connection,
)

from .config import Settings, read_settings, read_value, write_settings
from .desk import Desk
from .home import prepare_home
from .lines import seconds_text
from .models import CUSTOM, OFFLINE, choose
from .probe import probe
from .problems import COMPLETED, MODEL, USAGE, Problem, explain
from .tables import prices_as_of, providers
from .terminal import can_ask

_GIVEN = ("model", "base_url", "key_variable", "currency", "exchange_rate", "today", "zone", "lang")
"""Settings that have an option of their own."""


def setup(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    prepare_home(desk.home)
    before = _before(desk)
    given = {name: getattr(parsed, name) for name in _GIVEN if getattr(parsed, name) is not None}
    if parsed.key_stdin:
        given["key"] = sys.stdin.readline().strip() if sys.stdin is not None else ""
        if not given["key"]:
            raise Problem(USAGE, "bad_setting", name="key", source="stdin", value="", wanted="a key")
    before = replace(before, shop=_shop(before.shop, parsed))
    if parsed.shop is not None or parsed.password_stdin or before.shop != _before(desk).shop:
        return desk.run(_store_shop(desk, _changed(before, given), parsed))
    if given.keys() - {"lang"}:
        return desk.run(_store(desk, _changed(before, given), test=not parsed.no_test and "model" in given, ask=False))
    if not can_ask():
        raise Problem(USAGE, "setup_needs_terminal")
    return desk.run(_interview(desk, _changed(before, given), test=not parsed.no_test))


def _shop(before: Connection, parsed: argparse.Namespace) -> Connection:
    """The shop of the settings with what was given of it."""
    given = {"backend": parsed.shop, "url": parsed.shop_url, "database": parsed.shop_database, "user": parsed.shop_user}
    if parsed.shop == "embedded":
        return EMBEDDED
    table = {**before.table(), **{name: value for name, value in given.items() if value is not None}}
    return read_connection(table, "setup")


async def _store_shop(desk: Desk, settings: Settings, parsed: argparse.Namespace) -> int:
    """Tries the shop and writes the file; one that cannot be reached is not saved, unless it is not to be tried."""
    connection, environment = settings.shop, dict(desk.environment)
    if parsed.password_stdin:
        password = sys.stdin.readline().rstrip("\r\n") if sys.stdin is not None else ""
        if not password:
            raise Problem(USAGE, "bad_setting", name="password", source="stdin", value="", wanted="a password")
        keep_password(connection, password)
        environment[connection.password_variable or PASSWORD_VARIABLE] = password
    if connection.backend == "tryton" and not parsed.no_test:
        shop = await connect(connection, environment)
        desk.terminal.note(desk.texts("setup_shop_works", company=shop.company.name))
        await shop.aclose()
    path = write_settings(desk.home, settings)
    desk.terminal.note(desk.texts("setup_saved", path=path))
    return COMPLETED


def _before(desk: Desk) -> Settings:
    try:
        return read_settings(desk.home, {})
    except Problem as problem:  # the file cannot be used: this command makes a new one
        if problem.code != USAGE:
            raise
        desk.terminal.note(explain(problem, desk.texts)[1], "wait")
        return Settings()


def _changed(before: Settings, given: Mapping[str, Any]) -> Settings:
    """The settings with what was given; an old key does not follow to a new endpoint."""
    values = {
        name: read_value(name, value, f"--{name.replace('_', '-')}") if isinstance(value, str) else value
        for name, value in given.items()
    }
    if "model" in values or "base_url" in values:
        cleared: dict[str, Any] = {"base_url": None} if "model" in values else {}
        after = replace(before, **{**cleared, **values})
        if _endpoint(after) != _endpoint(before):
            cleared |= {"key": None, "key_variable": None}
        values = {**cleared, **values}
    elif "key" in values:
        values["key_variable"] = None
    elif "key_variable" in values:
        values["key"] = None
    return replace(before, **values)


def _endpoint(settings: Settings) -> tuple[str | None, str]:
    prefix = (settings.model or "").partition(":")[0]
    return settings.base_url, prefix if prefix in providers() else ""


async def _store(desk: Desk, settings: Settings, *, test: bool, ask: bool) -> int:
    """Tries the model and writes the file; a model that fails is only saved when the person insists."""
    choice = choose(settings.model or OFFLINE, settings, _without_models(desk.environment))
    if test and not choice.offline:
        desk.terminal.note(desk.texts("setup_testing", name=choice.name), "quiet")
        try:
            seconds = await probe(choice, desk.texts)
        except ModelError as error:
            desk.terminal.note(explain(error, desk.texts)[1], "error")
            if not (ask and await _wants_it_anyway(desk)):
                desk.terminal.note(desk.texts("setup_not_saved"))
                return MODEL
        else:
            desk.terminal.note(desk.texts("setup_works", seconds=seconds_text(seconds)))
    path = write_settings(desk.home, settings)
    if choice.price is not None and choice.price.input:
        desk.terminal.note(desk.texts("setup_prices", day=prices_as_of()), "quiet")
    desk.terminal.note(desk.texts("setup_saved", path=path))
    return COMPLETED


async def _interview(desk: Desk, before: Settings, *, test: bool) -> int:
    texts, say = desk.texts, desk.terminal.note
    say(texts("setup_intro"))
    names = [OFFLINE, *providers(), CUSTOM]
    for number, name in enumerate(names, 1):
        provider = providers().get(name)
        if provider is None:
            what = texts(f"setup_choice_{name}")
        else:
            what = f"{provider.title} ({texts('setup_choice_local')})" if provider.local else provider.title
        say(f"{number:>3}  {name:<12} {what}")
    name = await _ask_provider(desk, names)
    given: dict[str, Any] = {"model": OFFLINE}
    if name != OFFLINE:
        given = await _ask_endpoint(desk, name)
    default = before.currency or ("CNY" if texts.lang == "zh" else "USD")
    given["currency"] = await _ask_value(desk, "currency", texts("setup_ask_currency"), default)
    settings = _changed(replace(before, lang=before.lang or texts.lang), given)
    return await _store(desk, settings, test=test, ask=True)


async def _ask_provider(desk: Desk, names: list[str]) -> str:
    while True:
        answer = (await _line(f"{desk.texts('setup_ask_provider')}: ")).lower()
        if answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(names):
            return names[int(answer) - 1]
        if answer in names:
            return answer
        desk.terminal.note(desk.texts("setup_one_of", count=len(names)), "wait")


async def _ask_endpoint(desk: Desk, name: str) -> dict[str, Any]:
    texts, provider = desk.texts, providers().get(name)
    given: dict[str, Any] = {}
    prefix = f"{name}:"
    if provider is None or provider.local:
        known = provider.base_url if provider is not None else ""
        address = await _ask_value(desk, "base_url", texts("setup_ask_address"), known)
        if address != known:
            given["base_url"], prefix = address, f"{CUSTOM}:"
    suggestion = provider.models[0] if provider is not None else ""
    given["model"] = prefix + await _ask_value(desk, "model", texts("setup_ask_model"), suggestion)
    if provider is None or provider.key_variable is not None:
        variable = (provider.key_variable if provider is not None else None) or "OPENAI_API_KEY"
        key = await _line(f"{texts('setup_ask_key', variable=variable)}: ", secret=True)
        given |= {"key": read_value("key", key, "key")} if key else {"key_variable": variable}
    return given


async def _ask_value(desk: Desk, name: str, question: str, default: str) -> str:
    while True:
        answer = await _line(f"{question}: ", default=default)
        try:
            value = read_value(name, answer, name)
        except Problem as problem:
            desk.terminal.note(explain(problem, desk.texts)[1], "wait")
            continue
        if value:
            return str(value)


async def _wants_it_anyway(desk: Desk) -> bool:
    return (await _line(f"{desk.texts('setup_ask_save')}: ")).lower() in ("y", "yes", "是", "好")


async def _line(message: str, *, default: str = "", secret: bool = False) -> str:
    from .prompt import prompt_line

    try:
        return (await prompt_line(message, default=default, secret=secret)).strip()
    except EOFError:
        raise KeyboardInterrupt from None


def _without_models(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment as far as it does not name a model of its own: what is tried is what is saved."""
    return {name: value for name, value in environment.items() if name not in ("OPENAI_BASE_URL", "ERPILOT_MODEL")}
