"""C1 to C4: a run killed with SIGKILL at every fail point, and taken up by another process.

The story: two reads side by side, a write that a person approves, an answer made from the results. It is played once
without a crash to see which places it visits; then once for each visit of each place, killed there and played on.
"""

from __future__ import annotations

import asyncio
import itertools
import signal
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_core import events as ev
from agent_core.messages import Message, ToolCall
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import ErpDouble
from agent_core.testing.failpoints import VARIABLE, VISITS
from tests.support.model_server import model_server
from tests.support.processes import next_turn, run, story
from tests.support.requests import check_conversation, log_of, rebuilt

READS = ("read_stock", "read_price")


class Played:
    """What a home holds after the story, or a part of it, was played there."""

    def __init__(self, home: Path) -> None:
        self.home, self.erp = home, ErpDouble(home / "erp.db")
        self.log, self.requests = asyncio.run(self._read())
        answer = home / "answer"
        self.answer = answer.read_text("utf-8") if answer.exists() else None

    async def _read(self) -> tuple[list[ev.Recorded], list[bytes]]:
        store = SqliteStore(self.home / "log.db")
        try:
            sessions = await store.sessions()
            if not sessions:
                return [], []
            assert len(sessions) == 1
            await store.verify(sessions[0].session_id)
            log = await log_of(store, sessions[0].session_id)
            return log, [body for _, _, body in await rebuilt(store, sessions[0].session_id)]
        finally:
            await store.aclose()

    def types(self) -> list[str]:
        """The types of the events, apart from what a further attempt or a run that goes on adds."""
        kept = []
        for item in self.log:
            match item.event:
                case ev.StepStarted(attempt=n) | ev.ToolCallStarted(attempt=n) if n > 1:
                    continue
            kept.append(type(item.event).__name__)
        return kept

    def finished(self) -> set[str]:
        """Tools whose calls have a result in the log."""
        return {item.event.tool for item in self.log if isinstance(item.event, ev.ToolCallFinished)}

    def asked(self) -> Counter[str]:
        """Requests to the ERP, by tool."""
        return Counter(request.tool for request in self.erp.requests())

    def check(self) -> None:
        """I1 to I3 and what every ending has in common."""
        assert [item.seq for item in self.log] == list(range(1, len(self.log) + 1))
        results = Counter(item.event.call_id for item in self.log if isinstance(item.event, ev.ToolCallFinished))
        assert set(results.values()) == {1}, "every call has exactly one result"
        for body in self.requests:
            check_conversation(conversation(body))
        started = {item.event.idempotency_key for item in self.log if isinstance(item.event, ev.ToolCallStarted)}
        keys = [effect.key for effect in self.erp.effects()]
        assert len(keys) == len(set(keys)), "no key has two effects"
        assert set(keys) <= started, "no effect without its intent in the log"
        answers = [item.event.step for item in self.log if isinstance(item.event, ev.AssistantMessage)]
        assert answers == sorted(set(answers)), "one answer for each step"


def conversation(body: bytes) -> list[Message]:
    """The messages of a request as it was sent."""
    messages = []
    for raw in msgspec.json.decode(body)["messages"]:
        calls = tuple(
            ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in raw.get("tool_calls", ())
        )
        messages.append(Message(raw["role"], raw.get("content"), calls, raw.get("tool_call_id")))
    return messages


def killed_at(home: Path, place: str, *arguments: Any) -> Played:
    """Plays the story until it is killed at ``place`` (``NAME@N``)."""
    assert run(story, home, *arguments, environment={VARIABLE: f"{place}=kill"}) == -signal.SIGKILL, place
    return Played(home)


def played_on(home: Path, *arguments: Any) -> Played:
    """Plays the story on to its end in another process."""
    assert run(story, home, *arguments) == 0
    return Played(home)


def visits(names: Iterable[str]) -> list[str]:
    """``NAME@N`` for each visit."""
    seen: Counter[str] = Counter()
    places = []
    for name in names:
        seen[name] += 1
        places.append(f"{name}@{seen[name]}")
    return places


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Played, list[str]]:
    """The story without a crash, and every place it visits."""
    home = tmp_path_factory.mktemp("whole")
    assert run(story, home, environment={VISITS: str(home / "visits")}) == 0
    return Played(home), visits((home / "visits").read_text("utf-8").splitlines())


def test_the_story_without_a_crash_has_its_effect_once(whole: tuple[Played, list[str]]) -> None:
    played, places = whole
    played.check()
    assert len(played.erp.effects()) == 1
    assert played.asked() == {"read_stock": 1, "read_price": 1, "create_order": 1}
    assert played.answer is not None
    assert '"order":1' in played.answer
    assert len(played.requests) == 3
    expected = {"before_append", "after_append", "before_effect", "after_effect", "erp_applied", "stream"}
    assert {place.partition(":")[0] for place in places} == expected
    boundaries = [place for place in places if place.startswith("after_append")]
    assert len(boundaries) >= 8


def test_c1_killed_at_any_fail_point_the_run_ends_as_it_would_have(
    whole: tuple[Played, list[str]], tmp_path: Path
) -> None:
    expected, places = whole
    for number, place in enumerate(places):
        home = tmp_path / str(number)
        home.mkdir()
        before = killed_at(home, place)
        asked = before.asked()
        done = before.finished()
        after = played_on(home)
        after.check()
        assert after.answer == expected.answer, place
        assert after.types() == expected.types(), place
        assert len(after.erp.effects()) == 1, place
        again = after.asked()
        assert all(again[tool] == asked[tool] for tool in done), f"a finished call ran again after {place}"
        assert max(again.values()) <= 2, place
        seen = [(item.seq, item.hash) for item in before.log]
        assert [(item.seq, item.hash) for item in after.log[: len(seen)]] == seen, "I4: what was stored stays"


def test_c2_killed_behind_the_effect_the_backend_is_asked_again_with_the_same_key(tmp_path: Path) -> None:
    before = killed_at(tmp_path, "erp_applied:create_order@1")
    assert len(before.erp.effects()) == 1
    assert "create_order" not in before.finished()
    after = played_on(tmp_path)
    after.check()
    orders = after.erp.requests("create_order")
    assert [request.attempt for request in orders] == [1, 2]
    assert len({request.key for request in orders}) == 1
    finished = [item.event for item in after.log if isinstance(item.event, ev.ToolCallFinished)]
    (done,) = [event for event in finished if event.tool == "create_order"]
    assert (done.ok, done.content, done.attempts) == (True, '{"order":1}', 2), "the original result"
    assert len(after.erp.effects()) == 1


@pytest.mark.parametrize(
    ("place", "effects_before"),
    [("before_effect:create_order@1", 0), ("erp_applied:create_order@1", 1), ("after_effect:create_order@1", 1)],
)
def test_c3_where_the_backend_knows_no_keys_a_person_decides_before_anything_is_sent_again(
    tmp_path: Path, place: str, effects_before: int
) -> None:
    before = killed_at(tmp_path, place, False)
    assert len(before.erp.effects()) == effects_before
    after = played_on(tmp_path, False)
    assert len(after.erp.effects()) == 1
    uncertain = [
        item.event
        for item in after.log
        if isinstance(item.event, ev.ToolCallFinished) and item.event.error and item.event.error.type == "uncertain"
    ]
    assert len(uncertain) == 1
    (resolved,) = [item.event for item in after.log if isinstance(item.event, ev.OutcomeResolved)]
    assert (resolved.outcome, resolved.by) == ("happened" if effects_before else "send_again", "boss")
    waited = [item.event.reason for item in after.log if isinstance(item.event, ev.LoopEnd)]
    assert waited == ["awaiting_approval", "awaiting_approval", "completed"]
    assert len(after.erp.requests("create_order")) == 1, "what happened is not sent again, what did not is sent once"
    for body in after.requests:
        check_conversation(conversation(body))


@pytest.mark.parametrize("delta", [1, 3])
def test_c4_killed_while_the_model_streams_over_http_no_partial_text_remains(tmp_path: Path, delta: int) -> None:
    """Over real HTTP: the third delta of the first answer never becomes part of anything."""
    reads: list[Any] = next_turn([Message("user", "x")])
    first = ["Let ", "me ", "look ", 0.05, *reads[1:]]
    order = [("create_order", {"sku": "a", "quantity": 2})]
    with model_server(first, first, order, ["Ordered, as order 1."]) as server:
        before = killed_at(tmp_path, f"stream:TextDelta@{delta}", True, server.base_url)
        assert [type(item.event).__name__ for item in before.log][-1] == "StepStarted"
        assert len(server.bodies) == 1
        after = played_on(tmp_path, True, server.base_url)
        sent = list(server.bodies)
    after.check()
    assert after.answer == "Ordered, as order 1."
    answers = [item.event for item in after.log if isinstance(item.event, ev.AssistantMessage)]
    assert (answers[0].step, answers[0].content) == (1, "Let me look ")
    attempts = [(e.event.step, e.event.attempt) for e in after.log if isinstance(e.event, ev.StepStarted)]
    assert attempts == [(1, 1), (1, 2), (2, 1), (3, 1)], "the interrupted attempt is in the log as such"
    assert sent == after.requests, "the log holds the exact bytes of every request"
    assert sent[0] == sent[1]
    for earlier, later in itertools.pairwise(sent[1:]):
        head, _, _ = earlier.partition(b'],"tools":')
        assert later.startswith(head)
    assert len(after.erp.effects()) == 1


def test_killed_between_two_parallel_tools_the_finished_one_does_not_run_again(tmp_path: Path) -> None:
    before = killed_at(tmp_path, "after_append:ToolCallFinished@1")
    (done,) = before.finished()
    assert done in READS
    after = played_on(tmp_path)
    after.check()
    assert after.asked()[done] == 1
    order = [item.event.index for item in after.log if isinstance(item.event, ev.ToolCallStarted)]
    assert order[:2] == [0, 1]


def test_killed_again_and_again_the_story_still_ends_once(tmp_path: Path, whole: tuple[Played, list[str]]) -> None:
    """A process that gets one append further each time."""
    places = [place for place in whole[1] if place.startswith("after_append")]
    kinds = list(dict.fromkeys(place.partition("@")[0] for place in places))
    crashes = 0
    for kind in kinds:
        code = run(story, tmp_path, environment={VARIABLE: f"{kind}@1=kill"})
        assert code in (0, -signal.SIGKILL)
        crashes += code != 0
        if code == 0:
            break
    assert crashes >= 4
    after = played_on(tmp_path)
    after.check()
    assert after.answer == whole[0].answer
    assert len(after.erp.effects()) == 1
