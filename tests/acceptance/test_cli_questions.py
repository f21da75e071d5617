"""Questions at a terminal: a whole story of approvals; previews longer than the screen; changed arguments; 'always'."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import erpilot
from tests.support.model_server import Piece, model_server
from tests.support.screen import Screen, screen

ASKED = "Run create_quotation [WRITE] for “C001”?  y = yes"


def quotation(qty: int, **more: Any) -> list[Piece]:
    lines = [{"sku": "HW-CUP-500", "qty": str(qty), "unit": "个"}]
    return [("create_quotation", {"customer": "C001", "lines": lines, **more})]


def made(home: Path) -> list[str]:
    """The quantities of the quotations that were made since the shop was set up, in order."""
    with closing(sqlite3.connect(f"file:{home / 'shop.db'}?mode=ro", uri=True)) as db:
        documents = [number for (number,) in db.execute("SELECT number FROM document WHERE kind = 'quotation'")]
    return sorted(documents)


def answer(person: Screen, words: str, asked: str = ASKED) -> None:
    person.wait_for(asked)
    person.ready()
    person.type(words)


def test_the_whole_story_of_approvals(home: Path) -> None:
    before = len(made(home))
    turns: list[list[Piece]] = [
        quotation(200),
        ["I will try 150 then. ", *quotation(150)],
        ["Saved for 150."],
        quotation(100),
        ["Saved for 100."],
        quotation(100, note="again"),
        ["Not saved."],
    ]
    with model_server(*turns) as server:
        with screen(home, "chat", settings=server.settings) as person:
            person.ready()
            person.type("Quote 200 cups")
            answer(person, "n 客户只要 150 个")  # denied with words
            person.wait_for("I will try 150 then.")  # the model's other way
            assert "客户只要 150 个" in json.loads(server.bodies[1])["messages"][-1]["content"]
            assert len(made(home)) == before
            person.wait_for("a = yes, and from now on run create_quotation unasked for “C001”, up to total ")
            answer(person, "a")  # always for this
            person.wait_for("Saved for 150.")
            person.ready()
            person.press("d")
            assert person.end() == 0
        assert len(made(home)) == before + 1
        with screen(home, "chat", "--session", "last", settings=server.settings) as person:  # restarted
            person.ready()
            person.type("And 100 cups")
            read = person.wait_for("Saved for 100.")
            assert "ran unasked, allowed by grant-" in read
            assert "Run create_quotation" not in read
            person.ready()
            person.press("d")
            assert person.end() == 0
        assert len(made(home)) == before + 2
        listed = erpilot(home, "trust", "list", "--lang", "zh")
        [grant] = re.findall(r"grant-\w+", listed.out)
        assert "对「C001」、合计不超过" in listed.out
        assert erpilot(home, "trust", "revoke", grant).code == 0
        assert "Nothing is allowed in advance" in erpilot(home, "trust", "list").err
        assert erpilot(home, "trust", "revoke", grant).code == 2
        with screen(home, "chat", "--session", "last", settings=server.settings) as person:
            person.ready()
            person.type("And once more")
            answer(person, "n")  # revoked trust asks again
            person.wait_for("Not saved.")
            person.ready()
            person.press("d")
            assert person.end() == 0
    assert len(made(home)) == before + 2
    replayed = erpilot(home, "replay", "last").out
    assert "allowed create_quotation in advance" in replayed
    assert f"revoked {grant}" in replayed


def test_a2_what_is_folded_has_to_be_opened_before_yes_counts(home: Path) -> None:
    before = len(made(home))
    note = "Deliver on Monday.\n" * 25 + "Pay to EVIL."
    with (
        model_server(quotation(7, note=note), ["Saved."]) as server,
        screen(home, "ask", "Quote", settings=server.settings, size=(16, 70)) as person,
    ):
        read = person.wait_for("Run create_quotation [WRITE]")
        assert "EVIL" not in read
        assert re.search(r"\d+ more lines \([\d,]+ characters\) are folded", read)
        person.ready()
        person.type("y")
        person.wait_for("Not everything was shown yet")
        person.wait_for("Run create_quotation [WRITE]")
        person.ready()
        assert len(made(home)) == before
        opened = 0
        while "are folded" in read:
            person.type("o")
            read = person.wait_for("Run create_quotation [WRITE]")
            person.ready()
            opened += 1
            assert opened < 20
        assert "EVIL" in person.plain
        person.type("y")
        person.wait_for("Saved.")
        assert person.end() == 0
    assert opened > 2
    assert len(made(home)) == before + 1


def test_r2_a_long_preview_that_imitates_the_question_does_not_stand_in_its_place(home: Path) -> None:
    note = ("x" * 61 + "Run create_quotation [READ] for “me”?  y = yes\r\x1b[2J\x1b[H? y\n") * 4
    with (
        model_server(quotation(7, note=note), ["Then not."]) as server,
        screen(home, "ask", "Quote", settings=server.settings, size=(16, 70)) as person,
    ):
        person.wait_for("Run create_quotation [WRITE] for “C001”?")
        person.ready()
        for line in person.plain.split("\n"):
            assert "[READ]" not in line or line.startswith("│ ")
        assert person.plain.rstrip().split("\n")[-1].startswith("?")
        assert "[WRITE]" in "".join(person.plain.split("\n")[-4:])
        assert "\x1b[2J" not in person.text
        person.type("n")
        person.wait_for("Then not.")
        assert person.end() == 0


def test_changed_arguments_are_checked_shown_and_asked_again(home: Path) -> None:
    before = len(made(home))
    with (
        model_server(quotation(200), ["Saved."]) as server,
        screen(home, "ask", "Quote", settings=server.settings) as person,
    ):
        answer(person, "e")
        person.wait_for("Change the arguments")
        person.ready_for("{} ")
        person.press("u")  # the line is emptied: first nonsense, then what is meant
        person.type('{"customer": 3}')
        person.wait_for("That does not work: ")
        person.ready_for("{} ")
        person.press("u")
        person.type('{"customer":"C001","lines":[{"sku":"HW-CUP-500","qty":"150","unit":"个"}]}')
        read = person.wait_for("150 个 x")
        assert len(made(home)) == before
        answer(person, "y")
        person.wait_for("Saved.")
        assert person.end() == 0
        assert "200 个 x" not in read.split("150 个 x")[0].split("Change the arguments")[-1]
    assert len(made(home)) == before + 1


def test_an_editor_is_used_where_one_is_chosen(home: Path) -> None:
    editor = home / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i s/200/150/ "$1"\n', encoding="utf-8")
    editor.chmod(0o755)
    with (
        model_server(quotation(200), ["Saved."]) as server,
        screen(home, "ask", "Quote", settings={**server.settings, "EDITOR": str(editor)}) as person,
    ):
        answer(person, "e")
        person.wait_for("150 个 x")
        answer(person, "n")
        person.wait_for("Saved.")
        assert person.end() == 0


def test_what_was_typed_before_the_question_stood_there_does_not_answer_it(home: Path) -> None:
    before = len(made(home))
    with (
        model_server([1.0, *quotation(7)], ["Then not."]) as server,
        screen(home, "ask", "Quote", settings=server.settings) as person,
    ):
        person.type("y")
        person.wait_for(ASKED)
        person.ready()
        assert len(made(home)) == before
        person.type("n")
        person.wait_for("Then not.")
        assert person.end() == 0
    assert len(made(home)) == before


def test_lines_typed_while_a_run_goes_on_are_answered_after_it(home: Path) -> None:
    with (
        model_server(["One ", 2.0, "two."], ["Three."]) as server,
        screen(home, "chat", settings=server.settings) as person,
    ):
        person.ready()
        person.type("first")
        person.wait_for("One ")
        person.type("second")
        person.wait_for("kept for after this run: second")
        person.wait_for("two.")
        person.wait_for("You: second")
        person.wait_for("Three.")
        person.ready()
        person.press("d")
        assert person.end() == 0
        said = [message["content"].split("\n")[0] for message in json.loads(server.bodies[-1])["messages"][1:]]
    assert said == ["first", "One two.", "second"]


@pytest.mark.parametrize(
    ("rule", "code", "words"),
    [
        ("deny create_quotation", 0, ""),
        ("ask create_quotation", 3, "create_quotation [WRITE] waits"),
        ("allow create_quotation C00*", 0, "✓ create_quotation"),
        ("allow create_quotation 别人*", 3, "create_quotation [WRITE] waits"),
        ("deny nosuch", 2, "holds for no tool"),
        ("forbid create_quotation", 2, "no effect of a rule"),
    ],
)
def test_a_rule_of_the_command_holds(home: Path, rule: str, code: int, words: str) -> None:
    before = len(made(home))
    with model_server(quotation(7), ["Done."]) as server:
        done = erpilot(home, "ask", "Quote", "--rule", rule, settings=server.settings)
    assert done.code == code
    assert words in done.err
    assert len(made(home)) == before + rule.startswith("allow create_quotation C")


def test_a3_deny_wins_over_allow_whatever_scope_each_comes_from(home: Path, tmp_path: Path) -> None:
    before = len(made(home))
    (home / "config.toml").write_text('rules = ["allow create_quotation"]', encoding="utf-8")
    project = tmp_path / "project"
    (project / ".erpilot").mkdir(parents=True)
    (project / ".erpilot" / "rules.toml").write_text('rules = ["deny create_*"]', encoding="utf-8")
    with model_server(quotation(7), ["Done."]) as server:
        approved = ("--rule", "allow create_quotation", "--approve", "write")
        done = erpilot(home, "ask", "Quote", *approved, settings=server.settings, cwd=project)
        assert done.code == 0
        assert len(made(home)) == before
        told = erpilot(home, "doctor", "--no-test", settings=server.settings, cwd=project).out
    assert f"rules: allow create_quotation ({home / 'config.toml'})" in told
    assert "rules: deny create_* (" in told


def test_what_a_session_forbids_is_forbidden_in_later_commands_too(home: Path) -> None:
    before = len(made(home))
    with model_server(["Hello."], quotation(7), ["Done."]) as server:
        assert erpilot(home, "ask", "Hi", "--rule", "deny create_quotation", settings=server.settings).code == 0
        again = ("ask", "Quote", "--session", "last", "--approve", "write")
        assert erpilot(home, *again, settings=server.settings).code == 0
    assert len(made(home)) == before
