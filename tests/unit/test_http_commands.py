from __future__ import annotations

import re
import string
import subprocess
import sys
from importlib.metadata import entry_points, requires
from pathlib import Path

import pytest

from erpilot.cli.extensions import GROUP, extensions
from erpilot.cli.language import Lang
from erpilot.cli.main import COMMANDS, main
from erpilot.cli.parser import build_parser
from erpilot.cli.problems import Problem
from erpilot.cli.texts import MESSAGES
from erpilot_api import accounts
from erpilot_api.access import User
from erpilot_api.commands import serve, users

BROUGHT = {"serve": serve, "users": users}


def test_the_commands_of_this_package_are_found_through_their_entry_points() -> None:
    assert {"serve", "users"} <= {point.name for point in entry_points(group=GROUP)}
    assert set(extensions(["--lang", "en", "serve"], COMMANDS)) >= {"serve", "users"}
    assert extensions(["--lang", "zh", "ask", "serve"], COMMANDS) == {}


@pytest.mark.parametrize("name", BROUGHT)
@pytest.mark.parametrize(("lang", "example"), [("en", "Example"), ("zh", "例子")])
def test_each_explains_itself_with_examples_in_both_languages(name: str, lang: Lang, example: str) -> None:
    said: list[str] = []
    with pytest.raises(SystemExit):
        build_parser(lang, said.append, BROUGHT).parse_args([name, "--help"])
    assert example in said[0]


@pytest.mark.parametrize("module", BROUGHT.values(), ids=BROUGHT)
def test_each_text_says_the_same_in_both_languages(module: type) -> None:
    for key, (english, chinese) in {**module.HELP, **module.MESSAGES}.items():  # type: ignore[attr-defined]
        assert re.search("[\u4e00-\u9fff]", chinese), key
        places = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in (english, chinese)]
        assert places[0] == places[1], key
        assert key not in MESSAGES, "it would stand for two texts"


def test_help_of_these_commands_loads_no_web_framework() -> None:
    program = (
        "import sys\nfrom erpilot.cli.main import main\nmain(['serve', '--help'])\n"
        "sys.exit(any(name in sys.modules for name in ('fastapi', 'uvicorn', 'starlette', 'agent_core.events')))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False).returncode == 0


def test_users_are_added_listed_and_removed_and_the_last_owner_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ERPILOT_HOME", str(tmp_path))
    monkeypatch.setattr("getpass.getuser", lambda: "boss")
    assert main(["users", "add", "小李", "--role", "clerk"]) == 0
    assert main(["users", "add", "小李"]) == 2
    assert accounts.read_users(tmp_path, "boss") == (User("boss", "owner"), User("小李", "clerk"))
    assert main(["users", "token", "小李"]) == 0
    token = capsys.readouterr().out.strip()
    people = accounts.UserList(tmp_path, "boss")
    assert people.access.user_of(token) == User("小李", "clerk")
    assert main(["users", "link", "小李", "--address", "https://shop.example"]) == 0
    code = capsys.readouterr().out.strip().removeprefix("https://shop.example/#code=")
    assert people.access.redeem(code) == User("小李", "clerk")
    assert not people.changed()
    assert main(["users", "remove", "boss"]) == 2
    assert main(["users", "remove", "小李"]) == 0
    assert people.changed()
    assert people.access.user_of(token) is None
    assert main(["users", "remove", "nobody"]) == 2
    assert main(["users", "add"]) == 2
    assert (tmp_path / "users.toml").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "serve.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "written",
    [
        "users = 3",
        "[[users]]",
        '[[users]]\nname = "a"\nrole = "king"',
        '[[users]]\nname = "a"\nrole = "owner"\ntoken = "x"',
        '[[users]]\nname = "a"\nrole = "owner"\n[[users]]\nname = "a"\nrole = "clerk"',
        '[[users]]\nname = " "\nrole = "owner"',
        '[[users]]\nname = 7\nrole = "owner"',
        "[other]",
        "not toml",
    ],
)
def test_a_list_of_users_that_is_not_understood_is_refused(written: str, tmp_path: Path) -> None:
    (tmp_path / "users.toml").write_text(written, encoding="utf-8")
    with pytest.raises(Problem):
        accounts.read_users(tmp_path, "boss")


def test_the_base_install_does_not_need_this_package() -> None:
    needed = [line for line in requires("erpilot") or () if "erpilot-api" in line or "fastapi" in line]
    assert needed
    assert all("extra == 'api'" in line.replace('"', "'") for line in needed)
