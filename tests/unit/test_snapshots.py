"""A state that was written down and read again is the state; with the rest of the log it folds to the same."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agent_core
from agent_core import events as ev
from agent_core import snapshots
from agent_core.codec import decode, encode
from agent_core.fold import fold
from agent_core.state import State
from tests.support.generated import logs
from tests.support.logs import CONTENTS, answer, begun, recorded
from tests.unit.test_golden_logs import LOGS, contents, read

PACKAGE = Path(agent_core.__file__).parent


def as_stored(items: list[ev.Recorded]) -> list[ev.Recorded]:
    """The events as a store gives them back."""
    return [msgspec.structs.replace(item, event=decode(encode(item.event))) for item in items]


def through_bytes(state: State) -> State:
    """Written and read again."""
    data = snapshots.encode_state(state)
    assert data is not None
    read_again = snapshots.decode_state(data)
    assert read_again is not None
    return read_again


@settings(max_examples=80, deadline=None)
@given(log=logs(), data=st.data())
def test_folding_on_from_any_snapshot_gives_what_folding_from_the_start_gives(
    log: list[ev.Recorded], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(log)), label="snapshot after")
    stored = as_stored(log)
    whole = fold(stored, CONTENTS)
    live = fold(log[:at], CONTENTS)  # as the driver has it, from objects that were never bytes
    again = through_bytes(live)
    assert again == fold(stored[:at], CONTENTS)
    assert fold(stored[at:], CONTENTS, again, before=stored[:at]) == whole


def test_every_golden_log_folds_on_from_a_snapshot_at_each_of_its_events() -> None:
    assert LOGS
    for path in LOGS:
        log, stored = read(path), contents(path)
        whole = fold(log, stored)
        for at in range(len(log) + 1):
            again = through_bytes(fold(log[:at], stored))
            assert fold(log[at:], stored, again, before=log[:at]) == whole, (path, at)


def test_the_fingerprint_covers_all_code_that_folding_depends_on() -> None:
    needed, found = ["fold.py", "codec.py"], set()
    while needed:
        name = needed.pop()
        if name not in found:
            found.add(name)
            needed += _imports(PACKAGE / name)
    assert set(snapshots.folding_code(PACKAGE)) == found
    assert {"state.py", "events.py", "messages.py", "sizes.py", "context/moves.py", "text.py"} <= found


def _imports(path: Path) -> list[str]:
    """The modules of the package that a module imports at run time, as paths within it."""
    modules = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[node.level - 1]
            base = folder.joinpath(*(node.module or "").split(".")) if node.module else folder
            candidates = [base.with_suffix(".py"), *(base / f"{alias.name}.py" for alias in node.names)]
            modules += [str(one.relative_to(PACKAGE).as_posix()) for one in candidates if one.is_file()]
    return modules


def test_the_fingerprint_changes_with_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = snapshots.folding_code(PACKAGE)
    for name, source in code.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(source)
    ours = snapshots.schema()
    monkeypatch.setattr(snapshots, "_PACKAGE", tmp_path)
    assert snapshots.schema.__wrapped__() == ours
    for name in code:
        with (tmp_path / name).open("ab") as file:
            file.write(b"#")
        changed = snapshots.schema.__wrapped__()
        assert changed not in (None, ours), name
        ours = changed
    (tmp_path / "fold.py").unlink()
    assert snapshots.schema.__wrapped__() is None, "without the source there are no snapshots"


def test_what_is_no_state_is_not_taken_for_one() -> None:
    data = snapshots.encode_state(State(session_id="s", seq=3))
    assert data is not None
    for damaged in (b"", b"{", b'{"seq": 1}', b"\xff", data[:-1], data + b"\x00", data.replace(b"\x03", b"\xc0")):
        assert snapshots.decode_state(damaged) is None


def test_a_state_that_cannot_be_written_is_not_kept() -> None:
    state = fold(logs_of_one(replay={"big": 2**70}), CONTENTS)
    assert snapshots.encode_state(state) is None


def logs_of_one(**changes: Any) -> list[ev.Recorded]:
    """A log with one answer of a model."""
    return recorded([*begun(), answer("ok", **changes)])


def test_snapshots_are_50_to_100_events_apart_and_large_states_are_written_less_often() -> None:
    assert not snapshots.is_due(49, 0)
    assert snapshots.is_due(50, 0)
    assert not snapshots.is_due(50, 60_000)
    assert snapshots.is_due(80, 60_000)
    assert not snapshots.is_due(99, 10_000_000)
    assert snapshots.is_due(100, 10_000_000)
