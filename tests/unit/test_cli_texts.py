from __future__ import annotations

import re
import string
from typing import get_args

import pytest

from agent_core.errors import ModelErrorKind
from agent_core.events import EndReason
from erpilot.cli.help_texts import COMPLAINTS, HELP
from erpilot.cli.language import language
from erpilot.cli.problems import EXIT_OF_REASON
from erpilot.cli.texts import MESSAGES, Texts
from erpilot.cli.texts_commands import COMMANDS
from erpilot.cli.texts_problems import PROBLEMS
from erpilot.cli.texts_runs import RUNS
from erpilot.cli.texts_shop import SHOP


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("key", MESSAGES)
def test_each_message_says_the_same_in_both_languages(key: str) -> None:
    english, chinese = MESSAGES[key]
    assert english
    assert chinese
    assert places(english) >= places(chinese)
    if places(english) - places(chinese):
        pytest.fail(f"the Chinese {key} leaves out {places(english) - places(chinese)}")


@pytest.mark.parametrize("key", [key for key in MESSAGES if key not in ("wants", "trace_failed", "remark_other")])
def test_chinese_messages_are_chinese(key: str) -> None:
    english, chinese = MESSAGES[key]
    words = re.sub(r"\{[^}]*\}", "", english)
    if re.search("[a-z]{3}", words):
        assert re.search("[\u4e00-\u9fff]", chinese), key


@pytest.mark.parametrize("key", HELP)
def test_each_help_text_has_both_languages(key: str) -> None:
    english, chinese = HELP[key]
    assert english.strip()
    assert re.search("[\u4e00-\u9fff]", chinese)


def test_every_failure_of_a_model_and_every_end_of_a_run_has_its_words() -> None:
    assert {f"advice_{kind}" for kind in get_args(ModelErrorKind)} <= MESSAGES.keys()
    assert {f"reason_{reason}" for reason in get_args(EndReason)} <= MESSAGES.keys()
    assert set(get_args(EndReason)) == EXIT_OF_REASON.keys()


def test_the_complaints_are_valid_patterns_with_their_groups() -> None:
    for pattern, chinese in COMPLAINTS:
        used = {int(number) for number in re.findall(r"\\(\d)", chinese)}
        assert used <= set(range(1, re.compile(pattern).groups + 1))


def test_texts_are_filled_in() -> None:
    assert "S1" in Texts("en")("session_hint", session="S1")
    assert "会话 S1" in Texts("zh")("session_hint", session="S1")


@pytest.mark.parametrize(
    ("arguments", "environment", "expected"),
    [
        (["--lang", "zh", "ask"], {"ERPILOT_LANG": "en"}, "zh"),
        (["ask", "--lang=en"], {"LANG": "zh_CN.UTF-8"}, "en"),
        ([], {"ERPILOT_LANG": "zh", "LANG": "en_US.UTF-8"}, "zh"),
        ([], {"LANG": "zh_CN.UTF-8"}, "zh"),
        ([], {"LC_ALL": "en_GB.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ([], {"LC_MESSAGES": "zh_TW", "LANG": "C"}, "zh"),
        ([], {"LANG": "C.UTF-8"}, "en"),
        ([], {"LANG": "de_DE.UTF-8"}, "en"),
        (["ask", "--", "--lang", "zh"], {}, "en"),
        (["--lang"], {}, "en"),
    ],
)
def test_the_language_is_the_first_that_somebody_named(
    arguments: list[str], environment: dict[str, str], expected: str
) -> None:
    assert language(arguments, {"ERPILOT_HOME": "/nonexistent", **environment}) == expected


def test_no_text_is_written_over_by_another_one_of_the_same_name() -> None:
    names = [*COMMANDS, *PROBLEMS, *RUNS, *SHOP]
    assert len(names) == len(set(names))
