"""A rollback past writes that can be taken back, through the command line in this process, with tools of its own."""

from __future__ import annotations

import logging
import re
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.tools.tool import Tier, Tool, Undo, tool
from erpilot.cli.main import main
from erpilot.profiles import PROFILES
from erpilot.shop.backend import ErpBackend
from tests.support.model_server import Piece, model_server

BIG = "".join(f"{number:05}|" for number in range(2000))


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[set[str]]:
    """What the tools change; ``main`` owns its process, so handlers are put back."""
    labels: set[str] = set()

    @tool(tier=Tier.WRITE, inverse=lambda arguments, result: Undo("remove_label", {"label": arguments["label"]}))
    async def add_label(label: str) -> str:
        """Adds a label."""
        labels.add(label)
        return "added"

    @tool(tier=Tier.WRITE)
    async def remove_label(label: str) -> str:
        """Removes a label."""
        labels.discard(label)
        return "removed"

    @tool(max_output=100)
    async def read_catalogue() -> str:
        """Reads everything."""
        return BIG

    def tools(shop: ErpBackend) -> list[Tool]:
        del shop
        return [add_label, remove_label, read_catalogue]

    monkeypatch.setitem(PROFILES, "shop", replace(PROFILES["shop"], tools=tools))
    handler, root = signal.getsignal(signal.SIGTERM), logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield labels
    signal.signal(signal.SIGTERM, handler)
    root.handlers, root.level = handlers, level


def test_each_change_that_is_taken_back_is_asked_like_a_write(
    shelf: set[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    turns: list[list[Piece]] = [
        [("add_label", {"label": "red"}), ("add_label", {"label": "blue"})],
        ["Added."],
        ["Taken back."],
    ]
    with model_server(*turns) as server:
        for name, value in server.settings.items():
            monkeypatch.setenv(name, value)
        assert main(["ask", "Label it", "--approve", "write"]) == 0
        assert shelf == {"red", "blue"}
        capfd.readouterr()
        assert main(["rollback", "last", "--to", "2"]) == 0
        told = capfd.readouterr().err
        assert told.index("remove_label(label=blue)") < told.index("remove_label(label=red)")  # the newest first
        assert "--undo" in told
        assert shelf == {"red", "blue"}
        assert main(["rollback", "last", "--to", "2", "--undo"]) == 3
        calls = re.findall(r"erpilot approve \S+ (\S+)", capfd.readouterr().err)
        assert len(calls) == 2
        assert shelf == {"red", "blue"}
        assert main(["deny", "last", calls[0], "--because", "keep it"]) == 3
        assert main(["approve", "last", calls[1]]) == 0
    assert shelf == {"blue"}
    assert "Taken back." in capfd.readouterr().out


def test_the_whole_of_a_cut_output_is_shown_when_everything_is_wanted(
    shelf: set[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    del shelf
    with model_server([("read_catalogue", {})], ["Read."]) as server:
        for name, value in server.settings.items():
            monkeypatch.setenv(name, value)
        assert main(["ask", "Read it"]) == 0
    capfd.readouterr()
    for options in ([], ["--step", "1"]):
        assert main(["show", "last", *options]) == 0
        assert BIG not in capfd.readouterr().out
        assert main(["show", "last", "--verbose", *options]) == 0
        assert BIG in capfd.readouterr().out
