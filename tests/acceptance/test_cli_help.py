"""Help in two languages, at once, without loading what it does not need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.support.cli import environment, erpilot

HEAVY = (
    "aiohttp",
    "httpx",
    "pydantic",
    "msgspec",
    "rich",
    "prompt_toolkit",
    "sqlite3",
    "asyncio",
    "ssl",
    "agent_core.events",
)


def test_help_is_said_without_anything_else(home: Path) -> None:
    for lang, words in (("en", "show this help"), ("zh", "显示帮助")):
        done = erpilot(home, "trust", "revoke", "--help", "--lang", lang)
        assert (done.code, done.err) == (0, "")
        assert words in done.out


def test_help_says_the_exit_codes_and_no_command_shows_it_too(home: Path) -> None:
    with_option, without = erpilot(home, "--help"), erpilot(home)
    assert "7 driven by another process" in with_option.out
    assert (without.code, without.out) == (2, with_option.out)


def test_help_follows_the_locale_and_the_settings(home: Path) -> None:
    assert "用法" in erpilot(home, "--help", settings={"LANG": "zh_CN.UTF-8"}).out
    assert "usage" in erpilot(home, "--help", settings={"LANG": "de_DE.UTF-8"}).out
    (home / "config.toml").write_text('lang = "zh"\n', encoding="utf-8")
    assert "用法" in erpilot(home, "--help").out


def test_the_version_is_that_of_the_package(home: Path) -> None:
    from importlib.metadata import version

    assert erpilot(home, "--version").out == f"erpilot {version('erpilot')}\n"


def test_help_loads_no_client_no_store_and_no_screen_library(home: Path) -> None:
    program = (
        "import sys, json\n"
        "from erpilot.cli.main import main\n"
        "code = main(['--help'])\n"
        "print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment(home), timeout=60)
    code, loaded = json.loads(done.stderr)
    assert code == 0
    assert not set(HEAVY) & set(loaded)


def test_commands_that_only_read_load_no_client_no_loop_and_no_tools(home: Path) -> None:
    program = (
        "import sys, json\n"
        "from erpilot.cli.main import main\n"
        "code = main(['sessions'])\n"
        "print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment(home), timeout=60)
    code, loaded = json.loads(done.stderr.splitlines()[-1])
    assert code == 0
    assert not {"aiohttp", "pydantic", "agent_core.model.client", "agent_core.loop", "erpilot.toolsets.shop"} & set(
        loaded
    )
