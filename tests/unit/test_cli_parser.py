from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest

from erpilot.cli.help_texts import HELP
from erpilot.cli.language import Lang
from erpilot.cli.main import COMMANDS
from erpilot.cli.parser import Parser, build_parser
from erpilot.cli.problems import Problem


def commands(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command and every command under one."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, added in action.choices.items():
                yield (*path, name)
                yield from commands(added, (*path, name))


EVERY = sorted(commands(build_parser("en")))


def test_the_parser_knows_exactly_the_commands_that_can_be_run() -> None:
    assert {path[0] for path in EVERY} == COMMANDS.keys()


@pytest.mark.parametrize("path", [(), *EVERY], ids=" ".join)
@pytest.mark.parametrize(
    ("lang", "example", "shown"), [("en", "Example", "show this help"), ("zh", "例子", "显示帮助")]
)
def test_every_command_explains_itself_with_an_example_in_both_languages(
    path: tuple[str, ...], lang: Lang, example: str, shown: str
) -> None:
    said: list[str] = []
    with pytest.raises(SystemExit) as stop:
        build_parser(lang, said.append).parse_args([*path, "--help"])
    assert stop.value.code == 0
    assert example in said[0]
    assert shown in said[0]


def test_no_help_text_is_left_over() -> None:
    used: set[str] = set()

    class Noted(dict[str, tuple[str, str]]):
        def __getitem__(self, key: str) -> tuple[str, str]:
            used.add(key)
            return super().__getitem__(key)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("erpilot.cli.parser.HELP", Noted(HELP))
        build_parser("en")
    assert used == HELP.keys()


def parsed(*arguments: str) -> argparse.Namespace:
    parser: Parser = build_parser("en")
    return parser.parse_args(arguments)  # type: ignore[no-any-return]


def test_arguments_are_read_as_they_are_meant() -> None:
    assert parsed("trust", "list").session == "last"
    assert (parsed("trust", "revoke", "g", "S").grant, parsed("trust", "revoke", "g", "S").session) == ("g", "S")
    assert parsed("resolve", "S", "c", "did-not-happen").outcome == "did-not-happen"
    assert parsed("ask", "x", "--rule", "deny a", "--rule", "ask b").rule == ["deny a", "ask b"]
    assert parsed("ask", "x").rule == []
    assert parsed("fork", "S", "--at", "3").at == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ["fork", "S"],
        ["fork", "S", "--at", "x"],
        ["rollback", "S"],
        ["diff", "A"],
        ["resolve", "S", "c", "maybe"],
        ["resolve", "S", "c"],
        ["trust"],
        ["trust", "give"],
        ["trace", "export", "S", "--format", "xml"],
        ["ask", "x", "--approve", "dangerous"],
        ["ask", "x", "--rule"],
        ["erase"],
    ],
    ids=" ".join,
)
def test_what_is_not_understood_is_refused_as_usage(arguments: list[str]) -> None:
    with pytest.raises(Problem) as problem:
        parsed(*arguments)
    assert problem.value.code == 2
