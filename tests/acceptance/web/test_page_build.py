"""How the page is built, checked and shipped, and what is said where that is not possible."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from scripts import build_web
from tests.support import browser

ROOT = Path(__file__).parents[3]


def test_the_pages_own_checks_and_tests_pass(built_page: Path) -> None:
    node = build_web.find_node()
    assert node is not None
    for arguments in (("run", "--silent", "check"), ("test",)):
        ended = subprocess.run([*node.npm, *arguments], cwd=build_web.WEB, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-2000:]


def test_what_was_built_is_built_anew_only_when_its_sources_change(
    built_page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unexpected(*_: object) -> None:
        raise AssertionError("nothing has changed")

    monkeypatch.setattr(build_web, "_run", unexpected)
    assert build_web.build() == built_page
    monkeypatch.setattr(build_web, "_read", lambda _: "other sources")
    with pytest.raises(AssertionError, match="nothing has changed"):
        build_web.build()


def test_the_wheel_holds_the_page(built_page: Path, tmp_path: Path) -> None:
    hatchling = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(hatchling, cwd=ROOT / "packages" / "erpilot_api", check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    page = {f"erpilot_api/static/{path.relative_to(built_page).as_posix()}" for path in built_page.rglob("*.*")}
    assert page <= set(names)
    assert any(name.endswith(".js") for name in page)


def test_without_node_the_build_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
    monkeypatch.setattr("subprocess.run", lambda *_, **__: None)
    with pytest.raises(build_web.CannotBuild, match=r"^The page needs Node\.js 20 or newer to be built: install it"):
        build_web.node_or_install()


def test_without_a_browser_the_tests_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "_there", lambda: None)
    monkeypatch.setattr(browser, "_may_install_packages", lambda: False)
    monkeypatch.setattr("subprocess.run", lambda *_, **__: None)
    browser.browser_path.cache_clear()
    with pytest.raises(FileNotFoundError, match="there is none: install Chromium"):
        browser.browser_path()
    browser.browser_path.cache_clear()
