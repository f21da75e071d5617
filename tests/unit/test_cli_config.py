from __future__ import annotations

import os
import stat
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from erpilot.cli.config import Settings, read_settings, read_value, write_settings
from erpilot.cli.home import home_of
from erpilot.cli.language import language
from erpilot.cli.problems import Problem

EVERYTHING = Settings(
    model="deepseek:deepseek-chat",
    base_url="https://host/v1",
    key='sk-"quoted"\\and\u4e2d',
    key_variable="MY_KEY",
    currency="CNY",
    exchange_rate=Decimal("7.15"),
    lang="zh",
    today=date(2026, 11, 30),
    zone="Asia/Shanghai",
)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    write_settings(tmp_path, EVERYTHING)
    assert read_settings(tmp_path, {}) == EVERYTHING
    write_settings(tmp_path, Settings())
    assert read_settings(tmp_path, {}) == Settings()


@given(
    st.text(alphabet=st.characters(exclude_categories=("Cc", "Cs")), min_size=1).filter(
        lambda text: text.strip() == text
    )
)
def test_any_key_survives_the_file(key: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        write_settings(Path(folder), Settings(key=key))
        assert read_settings(Path(folder), {}).key == key


def test_the_file_is_for_its_owner_alone_also_when_it_replaces_an_open_one(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("", encoding="utf-8")
    os.chmod(path, 0o644)
    write_settings(tmp_path, EVERYTHING)
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["config.toml"]


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    write_settings(tmp_path, EVERYTHING)
    settings = read_settings(tmp_path, {"ERPILOT_LANG": "en_US", "ERPILOT_TODAY": "2027-01-02"})
    assert settings == replace(EVERYTHING, lang="en", today=date(2027, 1, 2))


def test_the_language_of_the_file_is_found_without_a_parser(tmp_path: Path) -> None:
    write_settings(tmp_path, EVERYTHING)
    assert language([], {"ERPILOT_HOME": str(tmp_path), "LANG": "en_US.UTF-8"}) == "zh"


@pytest.mark.parametrize(
    "text",
    [
        "model = [1]",
        "modle = 'x'",
        "today = 'soon'",
        "currency = 'EUR'",
        "lang = 'fr'",
        "exchange_rate = 'nan'",
        "exchange_rate = 0",
        "not toml",
        "zone = 'Mars/Base'",
        "base_url = 'ftp://x'",
        "base_url = 'https://'",
        "model = true",
        'key = "a\\u0007"',
    ],
)
def test_a_setting_that_is_not_understood_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    with pytest.raises(Problem) as caught:
        read_settings(tmp_path, {})
    assert caught.value.code == 2


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Problem) as caught:
        read_settings(tmp_path, {})
    assert (caught.value.code, caught.value.key) == (2, "config_not_toml")


def test_dates_and_numbers_may_be_written_as_such(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("today = 2026-11-30\nexchange_rate = 7.1\n", encoding="utf-8")
    assert read_settings(tmp_path, {}) == Settings(today=date(2026, 11, 30), exchange_rate=Decimal("7.1"))


def test_an_empty_value_means_nothing_is_set() -> None:
    assert read_value("today", "  ", "--today") is None


def test_a_home_below_a_file_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(Problem) as caught:
        write_settings(tmp_path / "file" / "home", Settings())
    assert (caught.value.code, caught.value.key) == (6, "home_unusable")


def test_the_home_is_the_one_that_is_named_or_the_platforms() -> None:
    assert home_of({"ERPILOT_HOME": "/somewhere"}) == Path("/somewhere")
    assert "erpilot" in str(home_of({}))
