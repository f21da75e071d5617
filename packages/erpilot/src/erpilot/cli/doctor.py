"""``erpilot doctor``: what is configured, and whether it works. Keys are never shown."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from .desk import Desk
from .home import CONFIG_NAME, LOG_NAME, prepare_home
from .lines import seconds_text
from .problems import COMPLETED, explain

if TYPE_CHECKING:
    from .models import Choice
    from .terminal import Style
    from .work import OpenShop


def doctor(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code: that of the first thing that does not work."""
    return desk.run(_doctor(desk, test=not parsed.no_test))


async def _doctor(desk: Desk, *, test: bool) -> int:
    report = _Report(desk)
    from importlib.metadata import version

    report.say("version", f"erpilot {version('erpilot')}")
    with report.checking("home"):
        report.say("home", str(prepare_home(desk.home)))
    with report.checking("config"):
        report.say("config", *_config(desk))
    with report.checking("store"):
        async with desk.open_store() as store:
            count = len(await store.sessions())
        report.say("store", desk.texts("doctor_store_ok", count=count, path=desk.home / LOG_NAME))
    with report.checking("shop"):
        from erpilot.profiles import DEFAULT
        from erpilot.toolsets.shop_files import with_files

        from .work import close_shop, open_shop_of, profile_named

        shop = await open_shop_of(desk)
        try:
            report.say("shop", *await _shop(desk, shop))
            tools = [tool.name for tool in with_files(profile_named(DEFAULT).tools(shop), shop, desk.home)]
        finally:
            await close_shop(shop)
        with report.checking("rules"):
            _rules(report, desk, tools)
    with report.checking("model"):
        from .models import choose

        choice = choose(None, desk.settings, desk.environment)
        _model(report, desk, choice)
    if report.code == COMPLETED and not choice.offline:
        if not test:
            report.say("reached", desk.texts("doctor_not_asked"))
        else:
            with report.checking("reached"):
                from .probe import probe

                report.say("reached", seconds_text(await probe(choice, desk.texts)))
    return report.code


async def _shop(desk: Desk, shop: OpenShop) -> tuple[str, Style]:
    """Whose shop it is; of one on a server also where, as whom, and which rights are missing."""
    told = f"{shop.company.name} · {shop.now():%Y-%m-%d} · {shop.company.zone}"
    if desk.settings.shop.backend == "embedded":
        return told, "plain"
    from erpilot.shop.rights import RIGHTS

    me, where = await shop.whoami(), desk.settings.shop
    missing = ", ".join(right for right in RIGHTS if right not in me.rights)
    texts = desk.texts("doctor_rights_missing", missing=missing) if missing else desk.texts("doctor_rights_all")
    return f"{told} · {where.backend} {where.url} {where.database} · {me.user} · {texts}", "plain"


def _config(desk: Desk) -> tuple[str, Style]:
    path = desk.home / CONFIG_NAME
    if not path.exists():
        return desk.texts("doctor_config_none"), "plain"
    desk.settings  # noqa: B018 (raises when the file is wrong)
    if os.name == "posix" and path.stat().st_mode & 0o077:
        return desk.texts("doctor_config_open", path=path), "wait"
    return str(path), "plain"


def _rules(report: _Report, desk: Desk, tools: list[str]) -> None:
    """Every rule with where it stands; one that names no tool fails like in a run."""
    from .rules import check_tools
    from .work import rules_of

    rules = rules_of(desk, ())
    check_tools(rules, tools)
    for rule in rules:
        report.say("rules", f"{rule.text()} ({rule.source})", "wait" if rule.effect == "allow" else "plain")
    if not rules:
        report.say("rules", desk.texts("doctor_rules_none"))


def _model(report: _Report, desk: Desk, choice: Choice) -> None:
    from .tables import prices_as_of

    if choice.offline:
        report.say("model", desk.texts("doctor_offline"))
        return
    report.say("model", choice.name)
    if choice.base_url:
        report.say("address", choice.base_url)
    source = choice.key_source
    report.say("key", desk.texts("doctor_key_from", source=source) if source else desk.texts("doctor_key_none"))
    price = choice.price
    if price is None:
        report.say("price", desk.texts("cost_unknown"))
    elif not price.input and not price.output:
        report.say("price", desk.texts("cost_free"))
    else:
        shown = {"input": f"{price.input} {price.currency}", "output": f"{price.output} {price.currency}"}
        report.say("price", desk.texts("doctor_price_per_million", day=prices_as_of(), **shown))


class _Report:
    """Lines of ``what: how it is``; remembers the first failure."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._now = ""
        self.code = COMPLETED

    def say(self, what: str, how: str, style: Style = "plain") -> None:
        self._desk.terminal.line(f"{self._desk.texts(f'doctor_{what}')}: {how}", style)

    def checking(self, what: str) -> _Report:
        self._now = what
        return self

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> bool:
        if error is None or not isinstance(error, Exception):
            return False
        code, sentence = explain(error, self._desk.texts)
        self.say(self._now, sentence, "error")
        self.code = self.code or code
        return True
